import { expect, test } from 'vitest';
import { EventClock, withoutClock } from './clock.ts';
import type { RolledBack } from './records.ts';

const event = (seq: number): RolledBack => ({
  type: 'rolled_back',
  ...{ seq, t: seq, cause: 'manual', restored: true },
});

test('an event is stamped with its time and the seconds since the one before, pauses left out', async () => {
  let now = Date.UTC(2026, 0, 1);
  const clock = new EventClock(() => now);
  now += 1500;
  expect(clock.stamp(event(0)).clock).toEqual({ at: '2026-01-01T00:00:01.500Z', seconds: 1.5 });
  now += 250;
  await clock.leaveOut(
    Promise.resolve().then(() => {
      now += 60_000;
    }),
  );
  now += 250;
  expect(clock.stamp(event(1)).clock).toEqual({ at: '2026-01-01T00:01:02.000Z', seconds: 0.5 });
  now += 9000;
  clock.restart();
  now += 40;
  expect(clock.stamp(event(2)).clock?.seconds).toBe(0.04);
});

test('a clock that was set back gives no negative time', () => {
  let now = 5000;
  const clock = new EventClock(() => now);
  now = 1000;
  expect(clock.stamp(event(0)).clock?.seconds).toBe(0);
});

test('without its stamp an event is as the loop gave it', () => {
  expect(withoutClock(new EventClock(() => 7).stamp(event(0)))).toEqual(event(0));
});
