/** The sizes of the tiles in which the vector kernels keep keys and values; kv-tiles.as.ts has their layout. */

/** Bits of a kept number: float32, or integers with a scale for each position and head. */
export type CacheBits = 16 | 32;

/** Positions of a tile. */
export const TILE = 64;

/** Bytes of one head's tile, keys and values. */
export function tileBytes(headDim: number, bits: CacheBits): number {
  return bits === 32 ? 2 * 4 * TILE * headDim : 2 * TILE * (2 * headDim + 4);
}

/** Bytes of all heads' tiles for so many positions. */
export function tilesBytes(
  positions: number,
  kvHeads: number,
  headDim: number,
  bits: CacheBits,
): number {
  return Math.ceil(positions / TILE) * kvHeads * tileBytes(headDim, bits);
}
