/** The ops of the policy model, one file each; the project's only barrel. */

export {
  type AttentionHeads,
  type AttentionSpan,
  attention,
  attentionBackward,
} from './attention.ts';
export { crossEntropy, crossEntropyBackward } from './cross-entropy.ts';
export { gatherRows } from './gather-rows.ts';
export { geglu, gegluBackward } from './geglu.ts';
export { klRows } from './kl-rows.ts';
export { kvAppend } from './kv-append.ts';
export { linear, linearBackward } from './linear.ts';
export { rmsNorm, rmsNormBackward } from './rms-norm.ts';
export { makeRopeTable, type RopeStyle, type RopeTable, rope } from './rope.ts';
export { type RopeScaling, yarnMagnitude } from './rope-frequencies.ts';
export { swiglu, swigluBackward } from './swiglu.ts';
