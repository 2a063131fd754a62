/** The numbers that a transcript's steps and boundaries can be filtered by. */

import type { RunView, TranscriptItem } from './run-view.ts';
import { itemNumbers as say } from './strings.ts';

export const itemNumbers = ['seconds', 'tokens', 'repetition', 'kl', 'reward'] as const;
export type ItemNumber = (typeof itemNumbers)[number];

/** Keeps what has this number on this side of a value; a value that is not typed yet keeps all. */
export interface NumberFilter {
  readonly number: ItemNumber;
  readonly side: 'least' | 'most';
  readonly value: number | null;
}

export const itemNumberNames: Readonly<Record<ItemNumber, string>> = {
  seconds: say.seconds,
  tokens: say.tokens,
  repetition: say.repetition,
  kl: say.kl,
  reward: say.reward,
};

/** The number of each item that has it, by the item's sequence number. A step has the KL of its boundary. */
export function numbersOf(run: RunView, number: ItemNumber): ReadonlyMap<number, number> {
  const kls = new Map(run.boundaries.map(({ t, kl }) => [t, kl]));
  const found = new Map<number, number>();
  for (const item of run.items) {
    const value = number === 'kl' ? kls.get(item.t) : numberOf(item, number);
    if (value !== null && value !== undefined) found.set(item.seq, value);
  }
  return found;
}

function numberOf(item: TranscriptItem, number: Exclude<ItemNumber, 'kl'>): number | null {
  if (number === 'seconds') return item.clock?.seconds ?? null;
  switch (item.type) {
    case 'step':
      if (number === 'tokens') return item.generation.ids.length;
      return number === 'repetition' ? item.repetition : item.reward;
    case 'boundary':
      if (number === 'tokens') return item.tokens?.ids.length ?? null;
      return number === 'repetition' ? item.ratio : null;
    case 'rolled_back':
      return null;
    default:
      return item satisfies never;
  }
}

/** Whether the filter keeps each item of the run. */
export function numberTest(
  run: RunView,
  filter: NumberFilter | null,
): (item: TranscriptItem) => boolean {
  if (filter === null || filter.value === null) return () => true;
  const { side, value: limit } = filter;
  const numbers = numbersOf(run, filter.number);
  return ({ seq }) => {
    const value = numbers.get(seq);
    return value !== undefined && (side === 'least' ? value >= limit : value <= limit);
  };
}
