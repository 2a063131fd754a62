/**
 * What a thread that helps does with a part of a call: it reads which kernel and its arguments from
 * memory. How threads meet is in team.ts and helper.ts.
 */

import { quantizeRows } from './activations.as';
import { attention } from './attention.as';
import { attentionKeys, attentionQueries } from './attention-backward.as';
import { bytesTimes1, bytesTimes4 } from './bytes.as';
import { geglu, rmsNorm, rmsNormBackward, swiglu, swigluBackward } from './elementwise.as';
import { floatsTimes1, floatsTimes4 } from './floats.as';
import { loraAdd } from './lora.as';
import { loraColumns, loraTokens } from './lora-backward.as';
import { nibblesTimes1, nibblesTimes4 } from './nibbles.as';
import { expSums } from './softmax.as';
import { transposedFloats } from './transposed.as';
import { transposedBlocks } from './transposed-blocks.as';

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

/** Runs the part at `p`: a kernel's number, its place in team.ts's list, and its arguments, all float64. */
export function perform(p: usize): void {
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
    case 19:
      loraTokens(
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
    case 20:
      loraColumns(
        u(p, 1),
        u(p, 2),
        u(p, 3),
        u(p, 4),
        u(p, 5),
        u(p, 6),
        <f32>f(p, 7),
        u(p, 8) != 0,
        u(p, 9),
        u(p, 10),
      );
      return;
  }
}
