/** WGSL that the attention kernels share: uniforms, head vectors in registers, one pass over rows. No kernel. */

import type { AttentionHeads } from './attention.ts';
import { lanes } from './program.ts';

export const UNIFORMS = {
  rows: 'u32',
  heads: 'u32',
  kvHeads: 'u32',
  start: 'u32',
  /** 0: no window. */
  window: 'u32',
  scale: 'f32',
} as const;

export function uniformsOf(
  rows: number,
  span: AttentionHeads,
  start: number,
): Record<string, number> {
  const { heads, kvHeads, scale, window } = span;
  return { rows, heads, kvHeads, start, scale, window: window ?? 0 };
}

/** Statements over the pieces (vec4 where the head width allows) of a head's vector. */
export function pieces(headDim: number) {
  const { count, type, dot } = lanes(headDim);
  const numbers = Array.from({ length: headDim / count }, (_, n) => n);
  return {
    count,
    type,
    /** Pieces in a head's vector. */
    size: numbers.length,
    /** One statement a piece. */
    each: (statement: (n: number) => string) => numbers.map(statement).join('\n'),
    /** The dot product of two vectors of pieces. */
    dot: (a: (n: number) => string, b: (n: number) => string) =>
      numbers.map((n) => dot(a(n), b(n))).join(' + '),
  };
}

/** Declares query, head, its key-value head, and the first row it sees, for index query · heads + head. */
export const queryAt = (index: string) => `
  let query = ${index} / uniforms.heads;
  if (query >= uniforms.rows) { return; }
  let head = ${index} - query * uniforms.heads;
  let kvHead = head * uniforms.kvHeads / uniforms.heads;
  let position = uniforms.start + query;
  ${firstRowOf('')}`;

/** Declares the first row that the query at `position` sees; `c` ends the names of one of several queries. */
export const firstRowOf = (c: string) => `var firstRow${c} = 0u;
  if (uniforms.window > 0u && position${c} + 1u > uniforms.window) {
    firstRow${c} = position${c} + 1u - uniforms.window;
  }`;

/**
 * Rows firstRow … endRow - 1 in one pass with a running maximum: what was summed so far shrinks when a
 * larger score comes. Declares top, total and one sum a piece; `own` is where the query lies.
 */
export function softmaxPass(headDim: number): string {
  const { size } = pieces(headDim);
  return `
      ${beginSums(headDim, '')}
      for (var row = firstRow; row < endRow; row++) {
        let at = (row * uniforms.kvHeads + kvHead) * ${size}u;
        ${addRow(
          headDim,
          '',
          (n) => `k[at + ${n}u]`,
          (n) => `v[at + ${n}u]`,
        )}
      }`;
}

/** Declares a query's pieces, and sums without a row; `c` ends the names of one of several queries. */
export function beginSums(headDim: number, c: string): string {
  const { type, each } = pieces(headDim);
  return `${each((n) => `let q${n}${c} = q[own${c} + ${n}u] * uniforms.scale; var sum${n}${c} = ${type}(0.0);`)}
      var top${c} = -1e30;
      var total${c} = 0.0;`;
}

/** A row, by its pieces of key and value, joins what {@link beginSums} declared. */
export function addRow(
  headDim: number,
  c: string,
  key: (n: number) => string,
  value: (n: number) => string,
): string {
  const { each, dot } = pieces(headDim);
  return `let score = ${dot((n) => `q${n}${c}`, key)};
        if (score > top${c}) {
          let shrink = exp(top${c} - score);
          total${c} *= shrink;
          ${each((n) => `sum${n}${c} *= shrink;`)}
          top${c} = score;
        }
        let weight = exp(score - top${c});
        total${c} += weight;
        ${each((n) => `sum${n}${c} += weight * ${value(n)};`)}`;
}

/** Pieces that a part of a head's rows leaves: its sums, then its maximum and its total. */
export function slotOf(headDim: number): number {
  const { count, size } = pieces(headDim);
  return size + (count === 4 ? 1 : 2);
}

/** Stores what {@link softmaxPass} declared in the slot that begins at `slot` of a buffer. */
export function storePart(headDim: number, buffer: string): string {
  const { count, size, each } = pieces(headDim);
  const ends =
    count === 4
      ? `${buffer}[slot + ${size}u] = vec4<f32>(top, total, 0.0, 0.0);`
      : `${buffer}[slot + ${size}u] = top; ${buffer}[slot + ${size + 1}u] = total;`;
  return `${each((n) => `${buffer}[slot + ${n}u] = sum${n};`)}
      ${ends}`;
}

/**
 * The piece of a head's vector over all its parts: each counts by exp(its maximum - the largest).
 * `parts` = how many, `at` = an expression for a place in the slot of `part`. Declares sum and total.
 */
export function mergeParts(headDim: number, parts: string, at: (offset: string) => string): string {
  const { count, type, size } = pieces(headDim);
  const top = count === 4 ? `${at(`${size}u`)}.x` : at(`${size}u`);
  const total = count === 4 ? `${at(`${size}u`)}.y` : at(`${size + 1}u`);
  const eachPart = `for (var part = 0u; part < ${parts}; part++)`;
  return `
      var largest = -1e30;
      ${eachPart} { largest = max(largest, ${top}); }
      var sum = ${type}(0.0);
      var total = 0.0;
      ${eachPart} {
        let weight = exp(${top} - largest);
        total += weight * ${total};
        sum += weight * ${at('piece')};
      }`;
}
