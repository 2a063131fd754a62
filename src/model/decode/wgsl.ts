/**
 * WGSL of one decoded token, few kernels a layer, all sizes written in as constants. A matrix-vector
 * product adds the norm before it and what follows it: y = f(r · W (x g)), r = 1 / sqrt(mean(x²) + eps),
 * where r comes out of the same walk over x. Knows no buffers.
 */

import type { GgmlType } from '../../formats/quants.ts';
import { GPU_FORMATS } from '../ops/wgsl-decode.ts';

/** A kernel as a device compiles it; buffers are bound in the order of `buffers`. */
export interface Shader {
  readonly code: string;
  /** How each buffer after the token is used. */
  readonly access: readonly Access[];
  readonly workgroups: number;
}

export type Access = 'read' | 'read_write';

/** Invocations of a workgroup. */
const GROUP = 64;

/** Matrix rows that share one walk over x. */
const ROWS = 4;

/**
 * How many invocations share a walk over x, each with every n-th chunk of 32: 1 works in registers
 * alone, more meet in workgroup memory. Which is fastest differs by adapter: measure.
 */
export const LANES = [1, 8, 32] as const;
export type Lanes = (typeof LANES)[number];

export interface Matrix {
  readonly type: GgmlType;
  readonly rows: number;
  readonly cols: number; // a multiple of 32
}

/** The token's own numbers. */
export const TOKEN = `struct Token { id : u32, position : u32 }
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

/** A matrix's arrays and functions under names of its own. */
function named(matrix: Matrix, suffix: string) {
  const format = GPU_FORMATS[matrix.type];
  const own = [...format.prelude.matchAll(/fn (\w+)/g)].map(([, name]) => name);
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
    open: (s: string, row: string) => rename(format.open(s, row, 'chunk')),
    low: (s: string) => rename(format.low(s)),
    high: (s: string) => rename(format.high(s)),
    scaled: (s: string, sum: string) =>
      `${scale ? `${rename(scale(s))} * ${sum}` : sum}${offset ? ` + ${rename(offset(s))} * total` : ''}`,
  };
}

/** walk_S(first, lane): four rows' sums over this lane's chunks, and Σ x² over them. */
function walk(matrix: Matrix, suffix: string, gained: boolean, lanes: Lanes): string {
  const m = named(matrix, suffix);
  const rs = [0, 1, 2, 3];
  const quad = (first: string) => `x[chunk * 8u + ${first}]`;
  const gain = (first: string) => (gained ? ` * gain[chunk * 8u + ${first}]` : '');
  return `
${m.prelude}
fn walk_${suffix}(first : u32, lane : u32) -> Walk {
  var walked = Walk(vec4<f32>(0.0), 0.0);
  ${rs.map((r) => `let row${r} = min(first + ${r}u, ${matrix.rows - 1}u);`).join(' ')}
  for (var chunk = lane; chunk < ${matrix.cols / 32}u; chunk += ${lanes}u) {
    ${rs.map((r) => m.open(`_${r}`, `row${r}`)).join('\n')}
    var sum = vec4<f32>(0.0);
    var total = 0.0;
    for (var j = 0u; j < 4u; j++) {
      let a = ${quad('j')};
      let b = ${quad('4u + j')};
      ${gained ? 'walked.squares += dot(a, a) + dot(b, b);' : ''}
      let xLow = a${gain('j')};
      let xHigh = b${gain('4u + j')};
      total += dot(xLow + xHigh, vec4<f32>(1.0));
      ${rs.map((r) => `sum[${r}] += dot(${m.low(`_${r}`)}, xLow) + dot(${m.high(`_${r}`)}, xHigh);`).join('\n')}
    }
    walked.y += vec4<f32>(${rs.map((r) => m.scaled(`_${r}`, `sum[${r}]`)).join(', ')});
  }
  return walked;
}`;
}

const WALK = 'struct Walk { y : vec4<f32>, squares : f32 }';

/** meet(walked, lane, at): the sum over the lanes of a walk, for lane 0. Called by all or none. */
function meet(lanes: Lanes): string {
  if (lanes === 1) return 'fn meet(walked : Walk, lane : u32, at : u32) -> Walk { return walked; }';
  return `
var<workgroup> shared_y : array<vec4<f32>, ${GROUP}>;
var<workgroup> shared_squares : array<f32, ${GROUP}>;
fn meet(walked : Walk, lane : u32, at : u32) -> Walk {
  workgroupBarrier();
  shared_y[at] = walked.y;
  shared_squares[at] = walked.squares;
  workgroupBarrier();
  var sum = walked;
  if (lane == 0u) {
    for (var i = 1u; i < ${lanes}u; i++) {
      sum.y += shared_y[at + i];
      sum.squares += shared_squares[at + i];
    }
  }
  return sum;
}`;
}

/** The norm before a product; absent: x as it is. */
export interface NormBefore {
  readonly eps: number;
}

const tilesOf = ({ rows }: Matrix) => Math.ceil(rows / ROWS);

function productMain(tiles: number, lanes: Lanes, body: string): string {
  return `
