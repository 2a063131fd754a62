/**
 * Threads that do parts of one call: each runs an instance of this module over the same memory. A block
 * of that memory says what is to be done; helpers look at it for a while and then sleep.
 */

import { quantizeRows } from './activations.as';
import { attention } from './attention.as';
import { attentionKeys, attentionQueries } from './attention-backward.as';
import { bytesTimes1, bytesTimes4 } from './bytes.as';
import { geglu, rmsNorm, rmsNormBackward, swiglu, swigluBackward } from './elementwise.as';
import { floatsTimes1, floatsTimes4 } from './floats.as';
import { loraAdd } from './lora.as';
import { nibblesTimes1, nibblesTimes4 } from './nibbles.as';
import { expSums } from './softmax.as';
import { transposedFloats } from './transposed.as';
import { transposedBlocks } from './transposed-blocks.as';

/** Words of the block, as team.ts names them, each in a cache line of its own. */
const ROUND: usize = 0;
const PENDING: usize = 64;
const SLEEPERS: usize = 128;
const PARTS: usize = 192;
/** Bytes of a part: which kernel, and its arguments, all float64. */
const PART: usize = 192;

/** Looks at a word before a helper sleeps, about 50 µs; the caller's are as many. */
const LOOKS = 40000;

/** A helper's life: does part `index` of each round, from the first on. Ends only with its thread. */
export function help(team: usize, index: i32): void {
  let seen = 0;
  for (;;) {
    let looks = 0;
    while (atomic.load<i32>(team + ROUND) == seen) {
      if (++looks < LOOKS) continue;
      looks = 0;
      atomic.add<i32>(team + SLEEPERS, 1);
      atomic.wait<i32>(team + ROUND, seen, -1);
      atomic.sub<i32>(team + SLEEPERS, 1);
    }
    seen = atomic.load<i32>(team + ROUND);
    perform(team + PARTS + PART * index);
    if (atomic.sub<i32>(team + PENDING, 1) == 1) atomic.notify(team + PENDING, 1);
  }
}

/** Begins a round: `helpers` parts lie there. */
export function begin(team: usize, helpers: i32): void {
  atomic.store<i32>(team + PENDING, helpers);
  atomic.add<i32>(team + ROUND, 1);
  if (atomic.load<i32>(team + SLEEPERS) > 0) atomic.notify(team + ROUND, helpers);
}

/** Returns when all helpers are done; `sleeps` where this thread may. */
export function finish(team: usize, sleeps: bool): void {
  let looks = 0;
  for (;;) {
    const left = atomic.load<i32>(team + PENDING);
    if (left <= 0) return;
    if (++looks < LOOKS || !sleeps) continue;
    looks = 0;
    atomic.wait<i32>(team + PENDING, left, -1);
  }
}

/** Argument n of a part, as an address or a whole number. */
// @ts-ignore: decorator
@inline
function u(part: usize, n: usize): u32 {
  return <u32>load<f64>(part + (n << 3));
}

// @ts-ignore: decorator
@inline
function f(part: usize, n: usize): f64 {
  return load<f64>(part + (n << 3));
}

/** The numbers of the kernels are their places in team.ts's list. */
function perform(p: usize): void {
  switch (u(p, 0)) {
    case 0:
      nibblesTimes1(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
      );
      return;
    case 1:
      nibblesTimes4(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11),
        u(p, 12),
      );
      return;
    case 2:
      bytesTimes1(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10) != 0,
        u(p, 11),
        u(p, 12),
      );
      return;
    case 3:
      bytesTimes4(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11) != 0,
        u(p, 12),
        u(p, 13),
      );
      return;
    case 4:
      floatsTimes1(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9));
      return;
    case 5:
      floatsTimes4(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
      );
      return;
    case 6:
      transposedBlocks(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9) != 0,
        u(p, 10) != 0,
        u(p, 11),
        u(p, 12),
        u(p, 13),
      );
      return;
    case 7:
      transposedFloats(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11),
      );
      return;
    case 8:
      attention(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11),
        <f32>f(p, 12),
        u(p, 13),
        u(p, 14),
      );
      return;
    case 9:
      attentionQueries(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11),
        u(p, 12),
        <f32>f(p, 13),
        u(p, 14),
        u(p, 15),
        u(p, 16),
        u(p, 17),
      );
      return;
    case 10:
      attentionKeys(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
        u(p, 11),
        u(p, 12),
        u(p, 13),
        u(p, 14),
        u(p, 15),
      );
      return;
    case 11:
      rmsNorm(u(p, 1), u(p, 2), u(p, 3), u(p, 4), f(p, 5), u(p, 6), u(p, 7));
      return;
    case 12:
      rmsNormBackward(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), f(p, 6), u(p, 7), u(p, 8));
      return;
    case 13:
      swiglu(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
      return;
    case 14:
      geglu(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
      return;
    case 15:
      swigluBackward(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7));
      return;
    case 16:
      expSums(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
      return;
    case 17:
      loraAdd(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        <f32>f(p, 9),
        u(p, 10),
        u(p, 11),
      );
      return;
    case 18:
      quantizeRows(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        u(p, 7),
        u(p, 8),
        u(p, 9),
        u(p, 10),
      );
      return;
  }
}
