/**
 * WGSL of the products with a quantised matrix, in variants: a register tile per invocation, without
 * barriers or shared memory (SwiftShader, which runs the tests, is slow at both), or a tile that a
 * workgroup shares (linear-tile.ts). Knows no tensors.
 */

import type { GgmlType } from '../../formats/quants.ts';
import type { VariantOf } from '../variants.ts';
import type { Kernel } from './program.ts';
import { GPU_FORMATS, unplaced } from './wgsl-decode.ts';

/** What one workgroup or invocation of the product computes. */
export interface ProductTile {
  /** Rows of x, and matrix rows that share its reads of them. */
  readonly tokens: 1 | 4 | 32;
  readonly rows: 4 | 8 | 16 | 32;
  /** Invocations that a tile takes. */
  readonly threads: 1 | 64;
}

/**
 * The tile for so many rows of x. Measured on SwiftShader, Q4_1, each variant in turn on a busy machine:
 * with four rows of x 4, 8 and 16 matrix rows gave 0.8, 1.9 and 2.3 GFLOP/s (16 takes twice the time to
 * compile); with one row of x 4 gave 0.5 and 8 gave 1.0, but a GPU would then have too few invocations.
 */
export function productTile(
  rows: number,
  choice: { readonly matvec: VariantOf<'matvec'>; readonly matmul: VariantOf<'matmul'> },
  form: RowForm,
): ProductTile {
  if (rows === 1) return { tokens: 1, rows: choice.matvec === 'registers' ? 8 : 4, threads: 1 };
  switch (choice.matmul) {
    case 'registers':
      return { tokens: 4, rows: 8, threads: 1 };
    case 'wide':
      return { tokens: 4, rows: 16, threads: 1 };
    case 'workgroup':
    case 'halves':
      return form === 'chunks'
        ? { tokens: 32, rows: 32, threads: 64 }
        : { tokens: 4, rows: 8, threads: 1 };
    default:
      return choice.matmul satisfies never;
  }
}

/** Rows of dy for one invocation of the gradient: they share the decoded W. */
export const BACKWARD_TILE = 8;

/**
 * How an invocation of the gradient walks: `steps` of a chunk's four, eight columns each, and `rows` of W
 * added up before the sums are touched. On SwiftShader 2 and 4 against 1 and 1: 3.2 against 2.0 GFLOP/s.
 */
export const BACKWARD_WALKS: Readonly<
  Record<VariantOf<'transpose'>, { readonly steps: 1 | 2; readonly rows: 1 | 4 }>
> = { registers: { steps: 1, rows: 1 }, wide: { steps: 2, rows: 4 } };

/**
 * How a row of x divides: into whole chunks of 32, as for every type with blocks, or not. In the
 * second form each read and write is guarded, since a last chunk reaches beyond the row.
 */
export type RowForm = 'chunks' | 'values';

export function rowForm(cols: number): RowForm {
  return cols % 32 === 0 ? 'chunks' : 'values';
}

export const UNIFORMS = {
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
export function linearKernel(type: GgmlType, form: RowForm, size: ProductTile): Kernel {
  const { tokens, rows: tile } = size;
  const format = GPU_FORMATS[type];
  const { offset, scale, open, low, high, prelude } = format;
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
      return [
        `let low${t} = ${x('j')}; let high${t} = ${x('4u + j')};`,
        offset ? `total${t} += dot(low${t} + high${t}, vec4<f32>(1.0));` : '',
        `let xLow${t} = ${unplaced(format, `low${t}`)}; let xHigh${t} = ${unplaced(format, `high${t}`)};`,
      ].join('\n');
    }),
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
    key: `linear_${type}_${form}_${tokens}_${tile}`,
    inputs: { x: form === 'values' ? 1 : 4, ...planeInputs(type) },
    uniforms: UNIFORMS,
    workgroup: 64,
    prelude,
    body: () => body().join('\n'),
  };
}

/**
 * dx[slot + part, t, i] = Σ_r dy[t, first + r] W[r, i] over the part's rows r. gx = group of steps of a
 * chunk, gy = part · tiles + tile of tokens. Splitting the rows into parts gives a wide matrix more
 * invocations; the caller adds the parts up.
 */