@compute @workgroup_size(${GROUP})
fn main(@builtin(local_invocation_index) at : u32, @builtin(workgroup_id) group : vec3<u32>) {
  let lane = at % ${lanes}u;
  let tile = group.x * ${GROUP / lanes}u + at / ${lanes}u;
  let writes = lane == 0u && tile < ${tiles}u;
  ${body}
}`;
}

const groupsFor = (tiles: number, lanes: Lanes) => Math.ceil((tiles * lanes) / GROUP);

const inverseRms = (cols: number, norm: NormBefore | null, squares: string) =>
  norm === null ? '1.0' : `inverseSqrt(${squares} / ${cols}.0 + ${norm.eps})`;

/** Writes the rows of a tile that exist, `value(r)` each. */
const store = (rows: number, first: string, base: number, value: string) => `
  for (var r = 0u; r < ${ROWS}u; r++) {
    let row = ${first} + r;
    if (row < ${rows}u) { result[${base}u + row] = ${value}; }
  }`;

/**
 * result = r · W_n (x g) for several matrices over one x, one after the other in `result`. Buffers: token,
 * x, [gain,] each matrix's planes, result.
 */
export function productsShader(
  matrices: readonly Matrix[],
  norm: NormBefore | null,
  lanes: Lanes,
): Shader {
  const gained = norm !== null;
  const [{ cols } = { cols: 0 }] = matrices;
  const total = matrices.reduce((sum, matrix) => sum + tilesOf(matrix), 0);
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ...(gained ? [['gain', 'vec4<f32>', 'read'] as const] : []),
    ...matrices.flatMap((matrix, n) => named(matrix, `${n}`).arrays),
    ['result', 'f32', 'read_write'],
  ] as const;
  let before = 0;
  let base = 0;
  const walks: string[] = [];
  const stores: string[] = [];
  matrices.forEach((matrix, n) => {
    const end = before + tilesOf(matrix);
    const first = `(tile - ${before}u) * ${ROWS}u`;
    walks.push(`if (tile >= ${before}u && tile < ${end}u) { walked = walk_${n}(${first}, lane); }`);
    stores.push(
      `if (writes && tile >= ${before}u && tile < ${end}u) { ${store(matrix.rows, first, base, 'y[r]')} }`,
    );
    before = end;
    base += matrix.rows;
  });
  const body = `
  var walked = Walk(vec4<f32>(0.0), 0.0);
  ${walks.join('\n')}
  let met = meet(walked, lane, at);
  let y = met.y * ${inverseRms(cols, norm, 'met.squares')};
  ${stores.join('\n')}`;
  return {
    code: [
      bindings(arrays),
      WALK,
      ...matrices.map((matrix, n) => walk(matrix, `${n}`, gained, lanes)),
      meet(lanes),
      productMain(total, lanes, body),
    ].join('\n'),
    access: accessOf(arrays),
    workgroups: groupsFor(total, lanes),
  };
}

/** result = residual + W x. Buffers: token, x, planes, residual, result. */
export function residualShader(matrix: Matrix, lanes: Lanes): Shader {
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ...named(matrix, '0').arrays,
    ['residual', 'f32', 'read'],
    ['result', 'f32', 'read_write'],
  ] as const;
  const tiles = tilesOf(matrix);
  const body = `
  let met = meet(walk_0(tile * ${ROWS}u, lane), lane, at);
  if (writes) { ${store(matrix.rows, `tile * ${ROWS}u`, 0, 'residual[row] + met.y[r]')} }`;
  return {
    code: [
      bindings(arrays),
      WALK,
      walk(matrix, '0', false, lanes),
      meet(lanes),
      productMain(tiles, lanes, body),
    ].join('\n'),
    access: accessOf(arrays),
    workgroups: groupsFor(tiles, lanes),
  };
}

/** result = silu(r G (x g)) · r U (x g). Buffers: token, x, gain, G's planes, U's planes, result. */
export function gatedShader(gate: Matrix, up: Matrix, norm: NormBefore, lanes: Lanes): Shader {
  const arrays = [
    ['x', 'vec4<f32>', 'read'],
    ['gain', 'vec4<f32>', 'read'],
    ...named(gate, '0').arrays,
    ...named(up, '1').arrays,
    ['result', 'f32', 'read_write'],
  ] as const;
  const tiles = tilesOf(gate);
  const body = `
  let gate = meet(walk_0(tile * ${ROWS}u, lane), lane, at);
  let up = meet(walk_1(tile * ${ROWS}u, lane), lane, at);
  let r = ${inverseRms(gate.cols, norm, 'gate.squares')};
  let g = gate.y * r;
  let y = g / (vec4<f32>(1.0) + exp(-g)) * up.y * r;
  if (writes) { ${store(gate.rows, `tile * ${ROWS}u`, 0, 'y[r]')} }`;
  return {
    code: [
      bindings(arrays),
      WALK,
      walk(gate, '0', true, lanes),
      walk(up, '1', true, lanes),
      meet(lanes),
      productMain(tiles, lanes, body),
    ].join('\n'),
    access: accessOf(arrays),
    workgroups: groupsFor(tiles, lanes),
  };
}

/** result = the token's row of the embedding. Buffers: token, planes, result. */
export function embedShader(matrix: Matrix): Shader {
  const m = named(matrix, '0');
  const arrays = [...m.arrays, ['result', 'vec4<f32>', 'read_write']] as const;
  const steps = matrix.cols / 8;
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
  result[chunk * 8u + j] = ${m.scaled('_0', m.low('_0'))};
  result[chunk * 8u + 4u + j] = ${m.scaled('_0', m.high('_0'))};
}`,
    access: accessOf(arrays),
    workgroups: Math.ceil(steps / GROUP),
  };
}
