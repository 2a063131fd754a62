/**
 * WGSL of attention of many queries in which some read the cache's rows together: four queries in one
 * invocation's registers (`wide`), or a workgroup's queries from workgroup memory (`workgroup`). The contract
 * is in attention.ts.
 */

import { addRow, beginSums, firstRowOf, pieces, UNIFORMS } from './attention-wgsl.ts';
import type { Kernel } from './program.ts';

/** Queries of one head that an invocation of {@link wideKernel} computes. */
export const WIDE = 4;

/** Queries of one head, an invocation each, that share rows of the cache in {@link workgroupKernel}. */
const TILE_QUERIES = 32;

/** Rows of keys and values that lie in workgroup memory at a time: 8 KiB with heads of 64. */
const TILE_ROWS = 16;

/** gx = block · heads + head, where a block is {@link WIDE} queries in a row. */
export function wideKernel(headDim: number): Kernel {
  const { count, size, each } = pieces(headDim);
  const queries = Array.from({ length: WIDE }, (_, c) => `_${c}`);
  const all = (statement: (c: string) => string) => queries.map(statement).join('\n');
  const last = `position${queries.at(-1)}`;
  return {
    key: `attention_wide_${headDim}`,
    inputs: { q: count, k: count, v: count },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      let block = gx / uniforms.heads;
      if (block * ${WIDE}u >= uniforms.rows) { return; }
      let head = gx - block * uniforms.heads;
      let kvHead = head * uniforms.kvHeads / uniforms.heads;
      ${queries
        .map((c, i) => `let query${c} = min(block * ${WIDE}u + ${i}u, uniforms.rows - 1u);`)
        .join('\n')}
      ${all((c) => `${placeOf(c, size)} ${beginSums(headDim, c)}`)}
      for (var row = firstRow_0; row <= ${last}; row++) {
        let at = (row * uniforms.kvHeads + kvHead) * ${size}u;
        ${each((n) => `let k${n} = k[at + ${n}u]; let v${n} = v[at + ${n}u];`)}
        ${all((c) =>
          addVisible(
            headDim,
            c,
            (n) => `k${n}`,
            (n) => `v${n}`,
          ),
        )}
      }
      ${all((c) => each((n) => `result[own${c} + ${n}u] = sum${n}${c} / total${c};`))}`,
  };
}

/** gx = block · {@link TILE_QUERIES} + query of the block, gy = head. */
export function workgroupKernel(headDim: number): Kernel {
  const { count, type, size, each } = pieces(headDim);
  const shared = TILE_ROWS * size;
  return {
    key: `attention_workgroup_${headDim}`,
    inputs: { q: count, k: count, v: count },
    output: count,
    uniforms: UNIFORMS,
    workgroup: TILE_QUERIES,
    prelude: `
var<workgroup> ks : array<${type}, ${shared}>;
var<workgroup> vs : array<${type}, ${shared}>;
var<workgroup> span : vec2<u32>;`,
    body: () => `
      let head = min(gy, uniforms.heads - 1u);
      let kvHead = head * uniforms.kvHeads / uniforms.heads;
      let lane = u32(localIndex);
      let query_0 = min(gx, uniforms.rows - 1u);
      ${placeOf('_0', size)}
      ${beginSums(headDim, '_0')}
      if (lane == 0u) { span.x = firstRow_0; }
      if (lane == ${TILE_QUERIES - 1}u) { span.y = position_0; }
      let rows = workgroupUniformLoad(&span);
      for (var tile = rows.x; tile <= rows.y; tile += ${TILE_ROWS}u) {
        workgroupBarrier();
        for (var i = lane; i < ${shared}u; i += ${TILE_QUERIES}u) {
          let row = min(tile + i / ${size}u, rows.y);
          let at = (row * uniforms.kvHeads + kvHead) * ${size}u + i % ${size}u;
          ks[i] = k[at];
          vs[i] = v[at];
        }
        workgroupBarrier();
        for (var j = 0u; j < ${TILE_ROWS}u; j++) {
          let row = tile + j;
          let at = j * ${size}u;
          ${addVisible(
            headDim,
            '_0',
            (n) => `ks[at + ${n}u]`,
            (n) => `vs[at + ${n}u]`,
          )}
        }
      }
      if (gx < uniforms.rows && gy < uniforms.heads) {
        ${each((n) => `result[own_0 + ${n}u] = sum${n}_0 / total_0;`)}
      }`,
  };
}

/** Where query `query<c>` lies and which rows it sees. */
const placeOf = (c: string, size: number) => `
      let own${c} = (query${c} * uniforms.heads + head) * ${size}u;
      let position${c} = uniforms.start + query${c};
      ${firstRowOf(c)}`;

/** As {@link addRow}, for a row that this query may not see. */
function addVisible(...row: Parameters<typeof addRow>): string {
  const [, c] = row;
  return `if (row >= firstRow${c} && row <= position${c}) {
        ${addRow(...row)}
        }`;
}
