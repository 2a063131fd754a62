/**
 * When events were recorded. The loop reads no clock; whoever keeps its events may stamp them, and whoever
 * compares runs takes the stamps off: equal manifests give streams that are equal but for them.
 */

import type { EpisodeEvent } from './records.ts';

/** Stamps the events of one run, in order. `now` is in milliseconds since 1970. */
export class EventClock {
  readonly #now: () => number;
  #last: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#last = now();
  }

  /** The event with its time; the next one is measured from here. */
  stamp<E extends EpisodeEvent>(event: E): E {
    const now = this.#now();
    const seconds = Math.max(0, now - this.#last) / 1000;
    this.#last = now;
    return { ...event, clock: { at: new Date(now).toISOString(), seconds } };
  }

  /** What follows is measured from here: what went before was no part of the run. */
  restart(): void {
    this.#last = this.#now();
  }

  /** Waits for something whose time counts for no event. */
  async leaveOut<T>(wait: Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await wait;
    } finally {
      this.#last += this.#now() - began;
    }
  }
}

/** What recorded events took together, pauses left out; null where one of them was not timed. */
export function secondsOf(events: readonly EpisodeEvent[]): number | null {
  let sum = 0;
  for (const { clock } of events) {
    if (clock === undefined) return null;
    sum += clock.seconds;
  }
  return sum;
}

/** What equal runs have in common. */
export function withoutClock<E extends EpisodeEvent>(event: E): Omit<E, 'clock'> {
  const { clock: _, ...rest } = event;
  return rest;
}
