/** The observation-only expert on every fifth task of each split; scripts/repair/splits.ts chose tasks by the same rule. */

import { expect, test } from 'vitest';
import { openRepair } from './repair.ts';
import { repairDescription } from './repair-description.ts';
import { playRepairExpert } from './repair-expert.ts';

const repair = await openRepair();

test.each(repairDescription.splits.map(({ name }) => name))('the expert solves %s', (split) => {
  const lost = repair.tasks(split).filter((task, i) => {
    if (i % 5 !== 0) return false;
    let { state, observation } = repair.initial(task);
    const expert = playRepairExpert(observation);
    for (let t = 0; t < 3000; t++) {
      const action = expert.act();
      const after = repair.step(state, action);
      if (after.terminated) return !after.info.won;
      ({ state, observation } = after);
      expert.see(action, observation);
    }
    return true;
  });
  expect(lost.map(({ index }) => index)).toEqual([]);
});
