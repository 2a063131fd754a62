/**
 * What attention does with up to 64 keys, a tile, of one head: all of it is sums of rows with weights. For
 * scores these are the rows of the turned keys, so that a vector's lanes are keys and nothing is summed
 * across lanes (22 billion multiply-adds a second, where lanes that were dimensions made 5 to 9).
 */

/** Keys in a tile, and bytes of a row of their scores. */
export const TILE: i32 = 64;
export const TILE_BYTES: usize = 256;

/** Rows 0 … count - 1 of k, `stride` bytes apart -> to [bytes / 4][TILE]; up to a multiple of 4 the last stands in. */
// @ts-ignore: decorator
@inline
export function turnTile(k: usize, stride: usize, bytes: usize, count: i32, to: usize): void {
  for (let j = 0; j < count; j += 4) {
    let k1 = j + 1 < count ? k + stride : k;
    let k2 = j + 2 < count ? k1 + stride : k1;
    let k3 = j + 3 < count ? k2 + stride : k2;
    let at = to + (<usize>j << 2);
    const end = k + bytes;
    for (; k < end; k += 16) {
      const a = v128.load(k);
      const b = v128.load(k1);
      const c = v128.load(k2);
      const d = v128.load(k3);
      const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
      const ab2 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
      const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
      const cd2 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
      v128.store(at, v128.shuffle<i64>(ab, cd, 0, 2));
      v128.store(at, v128.shuffle<i64>(ab, cd, 1, 3), TILE_BYTES);
      v128.store(at, v128.shuffle<i64>(ab2, cd2, 0, 2), 2 * TILE_BYTES);
      v128.store(at, v128.shuffle<i64>(ab2, cd2, 1, 3), 3 * TILE_BYTES);
      at += 4 * TILE_BYTES;
      k1 += 16;
      k2 += 16;
      k3 += 16;
    }
    k = k3 - bytes + stride;
  }
}

/**
 * out[0 … columns) = Σ_j p_j v_j, or += unless `fresh`, j ascending for each column, the p_j lying `step` bytes apart
 * and the rows v_j `vStride`; `second`: for p2, `toP2` bytes after p, and out2 likewise, with the bits that it has
 * alone. `columns` is a multiple of 4.
 */
export function addMixed(
  p: usize,
  step: usize,
  toP2: usize,
  v: usize,
  vStride: usize,
  columns: i32,
  count: i32,
  out: usize,
  out2: usize,
  second: bool,
  fresh: bool,
): void {
  if (second) mix(p, step, toP2, v, vStride, columns, count, out, out2, true, fresh);
  else mix(p, step, 0, v, vStride, columns, count, out, out, false, fresh);
}

/** {@link addMixed} for a constant `second`, so that no loop asks. */
// @ts-ignore: decorator
@inline
function mix(
  p: usize,
  step: usize,
  toP2: usize,
  v: usize,
  vStride: usize,
  columns: i32,
  count: i32,
  out: usize,
  out2: usize,
  second: bool,
  fresh: bool,
): void {
  const end = p + step * count;
  let d = 0;
  for (; d + 16 <= columns; d += 16) {
    const to = out + ((<usize>d) << 2);
    const to2 = out2 + ((<usize>d) << 2);
    let a = fresh ? f32x4.splat(0) : v128.load(to);
    let b = fresh ? f32x4.splat(0) : v128.load(to, 16);
    let c = fresh ? f32x4.splat(0) : v128.load(to, 32);
    let e = fresh ? f32x4.splat(0) : v128.load(to, 48);
    let a2 = fresh ? f32x4.splat(0) : v128.load(to2);
    let b2 = fresh ? f32x4.splat(0) : v128.load(to2, 16);
    let c2 = fresh ? f32x4.splat(0) : v128.load(to2, 32);
    let e2 = fresh ? f32x4.splat(0) : v128.load(to2, 48);
    let row = v + ((<usize>d) << 2);
    for (let at = p; at < end; at += step) {
      const weight = v128.load32_splat(at);
      const weight2 = second ? v128.load32_splat(at + toP2) : weight;
      let value = v128.load(row);
      a = f32x4.add(a, f32x4.mul(weight, value));
      if (second) a2 = f32x4.add(a2, f32x4.mul(weight2, value));
      value = v128.load(row, 16);
      b = f32x4.add(b, f32x4.mul(weight, value));
      if (second) b2 = f32x4.add(b2, f32x4.mul(weight2, value));
      value = v128.load(row, 32);
      c = f32x4.add(c, f32x4.mul(weight, value));
      if (second) c2 = f32x4.add(c2, f32x4.mul(weight2, value));
      value = v128.load(row, 48);
      e = f32x4.add(e, f32x4.mul(weight, value));
      if (second) e2 = f32x4.add(e2, f32x4.mul(weight2, value));
      row += vStride;
    }
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, e, 48);
    if (second) {
      v128.store(to2, a2);
      v128.store(to2, b2, 16);
      v128.store(to2, c2, 32);
      v128.store(to2, e2, 48);
    }
  }
  for (; d < columns; d += 4) {
    const to = out + ((<usize>d) << 2);
    const to2 = out2 + ((<usize>d) << 2);
    let a = fresh ? f32x4.splat(0) : v128.load(to);
    let a2 = fresh ? f32x4.splat(0) : v128.load(to2);
    let row = v + ((<usize>d) << 2);
    for (let at = p; at < end; at += step) {
      const value = v128.load(row);
      a = f32x4.add(a, f32x4.mul(v128.load32_splat(at), value));
      if (second) a2 = f32x4.add(a2, f32x4.mul(v128.load32_splat(at + toP2), value));
      row += vStride;
    }
    v128.store(to, a);
    if (second) v128.store(to2, a2);
  }
}
