/**
 * The gated activation of llama's MLP, silu(gate) · up, and its gradient: silu(z) = z σ(z),
 * silu'(z) = σ(z) (1 + z (1 - σ(z))). Example: gate 1, up 2 gives 2 · 0.7311 = 1.4621.
 */

import * as tf from '@tensorflow/tfjs-core';
import { gatedBy } from './gated.ts';

export const {
  forward: swiglu,
  backward: swigluBackward,
  reference: swigluReference,
} = gatedBy({
  name: 'swiglu',
  at: (z) => {
    const sigmoid = 1 / (1 + Math.exp(-z));
    return { value: z * sigmoid, slope: sigmoid * (1 + z * (1 - sigmoid)) };
  },
  wgsl: {
    value: 'let sigmoid = 1.0 / (1.0 + exp(-z)); let value = z * sigmoid;',
    slope: 'let slope = sigmoid * (1.0 + z * (1.0 - sigmoid));',
  },
  reference: (z) => tf.mul(z, tf.sigmoid(z)),
  backward: 'swigluBackward',
});
