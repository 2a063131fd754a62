/**
 * Made by scripts/build-simd.mjs from *.as.ts; do not edit.
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

/** Runs the part at `p`: a kernel's number, its place in exports.ts's list, and its arguments, all float64. */
export function perform(p: usize): void {
  switch (u(p, 0)) {
    case 0:
      return quantizeRows(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10));
    case 1:
      return attention(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), <f32>f(p, 11), u(p, 12) != 0, u(p, 13), u(p, 14));
    case 2:
      return attentionKeys(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11), u(p, 12), u(p, 13), u(p, 14), u(p, 15));
    case 3:
      return attentionQueries(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11), u(p, 12), u(p, 13), <f32>f(p, 14), u(p, 15), u(p, 16), u(p, 17), u(p, 18));
    case 4:
      return bytesTimes1(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10) != 0, u(p, 11), u(p, 12));
    case 5:
      return bytesTimes4(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11) != 0, u(p, 12), u(p, 13));
    case 6:
      return geglu(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
    case 7:
      return rmsNorm(u(p, 1), u(p, 2), u(p, 3), u(p, 4), f(p, 5), u(p, 6), u(p, 7));
    case 8:
      return rmsNormBackward(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), f(p, 6), u(p, 7), u(p, 8));
    case 9:
      return swiglu(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
    case 10:
      return swigluBackward(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7));
    case 11:
      return floatsTimes1(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9));
    case 12:
      return floatsTimes4(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10));
    case 13:
      return loraAdd(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), <f32>f(p, 9), u(p, 10), u(p, 11));
    case 14:
      return loraColumns(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), <f32>f(p, 7), u(p, 8) != 0, u(p, 9), u(p, 10));
    case 15:
      return loraTokens(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11), <f32>f(p, 12), u(p, 13), u(p, 14));
    case 16:
      return nibblesTimes1(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10));
    case 17:
      return nibblesTimes4(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11), u(p, 12));
    case 18:
      return expSums(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5));
    case 19:
      return transposedFloats(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9), u(p, 10), u(p, 11));
    case 20:
      return transposedBlocks(u(p, 1), u(p, 2), u(p, 3), u(p, 4), u(p, 5), u(p, 6), u(p, 7), u(p, 8), u(p, 9) != 0, u(p, 10) != 0, u(p, 11), u(p, 12), u(p, 13));
  }
}
