/** The gradients of a projection's LoRA term: first token by token, then column by column. */

import { sum4 } from './vec.as';

/**
 * For tokens `from` … `to` - 1: hidden [T, rank] = x Aᵀ, slopes [T, rank] = scale · dy B, dx [T, inputs] = slopes A.
 * x [T, inputs], dy [T, outputs], aT [inputs, rank], bT [rank, outputs]; `a` is scratch for A, [rank, inputs].
 */
export function loraTokens(
  x: usize,
  dy: usize,
  aT: usize,
  bT: usize,
  hidden: usize,
  slopes: usize,
  dx: usize,
  a: usize,
  inputs: i32,
  rank: i32,
  outputs: i32,
  scale: f32,
  from: i32,
  to: i32,
): void {
  const row = <usize>inputs << 2;
  const r = <usize>rank << 2;
  for (let i: usize = 0; i < <usize>inputs; i++) {
    for (let k: usize = 0; k < <usize>rank; k++) {
      store<f32>(a + row * k + (i << 2), load<f32>(aT + r * i + (k << 2)));
    }
  }
  for (let t = <usize>from; t < <usize>to; t++) {
    const xs = x + row * t;
    const out = dx + row * t;
    memory.fill(out, 0, row);
    for (let k: usize = 0; k < <usize>rank; k++) {
      const at = r * t + (k << 2);
      store<f32>(hidden + at, dot(xs, a + row * k, inputs));
      const width = <usize>outputs << 2;
      const slope = scale * dot(dy + width * t, bT + width * k, outputs);
      store<f32>(slopes + at, slope);
      addScaled(out, a + row * k, slope, inputs);
    }
  }
}

/** Σ_i x_i y_i. */
// @ts-ignore: decorator
@inline
function dot(x: usize, y: usize, length: i32): f32 {
  const bytes = <usize>length << 2;
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let i: usize = 0;
  for (; i + 32 <= bytes; i += 32) {
    a = f32x4.add(a, f32x4.mul(v128.load(x + i), v128.load(y + i)));
    b = f32x4.add(b, f32x4.mul(v128.load(x + i, 16), v128.load(y + i, 16)));
  }
  let sum = sum4(f32x4.add(a, b));
  for (; i < bytes; i += 4) sum += load<f32>(x + i) * load<f32>(y + i);
  return sum;
}

/** y += factor · x. */
// @ts-ignore: decorator
@inline
function addScaled(y: usize, x: usize, factor: f32, length: i32): void {
  const bytes = <usize>length << 2;
  const f4 = f32x4.splat(factor);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    v128.store(y + i, f32x4.add(v128.load(y + i), f32x4.mul(f4, v128.load(x + i))));
  }
  for (; i < bytes; i += 4) store<f32>(y + i, load<f32>(y + i) + factor * load<f32>(x + i));
}

/**
 * scale · Σ_t h[t, k] x[t, c] for columns c = `from` … `to` - 1 of x [T, cols], t ascending; h [T, rank]. Goes to
 * out [cols, rank] when `turned`, else to out [rank, cols].
 */
export function loraColumns(
  x: usize,
  h: usize,
  out: usize,
  tokens: i32,
  cols: i32,
  rank: i32,
  scale: f32,
  turned: bool,
  from: i32,
  to: i32,
): void {
  const row = <usize>cols << 2;
  const r = <usize>rank << 2;
  const scale4 = f32x4.splat(scale);
  let c = from;
  for (; c + 4 <= to; c += 4) {
    let k = 0;
    for (; k + 4 <= rank; k += 4) {
      let xp = x + (<usize>c << 2);
      let hp = h + (<usize>k << 2);
      let a = f32x4.splat(0);
      let b = f32x4.splat(0);
      let d = f32x4.splat(0);
      let e = f32x4.splat(0);
      for (let t = 0; t < tokens; t++) {
        const v = v128.load(xp);
        a = f32x4.add(a, f32x4.mul(v, v128.load32_splat(hp)));
        b = f32x4.add(b, f32x4.mul(v, v128.load32_splat(hp, 4)));
        d = f32x4.add(d, f32x4.mul(v, v128.load32_splat(hp, 8)));
        e = f32x4.add(e, f32x4.mul(v, v128.load32_splat(hp, 12)));
        xp += row;
        hp += r;
      }
      put(out, c, k, f32x4.mul(a, scale4), cols, rank, turned);
      put(out, c, k + 1, f32x4.mul(b, scale4), cols, rank, turned);
      put(out, c, k + 2, f32x4.mul(d, scale4), cols, rank, turned);
      put(out, c, k + 3, f32x4.mul(e, scale4), cols, rank, turned);
    }
    for (; k < rank; k++) {
      let a = f32x4.splat(0);
      for (let t = 0; t < tokens; t++) {
        const v = v128.load(x + row * t + (<usize>c << 2));
        a = f32x4.add(a, f32x4.mul(v, v128.load32_splat(h + r * t + (<usize>k << 2))));
      }
      put(out, c, k, f32x4.mul(a, scale4), cols, rank, turned);
    }
  }
  for (; c < to; c++) {
    for (let k = 0; k < rank; k++) {
      let sum: f32 = 0;
      for (let t = 0; t < tokens; t++) {
        sum += load<f32>(x + row * t + (<usize>c << 2)) * load<f32>(h + r * t + (<usize>k << 2));
      }
      const place = turned ? c * rank + k : k * cols + c;
      store<f32>(out + (<usize>place << 2), sum * scale);
    }
  }
}

/** Columns c … c + 3 of row k. */
// @ts-ignore: decorator
@inline
function put(out: usize, c: i32, k: i32, v: v128, cols: i32, rank: i32, turned: bool): void {
  if (!turned) {
    v128.store(out + (<usize>(k * cols + c) << 2), v);
    return;
  }
  const at = out + (<usize>(c * rank + k) << 2);
  const step = <usize>rank << 2;
  store<f32>(at, f32x4.extract_lane(v, 0));
  store<f32>(at + step, f32x4.extract_lane(v, 1));
  store<f32>(at + 2 * step, f32x4.extract_lane(v, 2));
  store<f32>(at + 3 * step, f32x4.extract_lane(v, 3));
}
