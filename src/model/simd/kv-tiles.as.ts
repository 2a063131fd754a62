/**
 * Keys and values as attention meets them, in tiles: 64 positions of one key-value head, in `wide` ones as float32,
 * keys turned so that a vector's lanes are keys: keys [headDim][64], values [64][headDim]. In narrow ones they are
 * 16-bit integers, by twos of what is summed over: keys [headDim / 2][64][2], values [32][headDim][2]; behind them lie
 * two scales a position, the keys' [64] and the values' [64]. x = scale · integer, with scale = max |x| / 32767 over
 * one position of the head, so that half a step is 2^-16 of its largest value. Tiles of the heads lie side by side,
 * [tile][kvHead], so that a decoded token reads them in order.
 */

import { TILE, TILE_BYTES } from './attention-tile.as';

/** Bytes of a tile, as in kv-tiles.ts. */
// @ts-ignore: decorator
@inline
export function tileBytes(headDim: i32, wide: bool): usize {
  return wide ? 2 * TILE_BYTES * headDim : TILE_BYTES * headDim + 2 * TILE_BYTES;
}

/**
 * k, v [rows, kvHeads * headDim] become positions start … start + rows - 1; headDim is a multiple of 4. Unless `wide`,
 * what k and v hold is undefined afterwards.
 */
export function keepRows(
  k: usize,
  v: usize,
  tiles: usize,
  rows: i32,
  kvHeads: i32,
  headDim: i32,
  start: i32,
  wide: bool,
): void {
  const headBytes = <usize>headDim << 2;
  const bytes = tileBytes(headDim, wide);
  for (let row = 0; row < rows; row++) {
    const j = (start + row) % TILE;
    let tile = tiles + bytes * (kvHeads * ((start + row) / TILE));
    for (let head = 0; head < kvHeads; head++) {
      if (wide) keepWide(k, v, tile, headBytes, j);
      else keepNarrow(k, v, tile, headBytes, j);
      k += headBytes;
      v += headBytes;
      tile += bytes;
    }
  }
}

// @ts-ignore: decorator
@inline
function keepWide(k: usize, v: usize, tile: usize, headBytes: usize, j: usize): void {
  for (let i: usize = 0; i < headBytes; i += 4) {
    store<f32>(tile + (TILE_BYTES >> 2) * i + (j << 2), load<f32>(k + i));
  }
  memory.copy(tile + headBytes * (<usize>TILE + j), v, headBytes);
}

// @ts-ignore: decorator
@inline
function keepNarrow(k: usize, v: usize, tile: usize, headBytes: usize, j: usize): void {
  const values = tile + (TILE_BYTES >> 3) * headBytes;
  const scales = values + (TILE_BYTES >> 3) * headBytes + (j << 2);
  store<f32>(scales, roundTo16(k, headBytes, k));
  store<f32>(scales + TILE_BYTES, roundTo16(v, headBytes, v));
  const value = values + headBytes * (j >> 1) + ((j & 1) << 1);
  for (let i: usize = 0; i < headBytes; i += 8) {
    store<i32>(tile + (TILE_BYTES >> 3) * i + (j << 2), load<i32>(k + (i >> 1)));
  }
  for (let i: usize = 0; i < headBytes; i += 4) store<i16>(value + i, load<i16>(v + (i >> 1)));
}

/** Float32 values of `bytes` bytes, a multiple of 16, become 16-bit integers; returns their scale. `to` may be x. */
export function roundTo16(x: usize, bytes: usize, to: usize): f32 {
  let most4 = f32x4.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    most4 = f32x4.max(most4, f32x4.abs(v128.load(x + i)));
  }
  most4 = f32x4.max(most4, v128.shuffle<i32>(most4, most4, 2, 3, 0, 1));
  most4 = f32x4.max(most4, v128.shuffle<i32>(most4, most4, 1, 0, 3, 2));
  const most = f32x4.extract_lane(most4, 0);
  const factor = f32x4.splat(most == 0 ? 0 : 32767 / most);
  for (let i: usize = 0; i < bytes; i += 16) {
    const q = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x + i), factor)));
    v128.store64_lane(to + (i >> 1), i16x8.narrow_i32x4_s(q, q), 0);
  }
  return most / 32767;
}
