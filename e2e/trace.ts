/**
 * What the page thread did, from the browser's own trace. Times are those of the thread itself: what other
 * work on the machine takes is not in them.
 */

import type { Browser, Page } from '@playwright/test';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds on the trace's clock. */
  readonly ts: number;
  /** Microseconds of the thread itself. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

export interface PageWork {
  /** Milliseconds of each task, the longest first. */
  readonly tasks: readonly number[];
  /** Milliseconds of all tasks from one `performance.mark('frame')` to the next. */
  readonly frames: readonly number[];
}

/** Traces the page thread from the first call to the second. */
export async function traceWork(browser: Browser, page: Page): Promise<() => Promise<PageWork>> {
  await browser.startTracing(page, {
    categories: ['toplevel', 'blink.user_timing', 'disabled-by-default-devtools.timeline'],
  });
  return async () => {
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
      traceEvents: readonly TraceEvent[];
    }; // the trace event format
    const thread = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
    const mains = new Set(
      traceEvents
        .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
        .map(thread),
    );
    const own = traceEvents.filter((event) => mains.has(thread(event)));
    const tasks = own.flatMap(({ name, ts, tdur }) =>
      name === 'ThreadControllerImpl::RunTask' && tdur !== undefined
        ? [{ ts, ms: tdur / 1000 }]
        : [],
    );
    const marks = own.filter(({ name }) => name === 'frame').map(({ ts }) => ts);
    marks.sort((a, b) => a - b);
    // The task that sets a mark began before it: its frame is the one that it makes.
    const frames = marks.slice(0, -1).map(() => 0);
    for (const { ts, ms } of tasks) {
      const next = marks.findIndex((mark) => mark > ts);
      if (next >= 1 && next <= frames.length) frames[next - 1] = (frames[next - 1] ?? 0) + ms;
    }
    return { tasks: tasks.map(({ ms }) => ms).sort((a, b) => b - a), frames };
  };
}

/** Presses a key once a frame, so many times, with a mark before each. */
export function pressEachFrame(page: Page, key: string, times: number): Promise<void> {
  return page.evaluate(
    ([name, count]) =>
      new Promise<void>((resolve) => {
        let left = count;
        const frame = () => {
          performance.mark('frame');
          if (left-- <= 0) return resolve();
          const init = { key: name, code: name, bubbles: true, cancelable: true };
          window.dispatchEvent(new KeyboardEvent('keydown', init));
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      }),
    [key, times] as const,
  );
}
