/** What a person asks of the episode in flight, kept until the loop comes to ask for it. */

import { type LabError, throwIfAborted } from '../errors.ts';
import type { Order } from '../ports.ts';
import type { Control } from './api.ts';

/** One episode's pause state and pending orders. */
export class EpisodeControl {
  readonly #stop = new AbortController();
  readonly #orders: Order[] = [];
  #paused = false;
  #steps = 0;
  #wake = () => {};

  /** Fires on `stop`, and on {@link fail} with the failure as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends the episode for a reason that is not a person's: a lost device. */
  fail(error: LabError): void {
    this.#stop.abort(error);
  }

  apply(command: Control): void {
    switch (command) {
      case 'pause':
      case 'resume':
        this.#paused = command === 'pause';
        this.#steps = 0; // asked for before, and not wanted any more
        break;
      case 'step':
        this.#paused = true;
        this.#steps++;
        break;
      case 'stop':
        this.#stop.abort();
        break;
      case 'update_now':
      case 'roll_back_now':
        this.#orders.push(command);
        break;
      default:
        command satisfies never;
    }
    this.#wake();
  }

  /** The next order; waits while paused, telling `onPaused` once. Throws `aborted` on stop. */
  async next(signal: AbortSignal, onPaused: () => void): Promise<Order> {
    let told = false;
    for (;;) {
      throwIfAborted(signal);
      const order = this.#orders.shift();
      if (order) return order;
      if (!this.#paused) return 'continue';
      if (this.#steps > 0) {
        this.#steps--;
        return 'continue';
      }
      if (!told) onPaused();
      told = true;
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          signal.removeEventListener('abort', this.#wake);
          resolve();
        };
        signal.addEventListener('abort', this.#wake);
      });
    }
  }
}
