/**
 * WGSL of the products with a quantised matrix: a register tile per invocation, no barriers, no shared
 * memory (SwiftShader, which runs the tests, is slow at both). Knows no tensors.
 */

import type { GgmlType } from '../../formats/quants.ts';
import type { Kernel } from './program.ts';
import { GPU_FORMATS } from './wgsl-decode.ts';

/** Matrix rows that one invocation of the product computes: they share its reads of x. */
export const ROW_TILE = 4;

/** Rows of dy for one invocation of the gradient: they share the decoded W. */
export const BACKWARD_TILE = 4;

/** Rows of x for one invocation: 1 for decoding, 4 where there are more; they share the decoded W. */
export function tokenTile(rows: number): 1 | 4 {
  return rows === 1 ? 1 : 4;
}

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
  /** Width of the output's rows, and the shard's first row in them. */
  width: 'u32',
  first: 'u32',
} as const;

const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7];

/** y[t, first + r] = Σ_i x[t, i] W[r, i]; gx = tile of rows of W, gy = tile of rows of x. */
export function linearKernel(type: GgmlType, form: RowForm, tokens: 1 | 4): Kernel {
  const format = GPU_FORMATS[type];
  const ts = range(tokens);
  const rs = range(ROW_TILE);
  const offset = format.offset;
  const pairs = ts.flatMap((t) => rs.map((r) => ({ t, r })));
  const body = () => [
    `let r0 = gx * ${ROW_TILE}u; let t0 = gy * ${tokens}u;`,
    'if (r0 >= uniforms.rows || t0 >= uniforms.tokens) { return; }',
    // Tiles that reach over the edge repeat the last row: cheaper than a branch around every read.
    ...rs.map((r) => `let row${r} = min(r0 + ${r}u, uniforms.rows - 1u);`),
    ...ts.map((t) => `let token${t} = min(t0 + ${t}u, uniforms.tokens - 1u);`),
    ...pairs.map(({ t, r }) => `var y${t}_${r} = 0.0;`),
    'for (var chunk = 0u; chunk < uniforms.chunks; chunk++) {',
    ...rs.map((r) => format.open(`_${r}`, `row${r}`, 'chunk')),
    ...pairs.map(({ t, r }) => `var sum${t}_${r} = 0.0;`),
    ...(offset ? ts.map((t) => `var total${t} = 0.0;`) : []),
    ...EIGHT.flatMap((j) => [
      ...ts.map((t) => `let x${j}_${t} = ${quadOfX(form, `token${t}`, j)};`),
      ...(offset ? ts.map((t) => `total${t} += dot(x${j}_${t}, vec4<f32>(1.0));`) : []),
      ...rs.map((r) => `let w${j}_${r} = ${format.raw(`_${r}`, j)};`),
      ...pairs.map(({ t, r }) => `sum${t}_${r} += dot(w${j}_${r}, x${j}_${t});`),
    ]),
    ...pairs.map(({ t, r }) => {
      const scaled = format.scale ? `${format.scale(`_${r}`)} * sum${t}_${r}` : `sum${t}_${r}`;
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
    prelude: format.prelude,
    body: () => body().join('\n'),
  };
}

/**
 * dx[part, t, i] = Σ_r dy[t, first + r] W[r, i] over the part's rows r; gx = chunk of 32 columns, gy =
 * part * (tiles of tokens) + tile. Splitting the rows into parts gives a wide matrix more
 * invocations; the caller adds the parts up.
 */
export function linearBackwardKernel(type: GgmlType, form: RowForm): Kernel {
  const format = GPU_FORMATS[type];
  const ts = range(BACKWARD_TILE);
  const each = ts.flatMap((t) => EIGHT.map((j) => ({ t, j })));
  const body = () => [
    'let tile = gy % uniforms.tiles; let part = gy / uniforms.tiles;',
    `let t0 = tile * ${BACKWARD_TILE}u;`,
    'if (gx >= uniforms.chunks || part >= uniforms.parts) { return; }',
    'let firstRow = part * uniforms.step; let endRow = min(firstRow + uniforms.step, uniforms.rows);',
    ...ts.map((t) => `let token${t} = min(t0 + ${t}u, uniforms.tokens - 1u);`),
    ...each.map(({ t, j }) => `var d${t}_${j} = vec4<f32>(0.0);`),
    ...(format.offset ? ts.map((t) => `var shift${t} = 0.0;`) : []),
    'for (var row = firstRow; row < endRow; row++) {',
    format.open('_0', 'row', 'gx'),
    ...ts.flatMap((t) => {
      const dy = `let dy${t} = dy[token${t} * uniforms.width + uniforms.first + row];`;
      const scaled = `let slope${t} = dy${t}${format.scale ? ` * ${format.scale('_0')}` : ''};`;
      const shift = format.offset ? `shift${t} += dy${t} * ${format.offset('_0')};` : '';
      return [dy, scaled, shift];
    }),
    ...EIGHT.flatMap((j) => [
      `let w${j} = ${format.raw('_0', j)};`,
      ...ts.map((t) => `d${t}_${j} += slope${t} * w${j};`),
    ]),
    '}',
    ...ts.flatMap((t) => [
      `if (t0 + ${t}u < uniforms.tokens) {`,
      writeChunk(
        form,
        `((uniforms.slot + part) * uniforms.tokens + token${t}) * uniforms.cols`,
        EIGHT.map((j) => sumWith(format.offset !== null, t, j)),
      ),
      '}',
    ]),
  ];
  return {
    key: `linear_backward_${type}_${form}`,
    inputs: { dy: 1, ...planeInputs(type) },
    output: form === 'chunks' ? 4 : 1,
    uniforms: {
      ...UNIFORMS,
      tiles: 'u32',
      parts: 'u32',
      step: 'u32',
      slot: 'u32',
    },
    workgroup: 16,
    prelude: format.prelude,
    body: () => body().join('\n'),
  };
}

/** y[t, i] = W[ids[t], i] for the ids of this shard; gx = chunk of 32 columns, gy = t. */
export function gatherKernel(type: GgmlType, form: RowForm): Kernel {
  const format = GPU_FORMATS[type];
  const value = (j: number) => {
    const scaled = format.scale
      ? `${format.scale('_0')} * ${format.raw('_0', j)}`
      : format.raw('_0', j);
    return format.offset ? `${scaled} + vec4<f32>(${format.offset('_0')})` : scaled;
  };
  const body = () => [
    'if (gx >= uniforms.chunks || gy >= uniforms.tokens) { return; }',
    'let id = u32(ids[gy]);',
    'if (id < uniforms.first || id >= uniforms.first + uniforms.rows) { return; }',
    'let row = id - uniforms.first;',
    format.open('_0', 'row', 'gx'),
    writeChunk(form, 'gy * uniforms.cols', EIGHT.map(value)),
  ];
  return {
    key: `gather_${type}_${form}`,
    inputs: { ids: 1, ...planeInputs(type) },
    output: form === 'chunks' ? 4 : 1,
    uniforms: UNIFORMS,
    workgroup: 16,
    prelude: format.prelude,
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

/** Values 4j … 4j + 3 of the chunk of a row of x, zero beyond the row. */
function quadOfX(form: RowForm, token: string, j: number): string {
  switch (form) {
    case 'chunks':
      return `x[${token} * uniforms.quads + chunk * 8u + ${j}u]`;
    case 'values': {
      const one = (k: number) => {
        const i = `chunk * 32u + ${4 * j + k}u`;
        return `select(0.0, x[${token} * uniforms.cols + ${i}], ${i} < uniforms.cols)`;
      };
      return `vec4<f32>(${[0, 1, 2, 3].map(one).join(', ')})`;
    }
    default:
      return form satisfies never;
  }
}

/** Writes eight vec4 to the row that begins at element `at` of the output, at chunk gx. */
function writeChunk(form: RowForm, at: string, values: string[]): string {
  switch (form) {
    case 'chunks':
      return values.map((v, j) => `result[(${at}) / 4u + gx * 8u + ${j}u] = ${v};`).join('\n');
    case 'values':
      return `{
        var chunkOut = array<vec4<f32>, 8>(${values.join(', ')});
        for (var k = 0u; k < 32u && gx * 32u + k < uniforms.cols; k++) {
          result[${at} + gx * 32u + k] = chunkOut[k >> 2u][k & 3u];
        }
      }`;
    default:
      return form satisfies never;
  }
}

function sumWith(offset: boolean, t: number, j: number): string {
  return offset ? `d${t}_${j} + vec4<f32>(shift${t})` : `d${t}_${j}`;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
