/** Which parts of a transcript a search finds and a filter keeps. Searching marks, filtering hides. */

import type { RunNotes } from '../records.ts';
import { type NumberFilter, numberTest } from './item-numbers.ts';
import { isRollback, type RunView, type TranscriptItem } from './run-view.ts';
import { find as say } from './strings.ts';

/** What the transcript shows. */
export type StepFilter =
  | 'all'
  | 'effective'
  | 'without_effect'
  | 'failures'
  | 'repeating'
  | 'rewarded'
  | 'noted'
  | 'boundaries'
  | 'updates'
  | 'skips'
  | 'rollbacks';

/** A step that repeats an earlier one this closely counts as repeating. */
const repeatingFrom = 0.5;

export const stepFilters: readonly { readonly filter: StepFilter; readonly label: string }[] = [
  { filter: 'all', label: say.everything },
  { filter: 'effective', label: say.effective },
  { filter: 'without_effect', label: say.withoutEffect },
  { filter: 'failures', label: say.failedActions },
  { filter: 'repeating', label: say.repetition(repeatingFrom) },
  { filter: 'rewarded', label: say.rewarded },
  { filter: 'noted', label: say.noted },
  { filter: 'boundaries', label: say.boundaries },
  { filter: 'updates', label: say.updates },
  { filter: 'skips', label: say.withoutUpdate },
  { filter: 'rollbacks', label: say.rollbacks },
];

/** True where the filter keeps an item in the transcript. `notes` are those on steps. */
export function passes(
  item: TranscriptItem,
  filter: StepFilter,
  notes: RunNotes['steps'],
): boolean {
  const step = item.type === 'step' ? item : null;
  const boundary = item.type === 'boundary' ? item : null;
  switch (filter) {
    case 'all':
      return true;
    case 'effective':
    case 'without_effect':
      return step?.actionClass === filter;
    case 'failures':
      return step !== null && !['effective', 'without_effect'].includes(step.actionClass);
    case 'repeating':
      return step !== null && step.repetition >= repeatingFrom;
    case 'rewarded':
      return step !== null && step.reward !== 0;
    case 'noted':
      return step !== null && step.t in notes;
    case 'boundaries':
      return step === null;
    case 'updates':
      return boundary?.outcome === 'updated';
    case 'skips':
      return boundary !== null && boundary.outcome !== 'updated' && !isRollback(boundary);
    case 'rollbacks':
      return isRollback(item);
    default:
      return filter satisfies never;
  }
}

/** The texts of an item that a person reads, and so may search. */
function textsOf(item: TranscriptItem): readonly string[] {
  switch (item.type) {
    case 'step':
      return item.thought === '' && item.action === ''
        ? [item.generation.text, item.observation]
        : [item.thought, item.action, item.observation];
    case 'boundary':
      return [item.why];
    case 'rolled_back':
      return [];
    default:
      return item satisfies never;
  }
}

/** True where any text of the item holds `find`, whatever the case of letters. */
export function matches(item: TranscriptItem, find: string): boolean {
  const wanted = find.trim().toLowerCase();
  return wanted !== '' && textsOf(item).some((text) => text.toLowerCase().includes(wanted));
}

/** The items that both filters keep, in order. */
export function shownItems(
  run: RunView,
  filter: StepFilter,
  byNumber: NumberFilter | null,
  notes: RunNotes['steps'],
): readonly TranscriptItem[] {
  const passesNumber = numberTest(run, byNumber);
  return run.items.filter((item) => passes(item, filter, notes) && passesNumber(item));
}

export interface TextPart {
  readonly text: string;
  readonly found: boolean;
}

/** A text cut where `find` occurs in it, whatever the case of letters. */
export function splitAt(text: string, find: string): readonly TextPart[] {
  const wanted = find.trim().toLowerCase();
  const lower = text.toLowerCase();
  // Some letters change their length in lower case: then the places would not fit the text.
  if (wanted === '' || lower.length !== text.length) return [{ text, found: false }];
  const parts: TextPart[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: text.slice(from, at), found: false });
    from = at + wanted.length;
    parts.push({ text: text.slice(at, from), found: true });
  }
  if (from < text.length) parts.push({ text: text.slice(from), found: false });
  return parts;
}
