/**
 * The rows of x as the products read them: in tiles of `tile` rows (1 or 4; a last tile is filled up
 * with zeros), so that one value of each row of a tile lies side by side.
 */

/**
 * x [tokens, cols] as 16-bit integers: for each block of `block` columns (16 or 32) x = s · q with
 * s = max|x| / 32767, so that |x - s · q| <= max|x| / 65534.
 * q [tile of tokens][cols / 2][tile][2]; s and sums = s · Σ q, both [tile of tokens][blocks][tile] f32.
 * A block with a value that is not finite gets such an s, so that its products are not finite either.
 * Only the tiles of tokens `from` … `to` - 1.
 */
export function quantizeRows(
  x: usize,
  q: usize,
  s: usize,
  sums: usize,
  tokens: i32,
  cols: i32,
  block: i32,
  tile: i32,
  from: i32,
  to: i32,
): void {
  const blocks = cols / block;
  const step = (<usize>tile) << 2;
  for (let first = from; first < to; first += tile) {
    for (let lane = 0; lane < tile; lane++) {
      let place = q + (<usize>(first * cols) << 1) + ((<usize>lane) << 2);
      let at = (<usize>((first / tile) * blocks * tile + lane)) << 2;
      let source = x + (<usize>((first + lane) * cols) << 2);
      const absent = first + lane >= tokens;
      for (let b = 0; b < blocks; b++) {
        const end = source + (<usize>block << 2);
        let scale: f32 = 0;
        let inverse = f32x4.splat(0);
        if (!absent) {
          let most = f32x4.splat(0);
          for (let i = source; i < end; i += 16) most = f32x4.max(most, f32x4.abs(v128.load(i)));
          const largest = max(
            max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
            max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
          );
          scale = largest / 32767;
          if (largest > 0) inverse = f32x4.splat(32767 / largest);
        }
        let total = i32x4.splat(0);
        for (; source < end; source += 32) {
          let values = i32x4.splat(0);
          if (!absent) {
            const low = i32x4.trunc_sat_f32x4_s(
              f32x4.nearest(f32x4.mul(v128.load(source), inverse)),
            );
            const high = i32x4.trunc_sat_f32x4_s(
              f32x4.nearest(f32x4.mul(v128.load(source, 16), inverse)),
            );
            total = i32x4.add(total, i32x4.add(low, high));
            values = i16x8.narrow_i32x4_s(low, high);
          }
          v128.store32_lane(place, values, 0);
          v128.store32_lane(place + step, values, 1);
          v128.store32_lane(place + 2 * step, values, 2);
          v128.store32_lane(place + 3 * step, values, 3);
          place += 4 * step;
        }
        const whole =
          i32x4.extract_lane(total, 0) +
          i32x4.extract_lane(total, 1) +
          i32x4.extract_lane(total, 2) +
          i32x4.extract_lane(total, 3);
        store<f32>(s + at, scale);
        store<f32>(sums + at, scale * <f32>whole);
        at += step;
      }
    }
  }
}

/** x [tokens, cols] -> [tile of 4 tokens][cols][4]. */
export function interleaveRows(x: usize, out: usize, tokens: i32, cols: i32): void {
  for (let first = 0; first < tokens; first += 4) {
    for (let lane = 0; lane < 4; lane++) {
      const absent = first + lane >= tokens;
      let from = x + (<usize>((first + lane) * cols) << 2);
      let to = out + (<usize>(first * cols + lane) << 2);
      for (let i = 0; i < cols; i++) {
        store<f32>(to, absent ? 0 : load<f32>(from));
        from += 4;
        to += 16;
      }
    }
  }
}

/**
 * x [tokens, cols], columns first … first + count - 1 -> [tile of 4 tokens][padded / 4][4 tokens][4]
 * with zeros for columns from `count` on; `padded` is a multiple of 4.
 */
export function interleaveQuads(
  x: usize,
  out: usize,
  tokens: i32,
  cols: i32,
  first: i32,
  count: i32,
  padded: i32,
): void {
  for (let t = 0; t < ((tokens + 3) & ~3); t++) {
    let from = x + (<usize>(t * cols + first) << 2);
    let to = out + (<usize>((t & ~3) * padded + ((t & 3) << 2)) << 2);
    for (let i = 0; i < padded; i += 4) {
      if (t >= tokens) v128.store(to, f32x4.splat(0));
      else if (i + 4 <= count) v128.store(to, v128.load(from));
      else {
        for (let k = 0; k < 4; k++) {
          store<f32>(to + (<usize>k << 2), i + k < count ? load<f32>(from + (<usize>k << 2)) : 0);
        }
      }
      from += 16;
      to += 64;
    }
  }
}
