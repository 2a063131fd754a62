/**
 * Lets threads share the kernels' long calls. A call is cut by its outputs, so that every sum keeps its
 * order: results have the same bits whatever the number of threads. team.as.ts is the other half.
 */

import { LabError } from '../../errors.ts';
import { type SimdKernels, sharedKernels } from './exports.ts';
import type { Helper } from './helper.ts';

type SharedKernel = (typeof sharedKernels)[number];

/** The number of no kernel. */
const NOTHING = sharedKernels.length;

/** How a call of a kernel is cut. */
interface Sharing<Args> {
  /** About how many multiply-adds of a product take as long as the whole call. */
  readonly work: (args: Args) => number;
  /** Which arguments are scratch, and their bytes: each thread has its own. */
  readonly scratch?: (args: Args) => readonly (readonly [argument: number, bytes: number])[];
  /** Cuts lie at multiples of it. */
  readonly unit?: number;
  /** Where the first `share` (0 to 1) of the work ends, when not at that share of the range. */
  readonly cut?: (args: Args, share: number) => number;
}

const TILE: readonly (readonly [number, number])[] = [[5, 128]];

const SHARING: { readonly [K in SharedKernel]: Sharing<Parameters<SimdKernels[K]>> } = {
  nibblesTimes1: {
    work: ([, , , , , , rows, blocks]) => 32 * rows * blocks,
    scratch: () => TILE,
  },
  nibblesTimes4: {
    work: ([, , , , , , , tokens, rows, blocks]) => 32 * tokens * rows * blocks,
    scratch: ([, , , , , , , , , blocks]) => [...TILE, [6, 320 * blocks]],
  },
  bytesTimes1: {
    work: ([, , , , , , rows, blocks, pairs]) => 2 * rows * blocks * pairs,
    scratch: () => TILE,
  },
  bytesTimes4: {
    work: ([, , , , , , tokens, rows, blocks, pairs]) => 2 * tokens * rows * blocks * pairs,
    scratch: () => TILE,
  },
  floatsTimes1: {
    work: ([, , , , rows, cols]) => 2 * rows * cols,
    scratch: () => [[3, 128]],
    unit: 2, // panels are taken by twos
  },
  floatsTimes4: {
    work: ([, , , , tokens, rows, cols]) => 2 * tokens * rows * cols,
    scratch: () => [[3, 128]],
  },
  transposedBlocks: {
    work: ([, , , , tokens, rows, cols]) => tokens * rows * cols,
    scratch: ([, , , , tokens]) => [[10, transposedBytes('blocks', tokens)]],
  },
  transposedFloats: {
    work: ([, , , , tokens, rows, cols]) => 2 * tokens * rows * cols,
    scratch: ([, , , , tokens]) => [[8, transposedBytes('floats', tokens)]],
    unit: 32, // columns are decoded by so many
  },
  attention: {
    work: ([, , , , rows, , , headDim, start, , , , begin, end]) =>
      6 * headDim * (end - begin) * (start + rows / 2),
    scratch: ([, , , , , , , headDim]) => [[3, attentionBytes(headDim)]],
    cut: attentionCut,
  },
  attentionQueries: {
    work: ([, , , , , , , , width, , , headDim, , , , , from, to]) =>
      7 * headDim * width * (to - from),
    scratch: ([, , , , , , , , , , , headDim]) => [[7, attentionQueriesBytes(headDim)]],
  },
  attentionKeys: {
    work: ([, , , , , , , heads, kvHeads, headDim, , , positions, from, to]) =>
      (6 * heads * headDim * positions * (to - from)) / kvHeads,
  },
  rmsNorm: { work: ([, , , cols, , from, to]) => 10 * cols * (to - from) },
  rmsNormBackward: { work: ([, , , , cols, , from, to]) => 20 * cols * (to - from) },
  swiglu: { work: ([, , , from, to]) => 40 * (to - from), unit: 4 },
  geglu: { work: ([, , , from, to]) => 50 * (to - from), unit: 4 },
  swigluBackward: { work: ([, , , , , from, to]) => 60 * (to - from), unit: 4 },
  expSums: { work: ([, , cols, from, to]) => 60 * cols * (to - from) },
  loraAdd: {
    work: ([, , , , , inputs, rank, outputs, , from, to]) =>
      4 * rank * (inputs + outputs) * (to - from),
    scratch: ([, , , , , , rank]) => [[4, 4 * rank]],
  },
  quantizeRows: {
    work: ([, , , , , cols, , , from, to]) => 20 * cols * (to - from),
    unit: 4, // tokens lie in tiles of four
  },
  loraTokens: {
    work: ([, , , , , , , , inputs, rank, outputs, , from, to]) =>
      4 * rank * (2 * inputs + outputs) * (to - from),
    scratch: ([, , , , , , , , inputs, rank]) => [[7, 4 * inputs * rank]],
  },
  loraColumns: {
    work: ([, , , tokens, , rank, , , from, to]) => 4 * tokens * rank * (to - from),
    unit: 16, // a cache line of each row
  },
};

