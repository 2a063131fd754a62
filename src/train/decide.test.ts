import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { type BoundaryFacts, decide } from './decide.ts';

const facts: BoundaryFacts = {
  ...{ trigger: 'periodic', t: 5, enabled: true, trains: 'while_acting' },
  ...{ ratio: 0, excess: 0, dropped: false, accepted: 1, again: false },
};

test('a text whose novelty is the threshold trains, whatever doubles make of 1 − r', () => {
  const rules = { ...defaultSettings, rollback_enable: false };
  let equal = 0;
  for (let union = 1; union <= 60; union++) {
    for (let shared = 0; shared <= union; shared++) {
      for (let percent = 0; percent <= 100; percent += 5) {
        const { outcome } = decide(
          { ...facts, ratio: shared / union },
          { ...rules, novelty_threshold: percent / 100 },
        );
        // In whole numbers: (union − shared) / union ≥ percent / 100.
        const trains = 100 * (union - shared) >= percent * union;
        expect(outcome, `${shared}/${union} at ${percent} %`).toBe(
          trains ? 'train' : 'skipped_novelty',
        );
        if (100 * (union - shared) === percent * union) equal++;
      }
    }
  }
  expect(equal).toBeGreaterThan(100);
});
