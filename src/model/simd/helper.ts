/** A thread that helps the kernels: what it is given, and all that it does. */

/** What a helper needs to begin. */
export interface HelperStart {
  /** The kernels' module, which imports a shared memory. */
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Address of the team's block in that memory (see team.ts), and which of its parts is the helper's. */
  readonly team: number;
  readonly part: number;
}

/** A thread as its owner sees it. */
export interface Helper {
  /** Rejects when it could not begin. */
  readonly ready: Promise<void>;
  stop(): void;
}

/** What a page's worker and Node's threads differ in. */
export interface ThreadHost {
  /** How many threads compute, the caller's own included. */
  readonly count: number;
  /** The bytes of a .wasm file, given as in BackendEnv. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly start: (start: HelperStart) => Helper;
}

/** More threads than that gain little: a token's products are short, and its page wants a core too. */
const MOST_THREADS = 4;

/** How many threads compute where nobody says, on a machine of `cores`. */
export function defaultThreads(cores: number): number {
  return Math.max(1, Math.min(cores, MOST_THREADS));
}

/**
 * Says `ready` and computes until its thread is ended or fails. Refers to nothing outside itself: Node
 * starts a thread from this function's text.
 */
export function helpKernels({ module, memory, team, part }: HelperStart, ready: () => void): void {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const { help } = exports as { help?: (team: number, part: number) => void }; // team.as.ts
  ready();
  try {
    help?.(team, part);
  } catch {
    // Its owner must not wait for it: team.ts reads the fault, team.as.ts counts who is pending.
    const words = new Int32Array(memory.buffer, team, 48);
    Atomics.store(words, 33, 1);
    Atomics.sub(words, 16, 1);
    Atomics.notify(words, 16);
  }
}
