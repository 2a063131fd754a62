/** The functions of the one module: all pointers are byte addresses in tfjs's own memory. */

export { interleaveRows, quantizeRows } from './activations.as';
export { attention } from './attention.as';
export { attentionKeys, attentionQueries } from './attention-backward.as';
export { bytesColumns, bytesTimes1, bytesTimes4 } from './bytes.as';
export { addRows, geglu, rmsNorm, rmsNormBackward, swiglu, swigluBackward } from './elementwise.as';
export { floatsColumns, floatsTimes1, floatsTimes4 } from './floats.as';
export { keepRows } from './kv-tiles.as';
export { loraAdd } from './lora.as';
export { loraColumns, loraTokens } from './lora-backward.as';
export { nibblesColumns, nibblesTimes1, nibblesTimes4 } from './nibbles.as';
export { rope } from './rope.as';
export { expSums, scaledExp } from './softmax.as';
export { perform } from './team.as';
export { transposedFloats } from './transposed.as';
export { transposedBlocks } from './transposed-blocks.as';
