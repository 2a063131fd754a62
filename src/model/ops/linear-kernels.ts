/**
 * WGSL of the products with a quantised matrix: a register tile per invocation, no barriers, no shared
 * memory (SwiftShader, which runs the tests, is slow at both). Knows no tensors.
 */

import type { GgmlType } from '../../formats/quants.ts';
import type { Kernel } from './program.ts';
import { GPU_FORMATS } from './wgsl-decode.ts';

/** Rows of x for one invocation of the product: 1 for decoding, 4 where there are more. */
export function tokenTile(rows: number): 1 | 4 {
  return rows === 1 ? 1 : 4;
}

/**
 * Matrix rows that one invocation of the product computes: they share its reads of x. Measured on
 * SwiftShader, Q4_1, in GFLOP a CPU second on a busy machine: with four rows of x, 4 rows 0.5-0.8, 8 rows
 * 0.8-1.0, 16 rows 0.9-1.1 (and twice the time to compile); with one row of x, 4 rows 0.3, 8 rows 0.4,
 * but a GPU would then have too few invocations.
 */
export function rowTile(tokens: 1 | 4): 4 | 8 {
  return tokens === 1 ? 4 : 8;
}

/** Rows of dy for one invocation of the gradient: they share the decoded W. */
export const BACKWARD_TILE = 8;

/**
 * How a row of x divides: into whole chunks of 32, as for every type with blocks, or not. In the
 * second form each read and write is guarded, since a last chunk reaches beyond the row.
 */
export type RowForm = 'chunks' | 'values';

export function rowForm(cols: number): RowForm {
  return cols % 32 === 0 ? 'chunks' : 'values';
}

const UNIFORMS = {
  /** Rows of x, rows of this shard of W, columns of W. */
  tokens: 'u32',
  rows: 'u32',
  cols: 'u32',
  /** Chunks of 32 and (rounded up) groups of 4 in a row of W. */
  chunks: 'u32',
  quads: 'u32',
  /** Width of the product's rows, and the shard's first row in them. */
  width: 'u32',
  first: 'u32',
} as const;

/** y[t, first + r] = Σ_i x[t, i] W[r, i]; gx = tile of rows of W, gy = tile of rows of x. */
export function linearKernel(type: GgmlType, form: RowForm, tokens: 1 | 4): Kernel {
  const { offset, scale, open, low, high, prelude } = GPU_FORMATS[type];
  const tile = rowTile(tokens);
  const ts = range(tokens);
  const rs = range(tile);
  const pairs = ts.flatMap((t) => rs.map((r) => ({ t, r })));
  const body = () => [
    `let r0 = gx * ${tile}u; let t0 = gy * ${tokens}u;`,
    'if (r0 >= uniforms.rows || t0 >= uniforms.tokens) { return; }',
    // Tiles that reach over the edge repeat the last row: cheaper than a branch around every read.
    ...rs.map((r) => `let row${r} = min(r0 + ${r}u, uniforms.rows - 1u);`),
    ...ts.map((t) => `let token${t} = min(t0 + ${t}u, uniforms.tokens - 1u);`),
    ...pairs.map(({ t, r }) => `var y${t}_${r} = 0.0;`),
    'for (var chunk = 0u; chunk < uniforms.chunks; chunk++) {',
    ...rs.map((r) => open(`_${r}`, `row${r}`, 'chunk')),
    ...pairs.map(({ t, r }) => `var sum${t}_${r} = 0.0;`),
    ...ts.map((t) => `var total${t} = 0.0;`),
    'for (var j = 0u; j < 4u; j++) {',
    ...ts.map((t) => {
      const x = (first: string) => quadOfX(form, `token${t}`, `chunk * 8u + ${first}`);
      return `let xLow${t} = ${x('j')}; let xHigh${t} = ${x('4u + j')};`;
    }),
    ...(offset ? ts.map((t) => `total${t} += dot(xLow${t} + xHigh${t}, vec4<f32>(1.0));`) : []),
    ...rs.flatMap((r) => [
      `let wLow${r} = ${low(`_${r}`)}; let wHigh${r} = ${high(`_${r}`)};`,
      ...ts.map((t) => `sum${t}_${r} += dot(wLow${r}, xLow${t}) + dot(wHigh${r}, xHigh${t});`),
    ]),
    '}',
    ...pairs.map(({ t, r }) => {
      const scaled = scale ? `${scale(`_${r}`)} * sum${t}_${r}` : `sum${t}_${r}`;
      return `y${t}_${r} += ${scaled}${offset ? ` + ${offset(`_${r}`)} * total${t}` : ''};`;
    }),
    '}',
    ...pairs.map(
      ({ t, r }) =>
        `if (r0 + ${r}u < uniforms.rows && t0 + ${t}u < uniforms.tokens) { result[token${t} * uniforms.width + uniforms.first + row${r}] = y${t}_${r}; }`,
    ),
  ];
  return {
    key: `linear_${type}_${form}_${tokens}`,
    inputs: { x: form === 'values' ? 1 : 4, ...planeInputs(type) },
    uniforms: UNIFORMS,
    workgroup: 64,
    prelude,
    body: () => body().join('\n'),
  };
}

/**
 * dx[slot + part, t, i] = Σ_r dy[t, first + r] W[r, i] over the part's rows r. gx = step j of a chunk
 * (4 · chunk + j, eight columns), gy = part · tiles + tile of tokens. Splitting the rows into parts
 * gives a wide matrix more invocations; the caller adds the parts up.
 */
