/**
 * Causal attention over tiles of keys and values (kv-tiles.as.ts) with 128-bit vectors, in AssemblyScript. Works in
 * tfjs's own memory: all pointers are byte addresses there. It has no data of its own, so that nothing is
 * written to that memory but the results.
 */

import {
  beginState,
  endState,
  meetTile,
  scaleProducts,
  scaleWeights,
  STATE_BYTES,
  storeConstants,
} from './attention-softmax.as';
import { addPairs } from './attention-pairs.as';
import { addMixed, TILE, TILE_BYTES } from './attention-tile.as';
import { roundTo16, tileBytes } from './kv-tiles.as';

/** Queries that go through the keys together. */
const BLOCK: i32 = 128;

/** Powers of two in a power of e. */
const LOG2_E: f64 = 1.4426950408889634;

/**
 * q, out [rows, heads * headDim], of positions start … start + rows - 1; their own keys are in `tiles` already. p:
 * scratch, attentionBytes of team.ts.
 * Query i sees rows j <= start + i, and the last `window` of them when window > 0. headDim is a multiple of 4.
 * Only queries `begin` … `end` - 1, counted through the key-value heads one after the other, within one of them
 * n = row · (heads / kvHeads) + head within its group. Tiles are counted from row 0 on, whichever rows a query sees,
 * and two queries are taken at a time, so that bits depend on neither its neighbours nor the parts of a call.
 */
export function attention(
  q: usize,
  tiles: usize,
  out: usize,
  p: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  start: i32,
  window: i32,
  scale: f32,
  wide: bool,
  begin: i32,
  end: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  const bytes = tileBytes(headDim, wide);
  const group = heads / kvHeads;
  const queries = rows * group;
  const scale2 = <f32>(<f64>scale * LOG2_E);
  const p2 = p + TILE_BYTES;
  const states = p2 + TILE_BYTES;
  const constants = states + BLOCK * STATE_BYTES;
  const sink = constants + 128;
  const scalesOf = sink + 16;
  const integers = scalesOf + (BLOCK << 2);
  storeConstants(constants);
  for (let from = begin; from < end; from += BLOCK) {
    const to = min(from + BLOCK, end);
    let first = start + rows;
    let seen = 0;
    for (let n = from; n < to; n++) {
      const own = n % queries;
      first = min(first, lowest(own, group, start, window));
      seen = max(seen, start + own / group + 1);
      beginState(states + STATE_BYTES * (n - from));
      const place = headBytes * placeOf(own, group, heads, n / queries);
      memory.fill(out + place, 0, headBytes);
      if (!wide) {
        const rounded = integers + (headBytes >> 1) * (n - from);
        store<f32>(scalesOf + ((n - from) << 2), roundTo16(q + place, headBytes, rounded));
      }
    }
    for (let j = first & ~(TILE - 1); j < seen; j += TILE) {
      let known = -1;
      for (let n = from; n < to; ) {
        const kv = n / queries;
        const own = n - kv * queries;
        const second = n + 1 < to && own + 1 < queries;
        const next = second ? own + 1 : own;
        const i = n - from;
        const state = states + STATE_BYTES * i;
        n += 1 + i32(second);
        const keys = min(TILE, start + next / group + 1 - j);
        const low = lowest(own, group, start, window) - j;
        if (keys <= 0 || low >= TILE) continue;
        const low2 = lowest(next, group, start, window) - j;
        const tile = tiles + bytes * (kvHeads * (j / TILE) + kv);
        if (kv != known) {
          fetch(tile, bytes, sink);
          known = kv;
        }
        const a = headBytes * placeOf(own, group, heads, kv);
        const b = headBytes * placeOf(next, group, heads, kv);
        const filled = (keys + 3) & ~3;
        const reach = start + own / group + 1 - j;
        const toA = out + a;
        const toB = out + b;
        if (wide) {
          const values = tile + TILE_BYTES * headDim;
          addMixed(q + a, 4, b - a, tile, TILE_BYTES, filled, headDim, p, p2, second, true);
          meetTile(p, scale2, low, reach, constants, state, toA, headBytes);
          if (second) meetTile(p2, scale2, low2, keys, constants, state + STATE_BYTES, toB, headBytes);
          addMixed(p, 4, TILE_BYTES, values, headBytes, headDim, keys, toA, toB, second, false);
        } else {
          const values = tile + (TILE_BYTES >> 1) * headDim;
          const scales = values + (TILE_BYTES >> 1) * headDim;
          const x = integers + (headBytes >> 1) * i;
          const x2 = x + (headBytes >> 1);
          let s = load<f32>(scalesOf + (i << 2));
          let s2 = load<f32>(scalesOf + (i << 2), 4);
          addPairs(x, x2, tile, TILE_BYTES, filled, headDim >> 1, p, p2, s, s2, second, true);
          scaleProducts(p, scales);
          meetTile(p, scale2, low, reach, constants, state, toA, headBytes);
          scaleWeights(p, scales + TILE_BYTES);
          s = roundTo16(p, TILE_BYTES, p);
          if (second) {
            scaleProducts(p2, scales);
            meetTile(p2, scale2, low2, keys, constants, state + STATE_BYTES, toB, headBytes);
            scaleWeights(p2, scales + TILE_BYTES);
            s2 = roundTo16(p2, TILE_BYTES, p2);
          }
          addPairs(p, p2, values, headBytes, headDim, (keys + 1) >> 1, toA, toB, s, s2, second, false);
        }
      }
    }
    for (let n = from; n < to; n++) {
      const mixed = out + headBytes * placeOf(n % queries, group, heads, n / queries);
      endState(states + STATE_BYTES * (n - from), mixed, headBytes);
    }
  }
}

/**
 * Reads a word of each 64 bytes of a tile, in order, so that it is in the cache for what follows, which reads it in
 * another order: a token of the bundled policy waits for memory, and takes half as long with it.
 */
// @ts-ignore: decorator
@inline
function fetch(tile: usize, bytes: usize, sink: usize): void {
  let all: i32 = 0;
  for (let i: usize = 0; i < bytes; i += 64) all |= load<i32>(tile + i);
  store<i32>(sink, all); // an engine leaves out what nobody wants
}

/** The first row that query n sees. */
// @ts-ignore: decorator
@inline
export function lowest(n: i32, group: i32, start: i32, window: i32): i32 {
  const end = start + n / group + 1;
  return window > 0 && end > window ? end - window : 0;
}

/** Where query n lies, counted in heads. */
// @ts-ignore: decorator
@inline
export function placeOf(n: i32, group: i32, heads: i32, kv: i32): i32 {
  return (n / group) * heads + kv * group + (n % group);
}