export function linearBackwardKernel(
  type: GgmlType,
  form: RowForm,
  variant: VariantOf<'transpose'>,
): Kernel {
  const format = GPU_FORMATS[type];
  const { offset, scale, open, low, high, prelude } = format;
  const walk = BACKWARD_WALKS[variant];
  const ts = range(BACKWARD_TILE);
  const rs = range(walk.rows);
  const groups = 4 / walk.steps;
  const steps = range(walk.steps);
  // The decoders read step `j`: one function's scope a step.
  const decoded = rs.flatMap((r) => [
    `let at${r} = min(row + ${r}u, endRow - 1u);`,
    open(`_${r}`, `at${r}`, 'chunk'),
    ...steps.flatMap((n) => [
      `var wLow${r}_${n} : vec4<f32>; var wHigh${r}_${n} : vec4<f32>;`,
      `{ let j = j0 + ${n}u; wLow${r}_${n} = ${low(`_${r}`)}; wHigh${r}_${n} = ${high(`_${r}`)}; }`,
    ]),
  ]);
  const sumOver = (value: (r: number) => string) => rs.map(value).join(' + ');
  const body = () => [
    `let chunk = gx / ${groups}u; let j0 = (gx % ${groups}u) * ${walk.steps}u;`,
    'let tile = gy % uniforms.tiles; let part = gy / uniforms.tiles;',
    `let t0 = tile * ${BACKWARD_TILE}u;`,
    'if (chunk >= uniforms.chunks || part >= uniforms.parts) { return; }',
    'let firstRow = part * uniforms.step; let endRow = min(firstRow + uniforms.step, uniforms.rows);',
    ...ts.map((t) => `let token${t} = min(t0 + ${t}u, uniforms.tokens - 1u);`),
    ...ts.flatMap((t) => [
      `var shift${t} = 0.0;`,
      ...steps.map((n) => `var low${t}_${n} = vec4<f32>(0.0); var high${t}_${n} = vec4<f32>(0.0);`),
    ]),
    `for (var row = firstRow; row < endRow; row += ${walk.rows}u) {`,
    ...decoded,
    ...ts.flatMap((t) => [
      ...rs.flatMap((r) => {
        const read = `dy[token${t} * uniforms.width + uniforms.first + at${r}]`;
        // Rows beyond the part's end are its last one again, and must count nothing.
        const slope = r === 0 ? read : `select(0.0, ${read}, row + ${r}u < endRow)`;
        return [
          `let dy${t}_${r} = ${slope};`,
          `let slope${t}_${r} = dy${t}_${r}${scale ? ` * ${scale(`_${r}`)}` : ''};`,
        ];
      }),
      offset ? `shift${t} += ${sumOver((r) => `dy${t}_${r} * ${offset(`_${r}`)}`)};` : '',
      ...steps.flatMap((n) => [
        `low${t}_${n} += ${sumOver((r) => `slope${t}_${r} * wLow${r}_${n}`)};`,
        `high${t}_${n} += ${sumOver((r) => `slope${t}_${r} * wHigh${r}_${n}`)};`,
      ]),
    ]),
    '}',
    ...ts.flatMap((t) => [
      `if (t0 + ${t}u < uniforms.tokens) {`,
      `let at = ((uniforms.slot + part) * uniforms.tokens + token${t}) * uniforms.cols;`,
      ...steps.map((n) =>
        [
          `{ let j = j0 + ${n}u;`,
          writeStep(
            form,
            `${unplaced(format, `low${t}_${n}`)} + vec4<f32>(shift${t})`,
            `${unplaced(format, `high${t}_${n}`)} + vec4<f32>(shift${t})`,
          ),
          '}',
        ].join('\n'),
      ),
      '}',
    ]),
  ];
  return {
    key: `linear_backward_${type}_${form}_${variant}`,
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
  const format = GPU_FORMATS[type];
  const { offset, scale, open, low, high, prelude } = format;
  const value = (decoded: string) =>
    `${scale ? `${scale('_0')} * ` : ''}(${unplaced(format, decoded)})${offset ? ` + vec4<f32>(${offset('_0')})` : ''}`;
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
export function planeInputs(type: GgmlType): Record<string, 1 | 2 | 4> {
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