export function linearBackwardKernel(type: GgmlType, form: RowForm): Kernel {
  const { offset, scale, open, low, high, prelude } = GPU_FORMATS[type];
  const ts = range(BACKWARD_TILE);
  const body = () => [
    'let chunk = gx >> 2u; let j = gx & 3u;',
    'let tile = gy % uniforms.tiles; let part = gy / uniforms.tiles;',
    `let t0 = tile * ${BACKWARD_TILE}u;`,
    'if (chunk >= uniforms.chunks || part >= uniforms.parts) { return; }',
    'let firstRow = part * uniforms.step; let endRow = min(firstRow + uniforms.step, uniforms.rows);',
    ...ts.map((t) => `let token${t} = min(t0 + ${t}u, uniforms.tokens - 1u);`),
    ...ts.map((t) => `var low${t} = vec4<f32>(0.0); var high${t} = vec4<f32>(0.0);`),
    ...ts.map((t) => `var shift${t} = 0.0;`),
    'for (var row = firstRow; row < endRow; row++) {',
    open('_0', 'row', 'chunk'),
    `let wLow = ${low('_0')}; let wHigh = ${high('_0')};`,
    ...ts.flatMap((t) => [
      `let dy${t} = dy[token${t} * uniforms.width + uniforms.first + row];`,
      `let slope${t} = dy${t}${scale ? ` * ${scale('_0')}` : ''};`,
      `low${t} += slope${t} * wLow; high${t} += slope${t} * wHigh;`,
      offset ? `shift${t} += dy${t} * ${offset('_0')};` : '',
    ]),
    '}',
    ...ts.flatMap((t) => [
      `if (t0 + ${t}u < uniforms.tokens) {`,
      `let at = ((uniforms.slot + part) * uniforms.tokens + token${t}) * uniforms.cols;`,
      writeStep(form, `low${t} + vec4<f32>(shift${t})`, `high${t} + vec4<f32>(shift${t})`),
      '}',
    ]),
  ];
  return {
    key: `linear_backward_${type}_${form}`,
    inputs: { dy: 1, ...planeInputs(type) },
    output: form === 'chunks' ? 4 : 1,
    uniforms: { ...UNIFORMS, tiles: 'u32', parts: 'u32', step: 'u32', slot: 'u32' },
    workgroup: 16,
    prelude,
    body: () => body().join('\n'),
  };
}

/** y[t, i] = W[ids[t], i] for the ids of this shard; gx = step of a chunk as above, gy = t. */
export function gatherKernel(type: GgmlType, form: RowForm): Kernel {
  const { offset, scale, open, low, high, prelude } = GPU_FORMATS[type];
  const value = (decoded: string) =>
    `${scale ? `${scale('_0')} * ` : ''}${decoded}${offset ? ` + vec4<f32>(${offset('_0')})` : ''}`;
  const body = () => [
    'let chunk = gx >> 2u; let j = gx & 3u;',
    'if (chunk >= uniforms.chunks || gy >= uniforms.tokens) { return; }',
    'let id = u32(ids[gy]);',
    'if (id < uniforms.first || id >= uniforms.first + uniforms.rows) { return; }',
    'let row = id - uniforms.first; let at = gy * uniforms.cols;',
    open('_0', 'row', 'chunk'),
    writeStep(form, value(low('_0')), value(high('_0'))),
  ];
  return {
    key: `gather_${type}_${form}`,
    inputs: { ids: 1, ...planeInputs(type) },
    output: form === 'chunks' ? 4 : 1,
    uniforms: UNIFORMS,
    workgroup: 16,
    prelude,
    body: () => body().join('\n'),
  };
}

/** y[i] = Σ_part x[part, i]; gx = i. */
export const sumPartsKernel: Kernel = {
  key: 'sum_parts',
  inputs: { x: 1 },
  uniforms: { parts: 'u32', length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    var sum = 0.0;
    for (var part = 0u; part < uniforms.parts; part++) { sum += x[part * uniforms.length + gx]; }
    result[gx] = sum;`,
};

/** The names under which the planes are bound; the second only where the type has one. */
function planeInputs(type: GgmlType): Record<string, 1 | 2 | 4> {
  const { components, halves } = GPU_FORMATS[type];
  const words: Record<string, 1 | 2 | 4> = { words: components };
  return halves === 0 ? words : { ...words, halves: 1 };
}

/** Four values of a row of x from group `quad` on, zero beyond the row. */
function quadOfX(form: RowForm, token: string, quad: string): string {
  switch (form) {
    case 'chunks':
      return `x[${token} * uniforms.quads + ${quad}]`;
    case 'values': {
      const one = (k: number) => {
        const i = `(${quad}) * 4u + ${k}u`;
        return `select(0.0, x[${token} * uniforms.cols + ${i}], ${i} < uniforms.cols)`;
      };
      return `vec4<f32>(${[0, 1, 2, 3].map(one).join(', ')})`;
    }
    default:
      return form satisfies never;
  }
}

/** Writes the two vec4 of step j of `chunk` to the row that begins at element `at` of the output. */
function writeStep(form: RowForm, low: string, high: string): string {
  switch (form) {
    case 'chunks':
      return `
        result[at / 4u + chunk * 8u + j] = ${low};
        result[at / 4u + chunk * 8u + 4u + j] = ${high};`;
    case 'values':
      return `
        let outLow = ${low};
        let outHigh = ${high};
        let col = chunk * 32u + 4u * j;
        for (var k = 0u; k < 4u; k++) {
          if (col + k < uniforms.cols) { result[at + col + k] = outLow[k]; }
          if (col + 16u + k < uniforms.cols) { result[at + col + 16u + k] = outHigh[k]; }
        }`;
    default:
      return form satisfies never;
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
