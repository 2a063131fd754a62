/** What the line of steps draws where it is too narrow for each step and each mark. Pure. */

import type { StepTaken } from '../records.ts';
import {
  actionWording,
  isRollback,
  outcomeWording,
  type Tone,
  type TranscriptItem,
} from './run-view.ts';

/** Steps in a row, drawn as one. */
export interface Bar {
  /** The first of them, and how many there are. */
  readonly t: number;
  readonly steps: number;
  /** The mean of their repetition, 0 to 1. */
  readonly repetition: number;
  /** The most frequent one. */
  readonly tone: Tone;
}

/** The steps as at most `most` bars, each of equally many steps; the last may have fewer. */
export function barsOf(steps: readonly StepTaken[], most: number): readonly Bar[] {
  const each = Math.max(1, Math.ceil(steps.length / Math.max(1, most)));
  return Array.from({ length: Math.ceil(steps.length / each) }, (_, index) => {
    const group = steps.slice(index * each, (index + 1) * each);
    return {
      t: group[0]?.t ?? 0,
      steps: group.length,
      repetition: group.reduce((sum, { repetition }) => sum + repetition, 0) / group.length,
      tone: mostFrequent(group.map(({ actionClass }) => actionWording(actionClass).tone)),
    };
  });
}

/** What happened after a step. */
export interface StepMark {
  readonly t: number;
  readonly tone: Tone;
}

/** From what must not be missed to what hides behind everything else. */
const urgency: readonly Tone[] = ['bad', 'good', 'warn', 'note', 'quiet'];

/**
 * Boundaries that decided something and rollbacks, in their order. Where `places` beside each other would
 * not hold them, each place of the line from 0 to `end` keeps its most urgent one, and quiet ones give way.
 */
export function marksOf(
  items: readonly TranscriptItem[],
  end: number,
  places: number,
): readonly StepMark[] {
  const marks = items.flatMap(markOf);
  if (marks.length <= places) return marks;
  const kept = new Map<number, StepMark>();
  for (const mark of marks.filter(({ tone }) => tone !== 'quiet')) {
    const place = Math.floor(((mark.t - 0.5) / end) * places);
    const there = kept.get(place);
    if (!there || urgency.indexOf(mark.tone) < urgency.indexOf(there.tone)) kept.set(place, mark);
  }
  return [...kept.values()];
}

function markOf(item: TranscriptItem): readonly StepMark[] {
  if (item.type === 'step') return [];
  if (isRollback(item)) return [{ t: item.t, tone: 'bad' }];
  if (item.type === 'rolled_back') return [{ t: item.t, tone: 'quiet' }];
  if (item.outcome === 'too_early' || item.outcome === 'disabled') return [];
  return [{ t: item.t, tone: outcomeWording(item.outcome, item.restored).tone }];
}

function mostFrequent(tones: readonly Tone[]): Tone {
  const count = (tone: Tone) => tones.filter((one) => one === tone).length;
  return urgency.toSorted((a, b) => count(b) - count(a))[0] ?? 'quiet';
}
