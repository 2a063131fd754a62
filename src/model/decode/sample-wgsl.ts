/**
 * WGSL that samples a token where its logits lie: the vocabulary in blocks first, then one invocation over
 * the blocks, so that three numbers are read back instead of a row. sampler.ts is the reference. Knows no
 * buffers.
 */

import { type Shader, TOKEN } from './wgsl.ts';

/** Tokens of one block. */
const BLOCK = 256;

/** Values that a block leaves: its largest logit, where it is, Σ e^(l-max) with and without temperature, Σ e · (l-max). */
const LEFT = 5;

const GROUP = 64;

export function blocksLength(vocabulary: number): number {
  return LEFT * Math.ceil(vocabulary / BLOCK);
}

/** One invocation a block. Buffers: token, logits, blocks. */
export function blocksShader(vocabulary: number): Shader {
  const blocks = Math.ceil(vocabulary / BLOCK);
  return {
    code: `${TOKEN}
@group(0) @binding(1) var<storage, read> logits : array<f32>;
@group(0) @binding(2) var<storage, read_write> blocks : array<f32>;
@compute @workgroup_size(${GROUP})
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x >= ${blocks}u) { return; }
  let begin = id.x * ${BLOCK}u;
  let end = min(begin + ${BLOCK}u, ${vocabulary}u);
  var top = logits[begin];
  var best = begin;
  for (var i = begin + 1u; i < end; i++) {
    let logit = logits[i];
    if (logit > top) { top = logit; best = i; }
  }
  var plain = 0.0;
  var tempered = 0.0;
  var below = 0.0;
  let inverse = 1.0 / token.temperature;
  for (var i = begin; i < end; i++) {
    let distance = logits[i] - top;
    let e = exp(distance);
    plain += e;
    below += e * distance;
    tempered += exp(distance * inverse);
  }
  let at = id.x * ${LEFT}u;
  blocks[at] = top;
  blocks[at + 1u] = f32(best);
  blocks[at + 2u] = plain;
  blocks[at + 3u] = tempered;
  blocks[at + 4u] = below;
}`,
    access: ['read', 'read_write'],
    workgroups: Math.ceil(blocks / GROUP),
  };
}

/**
 * The id at quantile u of the tempered distribution, or the likeliest where the temperature is 0; its
 * log-probability and the entropy, both untempered. Buffers: token, logits, blocks, sampled (three values).
 */
export function pickShader(vocabulary: number): Shader {
  const blocks = Math.ceil(vocabulary / BLOCK);
  const each = `for (var b = 0u; b < ${blocks}u; b++)`;
  return {
    code: `${TOKEN}
@group(0) @binding(1) var<storage, read> logits : array<f32>;
@group(0) @binding(2) var<storage, read> blocks : array<f32>;
@group(0) @binding(3) var<storage, read_write> sampled : array<f32>;
@compute @workgroup_size(1)
fn main() {
  var top = blocks[0];
  var best = blocks[1];
  ${each} {
    let most = blocks[b * ${LEFT}u];
    if (most > top) { top = most; best = blocks[b * ${LEFT}u + 1u]; }
  }
  let inverse = select(1.0 / token.temperature, 0.0, token.temperature == 0.0);
  var plain = 0.0;
  var below = 0.0;
  var tempered = 0.0;
  ${each} {
    let at = b * ${LEFT}u;
    let distance = blocks[at] - top;
    let share = exp(distance);
    plain += share * blocks[at + 2u];
    below += share * (blocks[at + 4u] + distance * blocks[at + 2u]);
    tempered += exp(distance * inverse) * blocks[at + 3u];
  }
  var chosen = u32(best);
  if (token.temperature > 0.0) {
    // The block in which the quantile lies, then the token; where rounding leaves none, the likeliest.
    var left = token.quantile * tempered;
    var found = false;
    ${each} {
      if (found) { break; }
      let weight = exp((blocks[b * ${LEFT}u] - top) * inverse) * blocks[b * ${LEFT}u + 3u];
      if (left >= weight) { left -= weight; continue; }
      let end = min((b + 1u) * ${BLOCK}u, ${vocabulary}u);
      for (var i = b * ${BLOCK}u; i < end; i++) {
        let one = exp((logits[i] - top) * inverse);
        if (one > 0.0) { chosen = i; }
        left -= one;
        if (left < 0.0) { break; }
      }
      found = true;
    }
  }
  sampled[0] = f32(chosen);
  sampled[1] = logits[chosen] - top - log(plain);
  sampled[2] = log(plain) - below / plain;
}`,
    access: ['read', 'read', 'read_write'],
    workgroups: 1,
  };
}
