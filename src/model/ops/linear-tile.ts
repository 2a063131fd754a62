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

/** As the register kernels, one workgroup a tile: gx counts invocations, gy tiles of x. */
export function tileKernel(type: GgmlType): Kernel {
  const format = GPU_FORMATS[type];
  const { offset, scale, open, low, high } = format;
  const quads = TILE * 8; // of a chunk of every row
  const four = [0, 1, 2, 3];
  const value = (decoded: string) =>
    `${scale ? `${scale('_0')} * ` : ''}(${unplaced(format, decoded)})${offset ? ` + vec4<f32>(${offset('_0')})` : ''}`;
  return {
    key: `linear_tile_${type}`,
    inputs: { x: 4, ...planeInputs(type) },
    uniforms: UNIFORMS,
    workgroup: 64,
    prelude: `
${format.prelude}
var<workgroup> xs : array<vec4<f32>, ${quads}>;
var<workgroup> ws : array<vec4<f32>, ${quads}>;`,
    body: () => `
      let r0 = gx / 64u * ${TILE}u; let t0 = gy * ${TILE}u;
      let at = u32(localIndex);
      let mine = at / 8u * 4u; let theirs = at % 8u * 4u;
      ${four.map((t) => `var y${t} = vec4<f32>(0.0);`).join(' ')}
      for (var chunk = 0u; chunk < uniforms.chunks; chunk++) {
        workgroupBarrier();
        for (var i = at; i < ${quads}u; i += 64u) {
          let token = min(t0 + i / 8u, uniforms.tokens - 1u);
          xs[i] = x[token * uniforms.quads + chunk * 8u + i % 8u];
        }
        for (var i = at; i < ${TILE * 4}u; i += 64u) {
          let row = min(r0 + i / 4u, uniforms.rows - 1u);
          let j = i % 4u;
          ${open('_0', 'row', 'chunk')}
          ws[i / 4u * 8u + j] = ${value(low('_0'))};
          ws[i / 4u * 8u + 4u + j] = ${value(high('_0'))};
        }
        workgroupBarrier();
        for (var quad = 0u; quad < 8u; quad++) {
          ${four.map((r) => `let w${r} = ws[(mine + ${r}u) * 8u + quad];`).join(' ')}
          ${four
            .map(
              (t) => `{ let v = xs[(theirs + ${t}u) * 8u + quad];
          y${t} += vec4<f32>(${four.map((r) => `dot(w${r}, v)`).join(', ')}); }`,
            )
            .join('\n')}
        }
      }
      ${four
        .flatMap((t) =>
          four.map(
            (r) =>
              `if (r0 + mine + ${r}u < uniforms.rows && t0 + theirs + ${t}u < uniforms.tokens) { result[(t0 + theirs + ${t}u) * uniforms.width + uniforms.first + r0 + mine + ${r}u] = y${t}[${r}]; }`,
          ),
        )
        .join('\n')}`,
  };
}
