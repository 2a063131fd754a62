/**
 * Sums over tiles of 16-bit integers, two terms at a time: their products are added as 32-bit integers, exactly,
 * since no integer is below -32767, and then as float32.
 */

/**
 * out[0 … columns) = scale · Σ_j w_j r_j, or += unless `fresh`, over `pairs` pairs of 16-bit w_j and of rows r_j, which
 * lie as [pair][column][2], a pair's rows `stride` bytes after the one before. `second`: for w2, scale2 and out2
 * likewise, with the bits that it has alone. `columns` is a multiple of 4.
 */
export function addPairs(
  w: usize,
  w2: usize,
  rows: usize,
  stride: usize,
  columns: i32,
  pairs: i32,
  out: usize,
  out2: usize,
  scale: f32,
  scale2: f32,
  second: bool,
  fresh: bool,
): void {
  if (second) add(w, w2, rows, stride, columns, pairs, out, out2, scale, scale2, true, fresh);
  else add(w, w, rows, stride, columns, pairs, out, out, scale, scale, false, fresh);
}

// @ts-ignore: decorator
@inline
function add(
  w: usize,
  w2: usize,
  rows: usize,
  stride: usize,
  columns: i32,
  pairs: i32,
  out: usize,
  out2: usize,
  scale: f32,
  scale2: f32,
  second: bool,
  fresh: bool,
): void {
  const end = w + ((<usize>pairs) << 2);
  const to2 = w2 - w;
  let d = 0;
  for (; d + 16 <= columns; d += 16) {
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let e = a;
    let a2 = a;
    let b2 = a;
    let c2 = a;
    let e2 = a;
    let row = rows + ((<usize>d) << 2);
    for (let at = w; at < end; at += 4) {
      const pair = v128.load32_splat(at);
      const pair2 = second ? v128.load32_splat(at + to2) : pair;
      let r = v128.load(row);
      a = f32x4.add(a, products(pair, r));
      if (second) a2 = f32x4.add(a2, products(pair2, r));
      r = v128.load(row, 16);
      b = f32x4.add(b, products(pair, r));
      if (second) b2 = f32x4.add(b2, products(pair2, r));
      r = v128.load(row, 32);
      c = f32x4.add(c, products(pair, r));
      if (second) c2 = f32x4.add(c2, products(pair2, r));
      r = v128.load(row, 48);
      e = f32x4.add(e, products(pair, r));
      if (second) e2 = f32x4.add(e2, products(pair2, r));
      row += stride;
    }
    const to = out + ((<usize>d) << 2);
    put(to, a, scale, fresh);
    put(to + 16, b, scale, fresh);
    put(to + 32, c, scale, fresh);
    put(to + 48, e, scale, fresh);
    if (second) {
      const to2 = out2 + ((<usize>d) << 2);
      put(to2, a2, scale2, fresh);
      put(to2 + 16, b2, scale2, fresh);
      put(to2 + 32, c2, scale2, fresh);
      put(to2 + 48, e2, scale2, fresh);
    }
  }
  for (; d < columns; d += 4) {
    let a = f32x4.splat(0);
    let a2 = a;
    let row = rows + ((<usize>d) << 2);
    for (let at = w; at < end; at += 4) {
      const r = v128.load(row);
      a = f32x4.add(a, products(v128.load32_splat(at), r));
      if (second) a2 = f32x4.add(a2, products(v128.load32_splat(at + to2), r));
      row += stride;
    }
    put(out + ((<usize>d) << 2), a, scale, fresh);
    if (second) put(out2 + ((<usize>d) << 2), a2, scale2, fresh);
  }
}

// @ts-ignore: decorator
@inline
function products(pair: v128, r: v128): v128 {
  return f32x4.convert_i32x4_s(i32x4.dot_i16x8_s(pair, r));
}

// @ts-ignore: decorator
@inline
function put(to: usize, sum: v128, scale: f32, fresh: bool): void {
  const scaled = f32x4.mul(sum, f32x4.splat(scale));
  v128.store(to, fresh ? scaled : f32x4.add(v128.load(to), scaled));
}
