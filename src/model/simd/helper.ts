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
 * Says `ready` and computes until its thread is ended or fails: does its part of each round, from the first on,
 * looks for the next for about 200 µs and then sleeps. Refers to nothing outside itself: Node starts a thread
 * from this function's text. The meeting is not in the module: V8 11.3 (Node 20) loses a local variable's
 * value over `memory.atomic.wait32` in code that its first compiler made.
 */
export function helpKernels({ module, memory, team, part }: HelperStart, ready: () => void): void {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const { perform } = exports as { perform?: (at: number) => void }; // team.as.ts
  // As in team.ts.
  const words = new Int32Array(memory.buffer, team, 64);
  const [round, pending, sleepers, fault] = [0, 16, 32, 48];
  const own = team + 256 + 192 * part;
  ready();
  for (let seen = 0; ; ) {
    for (let looks = 0; Atomics.load(words, round) === seen; looks++) {
      if (looks < 20_000) continue;
      looks = 0;
      Atomics.add(words, sleepers, 1);
      Atomics.wait(words, round, seen);
      Atomics.sub(words, sleepers, 1);
    }
    seen = Atomics.load(words, round);
    try {
      perform?.(own);
    } catch {
      Atomics.store(words, fault, 1); // its owner must not wait for it
    }
    if (Atomics.sub(words, pending, 1) === 1) Atomics.notify(words, pending);
  }
}
