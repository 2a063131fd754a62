/**
 * WGSL of one decoded token's products, all sizes written in as constants. A product with a norm before it
 * reads x already multiplied by the norm's gain, with the squares of x summed in parts behind it, and
 * multiplies by r = 1 / sqrt(mean(x²) + eps) at its end; whoever makes x writes it so. Knows no buffers.
 */

import type { GgmlType } from '../../formats/quants.ts';
import { GPU_FORMATS, unplaced } from '../ops/wgsl-decode.ts';
import type { VariantOf } from '../variants.ts';

/** A kernel as a device compiles it; buffers are bound in the order of `access`, after the token. */
export interface Shader {
  readonly code: string;
  /** How each buffer after the token is used. */
  readonly access: readonly Access[];
  readonly workgroups: number;
}

export type Access = 'read' | 'read_write';

/** Invocations of a workgroup. */
const GROUP = 64;

/** Workgroups beyond so many go into a second line: WebGPU's limit is 65,535 a dimension. */
export const LINE = 32_768;

/** How a product's rows are shared out. */
export interface Split {
  /** Matrix rows that share one walk over x. */
  readonly rows: 4 | 8;
  /** Who shares the walk, each with every n-th chunk of 32: nobody, invocations of a workgroup, a subgroup. */
  readonly shared: 'alone' | 'workgroup' | 'subgroup';
  /** How many do, at most: a subgroup says itself how many it has. */
  readonly lanes: number;
}

/** Eight rows to one walk where x is read by every invocation anew, four where lanes share it. */
export function splitOf(
  variant: VariantOf<'matvec'>,
  { adapterInfo }: Pick<GPUDevice, 'adapterInfo'>,
): Split {
  switch (variant) {
    case 'registers':
      return { rows: 8, shared: 'alone', lanes: 1 };
    case 'workgroup':
      return { rows: 4, shared: 'workgroup', lanes: 32 };
    case 'subgroups':
      return { rows: 4, shared: 'subgroup', lanes: adapterInfo.subgroupMaxSize ?? GROUP };
    default:
      return variant satisfies never;
  }
}

export interface Matrix {
  readonly type: GgmlType;
  readonly rows: number;
  readonly cols: number; // a multiple of 32
}

/** The token's own numbers; with what chance the next one is drawn, where it is drawn on the device. */
export const TOKEN = `struct Token { id : u32, position : u32, temperature : f32, quantile : f32 }
@group(0) @binding(0) var<uniform> token : Token;`;

/** `read` or `read_write` arrays, bound from 1 on. */
type Arrays = readonly (readonly [name: string, type: string, access: Access])[];

function bindings(arrays: Arrays): string {
  return [
    TOKEN,
    ...arrays.map(
      ([name, type, access], i) =>
        `@group(0) @binding(${i + 1}) var<storage, ${access}> ${name} : array<${type}>;`,
    ),
  ].join('\n');
}

const accessOf = (arrays: Arrays) => arrays.map(([, , access]) => access);

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Values of a normed x: its own, then the parts of Σ x², padded to whole vec4. */
export function normedLength(width: number, { rows }: Split): number {
  return width + 4 * Math.ceil(width / rows / 4);
}

/** A matrix's arrays and functions under names of its own. */
function named(matrix: Matrix, suffix: string) {
  const format = GPU_FORMATS[matrix.type];
  const own = [...format.prelude.matchAll(/(?:fn|const) (\w+)/g)].map(([, name]) => name);
  const names = new RegExp(`\\b(${['words', 'halves', ...own].join('|')})\\b`, 'g');
  const rename = (text: string) =>
    text
      .replace(names, `$1_${suffix}`)
      .replaceAll('uniforms.chunks', `${matrix.cols / 32}u`)
      .replaceAll('uniforms.quads', `${matrix.cols / 4}u`);
  const words: string = { 1: 'i32', 2: 'vec2<i32>', 4: 'vec4<i32>' }[format.components];
  const { scale, offset } = format;
  return {
    arrays: [
      [`words_${suffix}`, words, 'read'],
      ...(format.halves === 0 ? [] : [[`halves_${suffix}`, 'i32', 'read'] as const]),
    ] as Arrays,
    prelude: rename(format.prelude),
    shifts: offset !== null,
    unplaced: (expression: string) => rename(unplaced(format, expression)),
    open: (s: string, row: string) => rename(format.open(s, row, 'chunk')),
    low: (s: string) => rename(format.low(s)),
    high: (s: string) => rename(format.high(s)),
    scaled: (s: string, sum: string) =>
      `${scale ? `${rename(scale(s))} * ${sum}` : sum}${offset ? ` + ${rename(offset(s))} * total` : ''}`,
  };
}

