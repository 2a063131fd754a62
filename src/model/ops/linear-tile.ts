/**
 * WGSL of the product with a quantised matrix in which a workgroup shares what it reads: 32 matrix rows,
 * decoded once, meet 32 rows of x in workgroup memory, chunk after chunk. For adapters that have such
 * memory; rows of whole chunks only.
 */

import type { GgmlType } from '../../formats/quants.ts';
import { planeInputs, UNIFORMS } from './linear-kernels.ts';
import type { Kernel } from './program.ts';
import { GPU_FORMATS, unplaced } from './wgsl-decode.ts';

/** Rows of W and of x in a tile; 64 invocations compute four by four of it each. */
const TILE = 32;

/** vec4 of a chunk of every row. */
const QUADS = TILE * 8;

const FOUR = [0, 1, 2, 3];

/** As the register kernels, one workgroup a tile: gx counts invocations, gy tiles of x. */
export function tileKernel(type: GgmlType): Kernel {
  const { offset, scale, open, low, high } = GPU_FORMATS[type];
  const value = (decoded: string) =>
    `${scale ? `${scale('_0')} * ` : ''}(${unplaced(GPU_FORMATS[type], decoded)})${offset ? ` + vec4<f32>(${offset('_0')})` : ''}`;
  return tileOf(type, 'f32', {
    key: `linear_tile_${type}`,
    decode: `
          ${open('_0', 'row', 'chunk')}
          ws[i / 4u * 8u + j] = ${value(low('_0'))};
          ws[i / 4u * 8u + 4u + j] = ${value(high('_0'))};`,
    begin: '',
    meet: (t) => `y${t} += products;`,
    end: '',
  });
}

/**
 * The same with W's integers as float16, which are the same numbers there: half the workgroup memory for W. x stays
 * float32, since with x as float16 the tiny models' logits err by a hundredfold of what they may (docs/log.md).
 * Scale and offset meet a chunk's sums. Only for {@link holdsHalves}.
 */
export function halvesTileKernel(type: GgmlType): Kernel {
  const { offset, scale, open, low, high } = GPU_FORMATS[type];
  const exact = (decoded: string) => `vec4<f16>(${unplaced(GPU_FORMATS[type], decoded)})`;
  const d = scale ? scale('_0') : '1.0';
  const m = offset ? offset('_0') : '0.0';
  return tileOf(type, 'f16', {
    key: `linear_halves_${type}`,
    decode: `
          ${open('_0', 'row', 'chunk')}
          ws[i / 4u * 8u + j] = ${exact(low('_0'))};
          ws[i / 4u * 8u + 4u + j] = ${exact(high('_0'))};
          if (j == 0u) { scales[i / 4u] = ${d}; offsets[i / 4u] = ${m}; }`,
    begin: FOUR.map((t) => `var s${t} = vec4<f32>(0.0); var total${t} = 0.0;`).join(' '),
    meet: (t) => `s${t} += products;${offset ? ` total${t} += dot(v, vec4<f32>(1.0));` : ''}`,
    end: `
        let d = ${fourOf('scales')};
        let m = ${fourOf('offsets')};
        ${FOUR.map((t) => `y${t} += d * s${t} + m * total${t};`).join(' ')}`,
  });
}

/** Whether all decoded values of a type, before scale and offset, are float16 numbers. */
export function holdsHalves(type: GgmlType): boolean {
  return type === 'F16' || GPU_FORMATS[type].scale !== null;
}

const fourOf = (name: string) =>
  `vec4<f32>(${FOUR.map((r) => `${name}[mine + ${r}u]`).join(', ')})`;

/** What the two differ in: how W comes to workgroup memory, and what becomes of a token's four products. */
interface Steps {
  readonly key: string;
  readonly decode: string;
  readonly begin: string;
  readonly meet: (token: number) => string;
  readonly end: string;
}

function tileOf(
  type: GgmlType,
  number: 'f16' | 'f32',
  { key, decode, begin, meet, end }: Steps,
): Kernel {
  const wide = (value: string) => (number === 'f32' ? value : `vec4<f32>(${value})`);
  return {
    key,
    inputs: { x: 4, ...planeInputs(type) },
    uniforms: UNIFORMS,
    workgroup: 64,
    prelude: `
${number === 'f16' ? 'enable f16;' : ''}
${GPU_FORMATS[type].prelude}
var<workgroup> xs : array<vec4<f32>, ${QUADS}>;
var<workgroup> ws : array<vec4<${number}>, ${QUADS}>;
${number === 'f16' ? `var<workgroup> scales : array<f32, ${TILE}>; var<workgroup> offsets : array<f32, ${TILE}>;` : ''}`,
    body: () => `
      let r0 = gx / 64u * ${TILE}u; let t0 = gy * ${TILE}u;
      let at = u32(localIndex);
      let mine = at / 8u * 4u; let theirs = at % 8u * 4u;
      ${FOUR.map((t) => `var y${t} = vec4<f32>(0.0);`).join(' ')}
      for (var chunk = 0u; chunk < uniforms.chunks; chunk++) {
        workgroupBarrier();
        for (var i = at; i < ${QUADS}u; i += 64u) {
          let token = min(t0 + i / 8u, uniforms.tokens - 1u);
          xs[i] = x[token * uniforms.quads + chunk * 8u + i % 8u];
        }
        for (var i = at; i < ${TILE * 4}u; i += 64u) {
          let row = min(r0 + i / 4u, uniforms.rows - 1u);
          let j = i % 4u;
          ${decode}
        }
        workgroupBarrier();
        ${begin}
        for (var quad = 0u; quad < 8u; quad++) {
          ${FOUR.map((r) => `let w${r} = ${wide(`ws[(mine + ${r}u) * 8u + quad]`)};`).join(' ')}
          ${FOUR.map(
            (t) => `{ let v = xs[(theirs + ${t}u) * 8u + quad];
          let products = vec4<f32>(${FOUR.map((r) => `dot(w${r}, v)`).join(', ')});
          ${meet(t)} }`,
          ).join('\n')}
        }
        ${end}
      }
      ${FOUR.flatMap((t) =>
        FOUR.map(
          (r) =>
            `if (r0 + mine + ${r}u < uniforms.rows && t0 + theirs + ${t}u < uniforms.tokens) { result[(t0 + theirs + ${t}u) * uniforms.width + uniforms.first + r0 + mine + ${r}u] = y${t}[${r}]; }`,
        ),
      ).join('\n')}`,
  };
}