/** Scratch of the transposed products for one thread; the .as.ts files say what for. */
export function transposedBytes(form: 'blocks' | 'floats', tokens: number): number {
  const padded = Math.ceil(tokens / 4) * 4;
  return form === 'floats' ? 131072 + 4096 * padded : 25360 + 2112 * padded;
}

/** Scratch of attention: two queries' scores, constants, and 128 queries' states and 16-bit integers with a scale. */
export function attentionBytes(headDim: number): number {
  return 2 * TILE_BYTES + 128 + 16 + 128 * (8 + 4 + 2 * headDim);
}

/** Scratch of attention's gradient beside probabilities and their gradients: a turned tile. */
export function attentionQueriesBytes(headDim: number): number {
  return headDim * TILE_BYTES;
}

/** A row of a tile of 64 keys, as in attention-tile.as.ts. */
const TILE_BYTES = 256;

/**
 * A query sees all rows before it, so later ones take longer: the first m of a head's queries take
 * m (start + 1) + m² / (2 group) rows.
 */
function attentionCut(
  [, , , , rows, heads, kvHeads, , start, , , , begin, end]: Parameters<SimdKernels['attention']>,
  share: number,
): number {
  const group = heads / kvHeads;
  const queries = rows * group;
  const whole = queries * (start + 1) + (queries * queries) / (2 * group);
  const wanted = share * kvHeads * whole;
  const head = Math.floor(wanted / whole);
  const rest = wanted - head * whole;
  const ahead = start + 1;
  const within = group * (Math.sqrt(ahead * ahead + (2 * rest) / group) - ahead);
  return Math.min(end, Math.max(begin, head * queries + Math.round(within)));
}

/** A call shorter than this is not worth the meeting, about 4 µs; nor one shorter than that the waking. */
const WORTH_MEETING = 100_000;
const WORTH_WAKING = 4_000_000;
/** Work ahead for which helpers are woken before its many shorter calls, about a millisecond. */
const WORTH_A_CALL_AHEAD = 20_000_000;

/**
 * Places of the block's words, in 32-bit words: each has a cache line of its own. After them come the parts,
 * one a thread: a kernel's number and its arguments, as float64. All as in helper.ts.
 */
const ROUND = 0;
const PENDING = 16;
const SLEEPERS = 32;
const FAULT = 48;
const PARTS_BYTES = 256;
const PART_BYTES = 192;

/** Looks at the helpers' word before the caller sleeps too, where it may. */
const LOOKS = 20_000;

/** Bytes of a team's block. */
export function teamBytes(threads: number): number {
  return PARTS_BYTES + PART_BYTES * threads;
}

/** A run of memory that a team may use as scratch. */
interface Room extends Disposable {
  readonly pointer: number;
  readonly bytes: number;
}

/** The caller's thread and its helpers. */
export class Team {
  /** The kernels, shared where a call is long. */
  readonly kernels: SimdKernels;
  readonly #alone: SimdKernels;
  readonly #words: Int32Array;
  readonly #parts: Float64Array;
  readonly #allocate: (bytes: number) => Room;
  readonly #sleeps: boolean;
  #helpers: readonly Helper[];
  #used: number;
  #all = false;
  #room: Room | null = null;

