/**
 * What the products with panels of eight rows share: the integer step, and the results of up to four
 * tokens on their way from scratch to y [tokens, rows].
 */

/** acc + w · x, two columns of four rows. */
// @ts-ignore: decorator
@inline
export function plus(acc: v128, w: v128, x: v128): v128 {
  return i32x4.add(acc, i32x4.dot_i16x8_s(w, x));
}

/** Two columns of token n of a tile, for every row. */
// @ts-ignore: decorator
@inline
export function lane0(x: v128): v128 {
  return v128.shuffle<i32>(x, x, 0, 0, 0, 0);
}

// @ts-ignore: decorator
@inline
export function lane1(x: v128): v128 {
  return v128.shuffle<i32>(x, x, 1, 1, 1, 1);
}

// @ts-ignore: decorator
@inline
export function lane2(x: v128): v128 {
  return v128.shuffle<i32>(x, x, 2, 2, 2, 2);
}

// @ts-ignore: decorator
@inline
export function lane3(x: v128): v128 {
  return v128.shuffle<i32>(x, x, 3, 3, 3, 3);
}

/** acc [4][8] -> y, leaving out what lies beyond the last token and the last row. */
// @ts-ignore: decorator
@inline
export function storePanel(
  acc: usize,
  y: usize,
  t: i32,
  tokens: i32,
  row: i32,
  rows: i32,
): void {
  const last = min(t + 4, tokens);
  for (let i = t; i < last; i++) {
    const to = y + (<usize>(i * rows + row) << 2);
    if (row + 8 <= rows) {
      v128.store(to, v128.load(acc));
      v128.store(to, v128.load(acc, 16), 16);
    } else {
      for (let r = 0; row + r < rows; r++) {
        store<f32>(to + (<usize>r << 2), load<f32>(acc + (<usize>r << 2)));
      }
    }
    acc += 32;
  }
}
