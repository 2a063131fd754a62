/** B multiplied by a factor, and taken back bit for bit although the product rounds. Knows no file. */

/** B · factor in float32, with what takes it back. */
export interface FoldedB {
  readonly values: Float32Array;
  /** 1 where B cannot be taken back: it underflowed, or there was nothing to do. */
  readonly factor: number;
  /** What B is beside `values` / `factor`, in units in the last place; empty for powers of two, which are exact. */
  readonly ulps: Int8Array;
}

const NONE = new Int8Array(0);

/** Example: 0.1 · 3/4 is stored as 0.07500000298, and that / (3/4) is 0.1 again: 0 units. */
export function foldB(b: Float32Array, factor: number): FoldedB {
  const values = b.map((value) => value * factor);
  const back = bitsOf(values.map((value) => value / factor));
  const ulps = bitsOf(b).map((bits, i) => bits - (back[i] ?? 0));
  const most = hasUlps(factor) ? 127 : 0;
  if (factor === 1 || ulps.some((units) => Math.abs(units) > most)) {
    return { values, factor: 1, ulps: NONE };
  }
  return { values, factor, ulps: most > 0 ? Int8Array.from(ulps) : NONE };
}

/** The inverse of {@link foldB}; `ulps` may be missing only where {@link hasUlps} says so. */
export function unfoldB(
  values: Float32Array,
  factor: number,
  ulps: ArrayLike<number>,
): Float32Array {
  if (factor === 1) return values;
  const b = values.map((value) => value / factor);
  const bits = bitsOf(b);
  for (let i = 0; i < ulps.length; i++) bits[i] = (bits[i] ?? 0) + (ulps[i] ?? 0);
  return b;
}

/** Whether units in the last place go with a factor. */
export function hasUlps(factor: number): boolean {
  return !Number.isInteger(Math.log2(Math.abs(factor)));
}

/** The same memory as integers: of two numbers of one sign they differ by the steps between them. */
function bitsOf(values: Float32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}
