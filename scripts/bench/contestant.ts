/** What the bench measures, and what a contestant is: something that reads a prompt, decodes and may train. */

/** The same work for everyone. */
export interface Work {
  /** Tokens of the prompt and tokens decoded after it. */
  readonly prompt: number;
  readonly decode: number;
  /** Tokens of the trained text; 0 leaves training out. */
  readonly train: number;
  /** Steps of an episode whose first and last are timed; 0 leaves them out. */
  readonly steps: number;
}

/** One measurement; null where the contestant cannot say. */
export interface Measured {
  readonly prefillPerSecond: number;
  readonly decodePerSecond: number;
  /** By processor time of all threads: what the wall clock of a busy machine hides. */
  readonly decodePerProcessorSecond: number | null;
  readonly updateSeconds: number | null;
  /** A step reads and decodes the same few tokens wherever it stands in an episode. */
  readonly firstStepSeconds: number | null;
  readonly lastStepSeconds: number | null;
  readonly dispatchesPerToken: number | null;
  readonly submitsPerToken: number | null;
  /** Bytes of GPU buffers; of the JavaScript heap, and of WASM's where that holds the model. */
  readonly gpuBytes: number | null;
  readonly heapBytes: number | null;
  /** What a decoded token reads of weights and cache, and the least: the file's tensors and the cache. */
  readonly readBytesPerToken: number | null;
  readonly leastBytesPerToken: number | null;
}

/** Nothing measured but the two speeds. */
export const UNKNOWN = {
  decodePerProcessorSecond: null,
  updateSeconds: null,
  firstStepSeconds: null,
  lastStepSeconds: null,
  dispatchesPerToken: null,
  submitsPerToken: null,
  gpuBytes: null,
  heapBytes: null,
  readBytesPerToken: null,
  leastBytesPerToken: null,
} as const;

export interface Contestant {
  /** What it really ran on, in its own words. */
  readonly device: string;
  measure(work: Work): Promise<Measured>;
}
