/** The LoRA term of a projection with 128-bit vectors. */

/**
 * y[t, o] += scale · Σ_k h_k bT[k, o], h_k = Σ_i x[t, i] aT[i, k], for rows t from
 * `from` to `to` - 1. `hidden` is scratch of `rank` values.
 */
export function loraAdd(
  y: usize,
  x: usize,
  aT: usize,
  bT: usize,
  hidden: usize,
  inputs: i32,
  rank: i32,
  outputs: i32,
  scale: f32,
  from: i32,
  to: i32,
): void {
  const r = <usize>rank << 2;
  const row = <usize>outputs << 2;
  x += <usize>(from * inputs) << 2;
  y += row * from;
  for (let t = from; t < to; t++) {
    let k: usize = 0;
    for (; k + 16 <= r; k += 16) hiddenFour(x, aT + k, hidden + k, inputs, r, scale);
    for (; k < r; k += 4) hiddenOne(x, aT + k, hidden + k, inputs, r, scale);
    let o: usize = 0;
    for (; o + 16 <= row; o += 16) {
      let sum = f32x4.splat(0);
      let b = bT + o;
      for (let h: usize = 0; h < r; h += 4) {
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(hidden + h), v128.load(b)));
        b += row;
      }
      v128.store(y + o, f32x4.add(v128.load(y + o), sum));
    }
    for (; o < row; o += 4) {
      let sum: f32 = 0;
      let b = bT + o;
      for (let h: usize = 0; h < r; h += 4) {
        sum += load<f32>(hidden + h) * load<f32>(b);
        b += row;
      }
      store<f32>(y + o, load<f32>(y + o) + sum);
    }
    x += <usize>inputs << 2;
    y += row;
  }
}

/** Four values of h; `r` = bytes of a row of aT. */
// @ts-ignore: decorator
@inline
function hiddenFour(x: usize, a: usize, hidden: usize, inputs: i32, r: usize, scale: f32): void {
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  const end = x + (<usize>(inputs & ~1) << 2);
  for (; x < end; x += 8) {
    s0 = f32x4.add(s0, f32x4.mul(v128.load32_splat(x), v128.load(a)));
    s1 = f32x4.add(s1, f32x4.mul(v128.load32_splat(x, 4), v128.load(a + r)));
    a += 2 * r;
  }
  if (inputs & 1) s0 = f32x4.add(s0, f32x4.mul(v128.load32_splat(x), v128.load(a)));
  v128.store(hidden, f32x4.mul(f32x4.add(s0, s1), f32x4.splat(scale)));
}

/** One value of h, of a rank that is no multiple of four. */
// @ts-ignore: decorator
@inline
function hiddenOne(x: usize, a: usize, hidden: usize, inputs: i32, r: usize, scale: f32): void {
  let sum: f32 = 0;
  for (let i = 0; i < inputs; i++) {
    sum += load<f32>(x) * load<f32>(a);
    x += 4;
    a += r;
  }
  store<f32>(hidden, sum * scale);
}
