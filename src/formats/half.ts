/** float16 <-> float32, as IEEE 754 has it. */

/** float16 bits -> value, all 65,536 of them: one lookup instead of a branchy decode. */
const HALF_TO_FLOAT = halfTable();

function halfTable(): Float32Array {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    let magnitude: number;
    if (exponent === 31) magnitude = fraction === 0 ? Infinity : NaN;
    else if (exponent === 0) magnitude = fraction * 2 ** -24;
    else magnitude = (1024 + fraction) * 2 ** (exponent - 25);
    table[bits] = sign * magnitude;
  }
  return table;
}

/** The little-endian float16 at byte `p`, which with the next one must lie within `b`. */
export function halfAt(b: Uint8Array, p: number): number {
  return HALF_TO_FLOAT[(b[p] as number) | ((b[p + 1] as number) << 8)] as number; // 16 bits
}

const floatView = new Float32Array(1);
const bitsView = new Uint32Array(floatView.buffer);

/** float16 bits of a float32 value, rounded to nearest, ties to even; overflow gives infinity. */
export function floatToHalf(value: number): number {
  floatView[0] = value;
  const bits = bitsView[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 2^16 and above
  if (magnitude < 0x38800000) {
    // Below 2^-14: a multiple of 2^-24. The double product is exact, so one rounding happens.
    const scaled = Math.abs(floatView[0] ?? 0) * 2 ** 24;
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    return sign | (floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0));
  }
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}
