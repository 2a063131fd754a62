/** Starts, restarts and reaches the engine worker. Knows nothing of what the page shows. */

import { LabError } from '../errors.ts';
import { type Client, connect } from '../rpc.ts';
import type { EngineApi } from '../workers/api.ts';
import { engine as say } from './strings.ts';

interface RunningEngine {
  readonly worker: Worker;
  readonly client: Client<EngineApi>;
}

let running: RunningEngine | null = null;

/** Marks errors that only say that the engine is down: its own notice tells it already. */
export const engineDown = { engine: 'down' } as const;

/**
 * A fresh engine; an earlier one is ended and what it still owed is refused. `onFailure` is told
 * when the worker does not start or dies.
 */
export function startEngine(onFailure: (error: LabError) => void): Client<EngineApi> {
  endEngine(say.restarted);
  const worker = new Worker(new URL('../workers/engine.worker.ts', import.meta.url), {
    type: 'module',
    name: 'engine',
  });
  const client = connect<EngineApi>(worker);
  const engine = { worker, client };
  running = engine;
  const fail = (found: string) => {
    if (running !== engine) return;
    running = null;
    const error = new LabError('internal', found, engineDown);
    worker.terminate();
    client.fail(error);
    onFailure(error);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // A worker whose module cannot be loaded reports an event without a message.
    fail(event.message ? say.died(event.message) : say.notStarted);
  };
  worker.onmessageerror = () => fail(say.unreadable);
  return client;
}

/** The engine in use. Throws where there is none: it failed, and has not been restarted. */
export function engine(): Client<EngineApi> {
  if (running) return running.client;
  throw new LabError('internal', say.notRunning, engineDown);
}

function endEngine(why: string): void {
  if (!running) return;
  running.worker.terminate();
  running.client.fail(new LabError('aborted', why));
  running = null;
}