/** walk_S(first, lane, lanes): the sums of a tile's rows over this lane's chunks. */
function walk(matrix: Matrix, suffix: string, { rows }: Split): string {
  const m = named(matrix, suffix);
  const rs = range(rows);
  return `
${m.prelude}
fn walk_${suffix}(first : u32, lane : u32, lanes : u32) -> Walk {
  ${rs.map((r) => `let row${r} = min(first + ${r}u, ${matrix.rows - 1}u); var y${r} = 0.0;`).join('\n')}
  for (var chunk = lane; chunk < ${matrix.cols / 32}u; chunk += lanes) {
    ${rs.map((r) => `${m.open(`_${r}`, `row${r}`)} var sum${r} = 0.0;`).join('\n')}
    var total = 0.0;
    for (var j = 0u; j < 4u; j++) {
      let low = x[chunk * 8u + j];
      let high = x[chunk * 8u + 4u + j];
      ${m.shifts ? 'total += dot(low + high, vec4<f32>(1.0));' : ''}
      let xLow = ${m.unplaced('low')};
      let xHigh = ${m.unplaced('high')};
      ${rs.map((r) => `sum${r} += dot(${m.low(`_${r}`)}, xLow) + dot(${m.high(`_${r}`)}, xHigh);`).join('\n')}
    }
    ${rs.map((r) => `y${r} += ${m.scaled(`_${r}`, `sum${r}`)};`).join('\n')}
  }
  return Walk(${range(rows / 4)
    .map((q) => `vec4<f32>(y${4 * q}, y${4 * q + 1}, y${4 * q + 2}, y${4 * q + 3})`)
    .join(', ')}, 0.0);
}`;
}

/** What a walk gives: its rows' sums four by four, and a part of Σ x². */
function walkStruct({ rows }: Split): string {
  return `struct Walk { ${range(rows / 4)
    .map((q) => `y${q} : vec4<f32>,`)
    .join(' ')} squares : f32 }`;
}

const rowOf = (walked: string, r: number) => `${walked}.y${r >> 2}[${r & 3}]`;

/** squaresOf(lane, lanes): this lane's part of Σ x² out of the parts behind x. */
function squaresOf(cols: number, split: Split): string {
  const end = normedLength(cols, split) / 4;
  return `
fn squaresOf(lane : u32, lanes : u32) -> f32 {
  var squares = 0.0;
  for (var i = ${cols / 4}u + lane; i < ${end}u; i += lanes) { squares += dot(x[i], vec4<f32>(1.0)); }
  return squares;
}`;
}

/** meet(walked, lane, at): the sum over the lanes of a walk, for lane 0. Called by all or none. */
function meet({ rows, shared, lanes }: Split): string {
  const quads = range(rows / 4);
  switch (shared) {
    case 'alone':
      return 'fn meet(walked : Walk, lane : u32, at : u32) -> Walk { return walked; }';
    case 'workgroup':
      return `
var<workgroup> shared_walks : array<Walk, ${GROUP}>;
fn meet(walked : Walk, lane : u32, at : u32) -> Walk {
  workgroupBarrier();
  shared_walks[at] = walked;
  workgroupBarrier();
  var sum = walked;
  if (lane == 0u) {
    for (var i = 1u; i < ${lanes}u; i++) {
      ${quads.map((q) => `sum.y${q} += shared_walks[at + i].y${q};`).join(' ')}
      sum.squares += shared_walks[at + i].squares;
    }
  }
  return sum;
}`;
    case 'subgroup':
      return `
fn meet(walked : Walk, lane : u32, at : u32) -> Walk {
  return Walk(${quads.map((q) => `subgroupAdd(walked.y${q}),`).join(' ')} subgroupAdd(walked.squares));
}`;
    default:
      return shared satisfies never;
  }
}

