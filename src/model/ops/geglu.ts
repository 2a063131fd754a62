/**
 * The gated activation of Gemma's MLP, gelu(gate) · up, and its gradient, with GELU in its tanh form
 * (Hendrycks and Gimpel 2016): gelu(z) = z/2 (1 + t), t = tanh(√(2/π) (z + 0.044715 z³)), and
 * gelu'(z) = (1 + t)/2 + z/2 (1 - t²) √(2/π) (1 + 3 · 0.044715 z²).
 * Example: gate 1, up 2 gives 2 · 0.8412 = 1.6824.
 */

import * as tf from '@tensorflow/tfjs-core';
import { gatedBy } from './gated.ts';

const ROOT = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

export const {
  forward: geglu,
  backward: gegluBackward,
  reference: gegluReference,
} = gatedBy({
  name: 'geglu',
  at: (z) => {
    const t = Math.tanh(ROOT * (z + CUBIC * z * z * z));
    const inner = ROOT * (1 + 3 * CUBIC * z * z);
    return { value: 0.5 * z * (1 + t), slope: 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * inner };
  },
  wgsl: {
    // WGSL's tanh may overflow to NaN where exp does; beyond ±10 it is ±1 in float32 anyway.
    value: `let t = tanh(clamp(${ROOT} * (z + ${CUBIC} * z * z * z), -10.0, 10.0));
    let value = 0.5 * z * (1.0 + t);`,
    slope: `let inner = ${ROOT} * (1.0 + ${3 * CUBIC} * z * z);
    let slope = 0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * inner;`,
  },
  reference: (z) => {
    const t = tf.tanh(tf.mul(tf.add(z, tf.mul(tf.mul(z, tf.square(z)), CUBIC)), ROOT));
    return tf.mul(tf.mul(z, 0.5), tf.add(t, 1));
  },
});
