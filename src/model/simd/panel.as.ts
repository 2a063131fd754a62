/** Eight rows' results of up to four tokens, from scratch to y [tokens, rows]. */

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
