/**
 * Causal attention over a cache with 128-bit vectors, in AssemblyScript. Works in tfjs's own memory:
 * all pointers are byte addresses of f32 arrays there. It has no data of its own, so that nothing
 * is written to that memory but the results.
 */

import { beginState, endState, meetTile, STATE_BYTES, storeConstants } from './attention-softmax.as';
import { addMixed, TILE, TILE_BYTES, turnTile } from './attention-tile.as';

/** Queries that go through the keys together. */
const BLOCK: i32 = 128;

/** Powers of two in a power of e. */
const LOG2_E: f64 = 1.4426950408889634;

/**
 * q, out [rows, heads * headDim]; k, v [≥ start + rows, kvHeads * headDim]; p: scratch, attentionBytes of team.ts.
 * Query i sees rows j <= start + i, and the last `window` of them when window > 0. headDim is a multiple of 4.
 * Only queries `begin` … `end` - 1, counted through the key-value heads one after the other, within one of them
 * n = row · (heads / kvHeads) + head within its group. Tiles are counted from row 0 on, whichever rows a query sees,
 * and two queries are taken at a time, so that bits depend on neither its neighbours nor the parts of a call.
 */
export function attention(
  q: usize,
  k: usize,
  v: usize,
  out: usize,
  p: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  start: i32,
  window: i32,
  scale: f32,
  begin: i32,
  end: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  const stride = headBytes * kvHeads;
  const group = heads / kvHeads;
  const queries = rows * group;
  const scale2 = <f32>(<f64>scale * LOG2_E);
  const p2 = p + TILE_BYTES;
  const states = p2 + TILE_BYTES;
  const constants = states + BLOCK * STATE_BYTES;
  const turned = constants + 128;
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
      memory.fill(out + headBytes * placeOf(own, group, heads, n / queries), 0, headBytes);
    }
    const columns = headBytes * (from / queries);
    const width = headBytes * ((to - 1) / queries + 1) - columns;
    for (let j = first & ~(TILE - 1); j < seen; j += TILE) {
      const here = stride * j;
      const reached = min(TILE, seen - j);
      fetch(k + here + columns, stride, width, reached, turned);
      fetch(v + here + columns, stride, width, reached, turned);
      let known = -1;
      for (let n = from; n < to; ) {
        const kv = n / queries;
        const own = n - kv * queries;
        const second = n + 1 < to && own + 1 < queries;
        const next = second ? own + 1 : own;
        const state = states + STATE_BYTES * (n - from);
        n += 1 + i32(second);
        const keys = min(TILE, start + next / group + 1 - j);
        const low = lowest(own, group, start, window) - j;
        if (keys <= 0 || low >= TILE) continue;
        if (kv != known) {
          turnTile(k + here + headBytes * kv, stride, headBytes, reached, turned);
          known = kv;
        }
        const values = v + here + headBytes * kv;
        const a = headBytes * placeOf(own, group, heads, kv);
        const b = headBytes * placeOf(next, group, heads, kv);
        const filled = (keys + 3) & ~3;
        const reach = start + own / group + 1 - j;
        if (second) {
          addMixed(q + a, 4, b - a, turned, TILE_BYTES, filled, headDim, p, p2, true, true);
          meetTile(p, scale2, low, reach, constants, state, out + a, headBytes);
          const low2 = lowest(next, group, start, window) - j;
          const state2 = state + STATE_BYTES;
          meetTile(p2, scale2, low2, keys, constants, state2, out + b, headBytes);
          addMixed(p, 4, TILE_BYTES, values, stride, headDim, keys, out + a, out + b, true, false);
        } else {
          addMixed(q + a, 4, 0, turned, TILE_BYTES, filled, headDim, p, p, false, true);
          meetTile(p, scale2, low, reach, constants, state, out + a, headBytes);
          addMixed(p, 4, 0, values, stride, headDim, keys, out + a, out + a, false, false);
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
 * Reads a word of each 64 bytes of `count` rows, in order, so that they are in the cache for what follows, which reads
 * them in another order. A token of the bundled policy waits for memory: with it attention takes 0.6 of the time.
 */
// @ts-ignore: decorator
@inline
function fetch(row: usize, stride: usize, bytes: usize, count: i32, sink: usize): void {
  let all: i32 = 0;
  for (let j = 0; j < count; j++) {
    for (let i: usize = 0; i < bytes; i += 64) all |= load<i32>(row + i);
    row += stride;
  }
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