  /** `block`: address of {@link teamBytes} zeros that the helpers look at; they are ready. */
  constructor(
    alone: SimdKernels,
    memory: WebAssembly.Memory,
    block: number,
    helpers: readonly Helper[],
    allocate: (bytes: number) => Room,
  ) {
    this.#alone = alone;
    this.#words = new Int32Array(memory.buffer, block, PARTS_BYTES / 4);
    const places = (PART_BYTES * (helpers.length + 1)) / 8;
    this.#parts = new Float64Array(memory.buffer, block + PARTS_BYTES, places);
    this.#helpers = helpers;
    this.#used = helpers.length;
    this.#allocate = allocate;
    this.#sleeps = maySleep(this.#words);
    const shared = sharedKernels.map((name, number) => [name, this.#shared(name, number)] as const);
    this.kernels = { ...alone, ...Object.fromEntries(shared) };
  }

  /** Threads that compute, the caller's included. */
  get threads(): number {
    return this.#used + 1;
  }

  /** Uses at most so many threads from now on, for comparisons; of `all` calls, or of long ones only. */
  limit(threads: number, calls: 'long' | 'all' = 'long'): void {
    this.#used = Math.min(this.#helpers.length, Math.max(0, threads - 1));
    this.#all = calls === 'all';
  }

  /**
   * The kernels for so many multiply-adds in many calls, of which not each is worth waking helpers for: woken
   * now, or left out, where even to ask each call for its length would take a part of its time.
   */
  kernelsFor(work: number): SimdKernels {
    if (this.#all) return this.kernels;
    if (this.#used === 0 || work < WORTH_A_CALL_AHEAD) return this.#alone;
    if (this.#asleep()) Atomics.notify(this.#words, ROUND);
    return this.kernels;
  }

  /** Ends the helpers; from now on the caller is alone. */
  stop(): void {
    for (const helper of this.#helpers) helper.stop();
    this.#helpers = [];
    this.#used = 0;
    this.#room?.[Symbol.dispose]();
    this.#room = null;
  }

  #asleep(): boolean {
    return Atomics.load(this.#words, SLEEPERS) > 0;
  }

  #shared(name: SharedKernel, number: number): (...args: number[]) => void {
    // Each kernel's own arguments, as the callers' type has checked them.
    const sharing = SHARING[name] as Sharing<readonly number[]>;
    const alone = this.#alone[name] as (...args: readonly number[]) => void;
    return (...args) => {
      const length = (args.at(-1) ?? 0) - (args.at(-2) ?? 0);
      if (this.#used > 0 && length > (sharing.unit ?? 1) && this.#pays(sharing.work(args))) {
        this.#together(number, alone, sharing, args);
      } else alone(...args);
    };
  }

  #pays(work: number): boolean {
    if (this.#all) return true;
    return work >= WORTH_WAKING || (work >= WORTH_MEETING && !this.#asleep());
  }

  #together(
    number: number,
    alone: (...args: readonly number[]) => void,
    sharing: Sharing<readonly number[]>,
    args: number[],
  ): void {
    const cuts = cutsOf(sharing, args, this.threads);
    const scratch = sharing.scratch?.(args) ?? [];
    let free = this.#roomFor(scratch.reduce((sum, [, bytes]) => sum + aligned(bytes), 0));
    for (let part = 1; part <= this.#helpers.length; part++) {
      const at = (part * PART_BYTES) / 8;
      this.#parts[at] = part <= this.#used ? number : NOTHING;
      if (part > this.#used) continue;
      this.#parts.set(args, at + 1);
      for (const [argument, bytes] of scratch) {
        this.#parts[at + 1 + argument] = free;
        free += aligned(bytes);
      }
      this.#parts[at + args.length - 1] = cuts[part] as number; // one cut more than there are parts
      this.#parts[at + args.length] = cuts[part + 1] as number;
    }
    this.#begin();
    alone(...args.slice(0, -2), cuts[0] as number, cuts[1] as number);
    this.#finish();
    if (Atomics.load(this.#words, FAULT) === 0) return;
    this.stop();
    throw new LabError(
      'internal',
      'A thread of the WASM kernels failed, and what it computed is missing. Load the model again; it will run on one thread.',
    );
  }

  #begin(): void {
    Atomics.store(this.#words, PENDING, this.#helpers.length);
    Atomics.add(this.#words, ROUND, 1);
    if (this.#asleep()) Atomics.notify(this.#words, ROUND);
  }

  /** Returns when all helpers have done their parts. */
  #finish(): void {
    for (let looks = 0; ; looks++) {
      const left = Atomics.load(this.#words, PENDING);
      if (left <= 0) return;
      if (looks < LOOKS || !this.#sleeps) continue;
      looks = 0;
      Atomics.wait(this.#words, PENDING, left);
    }
  }

  /** Address of `bytes` for each helper. */
  #roomFor(bytes: number): number {
    const needed = bytes * this.#used;
    if (this.#room === null || this.#room.bytes < needed) {
      this.#room?.[Symbol.dispose]();
      this.#room = null;
      this.#room = this.#allocate(Math.max(needed, 2 ** 16));
    }
    return this.#room.pointer;
  }
}

/** Where the parts of a call begin, and where the last ends. */
function cutsOf(
  { unit = 1, cut }: Sharing<readonly number[]>,
  args: readonly number[],
  parts: number,
): number[] {
  const from = args.at(-2) ?? 0;
  const to = args.at(-1) ?? 0;
  return Array.from({ length: parts + 1 }, (_, i) => {
    if (i === parts) return to;
    if (cut) return cut(args, i / parts);
    return Math.min(to, from + unit * Math.round(((to - from) * i) / (unit * parts)));
  });
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}

/** Whether this thread may wait for another: a page's own may not. */
function maySleep(words: Int32Array): boolean {
  try {
    Atomics.wait(words, ROUND, -1, 0);
    return true;
  } catch {
    return false;
  }
}