/** The norm before a product; absent: x as it is. */
export interface NormBefore {
  readonly eps: number;
}

const tilesOf = ({ rows }: Matrix, split: Split) => Math.ceil(rows / split.rows);

/** `body` sees lane, lanes, tile, at, and whether this invocation writes. */
function kernel(
  arrays: Arrays,
  split: Split,
  tiles: number,
  functions: string,
  body: string,
): Shader {
  const subgroup = split.shared === 'subgroup';
  const most = split.lanes;
  return {
    code: `${subgroup ? 'enable subgroups;' : ''}
${bindings(arrays)}
${walkStruct(split)}
${meet(split)}
${functions}
@compute @workgroup_size(${GROUP})
fn main(
  @builtin(local_invocation_index) at : u32,
  @builtin(workgroup_id) group : vec3<u32>,
  ${subgroup ? '@builtin(subgroup_size) lanes : u32, @builtin(subgroup_invocation_id) lane : u32,' : ''}
) {
  ${subgroup ? '' : `let lanes = ${most}u; let lane = at % ${most}u;`}
  let tile = ((group.y * ${LINE}u + group.x) * ${GROUP}u + at) / lanes;
  let writes = lane == 0u && tile < ${tiles}u;
  ${body}
}`,
    access: accessOf(arrays),
    workgroups: Math.ceil((tiles * most) / GROUP),
  };
}

const inverseRms = (cols: number, norm: NormBefore | null, squares: string) =>
  norm === null ? '1.0' : `inverseSqrt(${squares} / ${cols}.0 + ${norm.eps})`;

/** Statements for each row of a tile that exists; `value(r)` is the text of row r's value. */
const eachRow = (
  split: Split,
  rows: number,
  first: string,
  statement: (r: number, row: string) => string,
) =>
  range(split.rows)
    .map((r) => `{ let row = ${first} + ${r}u; if (row < ${rows}u) { ${statement(r, 'row')} } }`)
    .join('\n');

/**
 * result = r · W_n x for several matrices over one x, one after the other in `result`. Buffers: token,
 * x, each matrix's planes, result.
 */
export function productsShader(
  matrices: readonly Matrix[],
  norm: NormBefore | null,
  split: Split,
): Shader {
  const [{ cols } = { cols: 0 }] = matrices;
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ...matrices.flatMap((matrix, n) => named(matrix, `${n}`).arrays),
    ['result', 'f32', 'read_write'],
  ] as const;
  let tiles = 0;
  let base = 0;
  const walks: string[] = [];
  const stores: string[] = [];
  matrices.forEach((matrix, n) => {
    const end = tiles + tilesOf(matrix, split);
    const first = `(tile - ${tiles}u) * ${split.rows}u`;
    const here = `tile >= ${tiles}u && tile < ${end}u`;
    const store = (r: number, row: string) =>
      `result[${base}u + ${row}] = ${rowOf('met', r)} * scale;`;
    walks.push(`if (${here}) { walked = walk_${n}(${first}, lane, lanes); }`);
    stores.push(`if (writes && ${here}) { ${eachRow(split, matrix.rows, first, store)} }`);
    tiles = end;
    base += matrix.rows;
  });
  const functions = [
    ...matrices.map((matrix, n) => walk(matrix, `${n}`, split)),
    norm === null ? '' : squaresOf(cols, split),
  ].join('\n');
  const body = `
  var walked : Walk;
  ${walks.join('\n')}
  ${norm === null ? '' : `if (tile < ${tiles}u) { walked.squares = squaresOf(lane, lanes); }`}
  let met = meet(walked, lane, at);
  let scale = ${inverseRms(cols, norm, 'met.squares')};
  ${stores.join('\n')}`;
  return kernel(arrays, split, tiles, functions, body);
}

/**
 * result = residual + W x, and the same for the norm that follows: times its gain, the squares' sums
 * behind. Buffers: token, x, planes, residual, gain, result, normed.
 */
