/** Seeded random streams. Each purpose derives its own stream, so nothing shares a generator. */

import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/** One random stream. Mutable; owned by whoever derived it. */
export interface Rng {
  /** Uniform in [0, 1) with 53 bits. */
  next(): number;
  /** Uniform integer in [0, n); n must be a positive integer. */
  int(n: number): number;
  /** A uniformly chosen element; throws RangeError on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * The stream for a purpose: equal arguments give equal streams on every engine and platform.
 * `seed` is an integer in [0, 2^53 - 1]; throws RangeError otherwise.
 */
export function deriveRng(seed: number, ...purpose: readonly (string | number)[]): Rng {
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`A seed is an integer from 0 to 2^53 - 1; found ${seed}.`);
  }
  const text = [seed, ...purpose].join('\u001f');
  const low = hash32(text, 0x811c9dc5);
  const high = hash32(text, 0x01000193);
  const mixed = xoroshiro128plus(low);
  const state = [...mixed.getState()];
  state[1] = ((state[1] ?? 0) ^ high) | 0;
  state[3] = ((state[3] ?? 0) ^ Math.imul(high, 0x9e3779b1)) | 0;
  const generator = xoroshiro128plusFromState(state);
  const word = () => generator.next() >>> 0;
  const next = () => (word() * 2 ** 21 + (word() >>> 11)) / 2 ** 53;
  const int = (n: number) => {
    if (!Number.isSafeInteger(n) || n <= 0) throw new RangeError(`int(n) wants n > 0; found ${n}.`);
    return Math.floor(next() * n);
  };
  return {
    next,
    int,
    pick<T>(items: readonly T[]): T {
      const item = items[int(items.length)];
      if (item === undefined) throw new RangeError('pick() on an empty list.');
      return item;
    },
    shuffle<T>(items: readonly T[]): T[] {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(i + 1);
        const a = copy[i] as T; // both indices are in range: 0 <= j <= i < length
        copy[i] = copy[j] as T;
        copy[j] = a;
      }
      return copy;
    },
  };
}

/** FNV-1a over UTF-16 code units with a final avalanche (murmur3's), 32 bits, unsigned. */
export function hash32(text: string, basis = 0x811c9dc5): number {
  let h = basis;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
