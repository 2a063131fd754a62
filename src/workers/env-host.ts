/** Owns the environment worker: makes it, limits its time, and replaces it when it hangs or crashes. */

import { LabError, throwIfAborted } from '../errors.ts';
import type { World } from '../ports.ts';
import type { Json, TaskRef } from '../records.ts';
import { type Client, connect, type Port } from '../rpc.ts';
import type { EnvApi, WorldState } from './env-api.ts';

/** The parts of a Worker that are used; a fake one in tests. */
export interface WorkerLike extends Port {
  terminate(): void;
  onerror: ((event: ErrorEvent) => unknown) | null;
  onmessageerror: ((event: MessageEvent) => unknown) | null;
}

const episodeEnds =
  'The episode counts as an environment error; the next one gets a fresh environment.';

/** One environment worker at a time; every call has a time limit. */
export class EnvHost {
  readonly #make: () => WorkerLike;
  readonly #after: string;
  #worker: WorkerLike | null = null;
  #client: Client<EnvApi> | null = null;
  /** Calls without an answer yet, the oldest first. */
  readonly #asked = new Set<{ readonly what: string }>();

  /** `after` says in messages what follows when a worker hangs or crashes. */
  constructor(make: () => WorkerLike, after: string = episodeEnds) {
    this.#make = make;
    this.#after = after;
  }

  /**
   * Calls the worker. Throws `timeout` after `limitMs` (the worker is ended and a later call gets a
   * fresh one), `environment` when it crashes, `aborted` on abort, and what the world itself throws.
   * `what` names the call in messages, e.g. `step 3`.
   */
  async call<K extends keyof EnvApi['calls'] & string>(
    name: K,
    input: EnvApi['calls'][K]['input'],
    { limitMs, what, signal }: { limitMs: number; what: string; signal?: AbortSignal },
  ): Promise<EnvApi['calls'][K]['output']> {
    throwIfAborted(signal);
    const client = this.#alive();
    const asked = { what };
    this.#asked.add(asked);
    const giveUp = (error: LabError) => this.#end(client, error);
    const timer = setTimeout(() => {
      giveUp(
        new LabError(
          'timeout',
          `The environment gave no answer to ${what} within ${limitMs / 1000} s and was ended. ${this.#after}`,
          { what, limitMs },
        ),
      );
    }, limitMs);
    const onAbort = () => giveUp(new LabError('aborted', 'Stopped.'));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await client.call(name, input);
    } finally {
      this.#asked.delete(asked);
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  dispose(): void {
    if (this.#client) this.#end(this.#client, new LabError('aborted', 'Stopped.'));
  }

  #alive(): Client<EnvApi> {
    if (this.#client) return this.#client;
    const worker = this.#make();
    const client = connect<EnvApi>(worker);
    const crashed = (how: string) => {
      const [{ what } = { what: 'no call' }] = this.#asked;
      this.#end(
        client,
        new LabError('environment', `The environment ${how} during ${what}. ${this.#after}`, {
          what,
        }),
      );
    };
    worker.onerror = (event) =>
      crashed(`crashed (${event.message || 'its script could not be loaded'})`);
    worker.onmessageerror = () => crashed('sent an unreadable message');
    this.#worker = worker;
    this.#client = client;
    return client;
  }

  #end(client: Client<EnvApi>, error: LabError): void {
    client.fail(error);
    if (client !== this.#client) return; // a late report about a worker that was replaced already
    this.#worker?.terminate();
    this.#worker = null;
    this.#client = null;
  }
}

/** A world for one episode, behind a host. Its state lives here, so the worker may die at any time. */
export function hostedWorld(host: Pick<EnvHost, 'call'>, limitMs: number): World {
  let env = '';
  let state: Json = null;
  let steps = 0;
  const keep = (after: WorldState) => {
    state = after.state;
    return after.view;
  };
  return {
    async reset(task: TaskRef, signal) {
      env = task.env;
      steps = 0;
      return keep(await host.call('reset', { task }, { limitMs, what: 'the reset', signal }));
    },
    async step(action, signal) {
      steps++;
      return keep(
        await host.call('step', { env, state, action }, { limitMs, what: `step ${steps}`, signal }),
      );
    },
  };
}