export function residualShader(matrix: Matrix, split: Split): Shader {
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ...named(matrix, '0').arrays,
    ['residual', 'f32', 'read'],
    ['gain', 'f32', 'read'],
    ['result', 'f32', 'read_write'],
    ['normed', 'f32', 'read_write'],
  ] as const;
  const { rows } = matrix;
  const store = (r: number, row: string) =>
    `let value = residual[${row}] + ${rowOf('met', r)}; result[${row}] = value; normed[${row}] = value * gain[${row}]; squares += value * value;`;
  const tiles = tilesOf(matrix, split);
  const body = `
  var walked : Walk;
  if (tile < ${tiles}u) { walked = walk_0(tile * ${split.rows}u, lane, lanes); }
  let met = meet(walked, lane, at);
  if (writes) {
    var squares = 0.0;
    ${eachRow(split, rows, `tile * ${split.rows}u`, store)}
    normed[${rows}u + tile] = squares;
  }`;
  return kernel(arrays, split, tiles, walk(matrix, '0', split), body);
}

/** result = silu(r G x) · r U x. Buffers: token, x, G's planes, U's planes, result. */
export function gatedShader(gate: Matrix, up: Matrix, norm: NormBefore, split: Split): Shader {
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ...named(gate, '0').arrays,
    ...named(up, '1').arrays,
    ['result', 'f32', 'read_write'],
  ] as const;
  const first = `tile * ${split.rows}u`;
  const store = (r: number, row: string) =>
    `let g = ${rowOf('gate', r)} * scale; result[${row}] = g / (1.0 + exp(-g)) * ${rowOf('up', r)} * scale;`;
  const functions = [
    walk(gate, '0', split),
    walk(up, '1', split),
    squaresOf(gate.cols, split),
  ].join('\n');
  const tiles = tilesOf(gate, split);
  const body = `
  var gates : Walk;
  var ups : Walk;
  if (tile < ${tiles}u) {
    gates = walk_0(${first}, lane, lanes);
    gates.squares = squaresOf(lane, lanes);
    ups = walk_1(${first}, lane, lanes);
  }
  let gate = meet(gates, lane, at);
  let up = meet(ups, lane, at);
  let scale = ${inverseRms(gate.cols, norm, 'gate.squares')};
  if (writes) { ${eachRow(split, gate.rows, first, store)} }`;
  return kernel(arrays, split, tiles, functions, body);
}

/**
 * result = the token's row of the embedding, and normed as in {@link residualShader}. Buffers: token,
 * planes, gain, result, normed.
 */
export function embedShader(matrix: Matrix, split: Split): Shader {
  const m = named(matrix, '0');
  const arrays = [
    ...m.arrays,
    ['gain', 'vec4<f32>', 'read'],
    ['result', 'vec4<f32>', 'read_write'],
    ['normed', 'f32', 'read_write'],
  ] as const;
  const steps = matrix.cols / 8; // eight values an invocation
  const parts = 8 / split.rows;
  const write = (at: string, value: string) => `
  result[${at}] = ${value};
  { let scaled = ${value} * gain[${at}];
    ${range(4)
      .map((k) => `normed[(${at}) * 4u + ${k}u] = scaled[${k}];`)
      .join(' ')} }`;
  return {
    code: `${bindings(arrays)}
${m.prelude}
@compute @workgroup_size(${GROUP})
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x >= ${steps}u) { return; }
  let chunk = id.x >> 2u;
  let j = id.x & 3u;
  let row = token.id;
  let total = vec4<f32>(1.0);
  ${m.open('_0', 'row')}
  let low = ${m.scaled('_0', `(${m.unplaced(m.low('_0'))})`)};
  let high = ${m.scaled('_0', `(${m.unplaced(m.high('_0'))})`)};
  ${write('chunk * 8u + j', 'low')}
  ${write('chunk * 8u + 4u + j', 'high')}
  let first = ${matrix.cols}u + id.x * ${parts}u;
  normed[first] = dot(low, low) + dot(high, high);
  ${parts === 2 ? 'normed[first + 1u] = 0.0;' : ''}
}`,
    access: accessOf(arrays),
    workgroups: Math.ceil(steps / GROUP),
  };
}
