/** Numbers as a table shows them: rounded, and without the sign of what rounds to nothing. */

/** To so many digits after the point. Example: -0.04, 1 -> "0.0". */
export function fixed(x: number, digits: number): string {
  const shown = x.toFixed(digits);
  return Number(shown) === 0 ? shown.replace('-', '') : shown;
}

/** The same with a plus before what is more than nothing. Example: 0.06, 1 -> "+0.1"; 0.04, 1 -> "0.0". */
export function signed(x: number, digits: number): string {
  const shown = fixed(x, digits);
  return Number(shown) > 0 ? `+${shown}` : shown;
}

/** A probability to three digits; below them it is no zero. Example: 0.0004 -> "< 0.001"; 0.25 -> "0.250". */
export function pValue(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}
