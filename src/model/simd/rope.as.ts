/** RoPE: each pair of channels turned by the angle of its position. */

/**
 * x [rows, cols] -> y, which may be x; row t at position start + t. `cos`, `sin` [context, half] as the
 * model's table has them; pair i of a head lies at channels i · stride and i · stride + second; sign -1
 * turns backwards.
 */
export function rope(
  x: usize,
  y: usize,
  cos: usize,
  sin: usize,
  rows: i32,
  cols: i32,
  half: i32,
  start: i32,
  second: i32,
  stride: i32,
  sign: f32,
): void {
  const step = <usize>stride << 2;
  const apart = <usize>second << 2;
  const head = <usize>half << 3;
  let angle = <usize>(start * half) << 2;
  const row = <usize>cols << 2;
  for (let t = 0; t < rows; t++) {
    for (let h: usize = 0; h < row; h += head) {
      let at = h;
      for (let i: usize = 0; i < <usize>half << 2; i += 4) {
        const c = load<f32>(cos + angle + i);
        const s = sign * load<f32>(sin + angle + i);
        const a = load<f32>(x + at);
        const b = load<f32>(x + at + apart);
        store<f32>(y + at, a * c - b * s);
        store<f32>(y + at + apart, a * s + b * c);
        at += step;
      }
    }
    angle += <usize>half << 2;
    x += row;
    y += row;
  }
}
