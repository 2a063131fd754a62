import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { runOnHost } from './host.ts';
import { splitTasks } from './tasks.ts';
import { randomPolicy } from './testing-policy.ts';
import { scratchFolder } from './testing-scratch.ts';

test('an episode’s seconds are those of its tries: measuring the held texts is not among them', async () => {
  const model = join(scratchFolder(), 'random.gguf');
  writeFileSync(model, randomPolicy(1));
  const [task] = await splitTasks('household', 'valid_unseen');
  if (!task) throw new Error('no task');
  const settings = { ...defaultSettings, max_tokens: 2, step_limit: 1 };
  const began: number[] = [];
  const ended: number[] = [];
  const done: number[] = [];
  const told: number[] = [];
  await runOnHost(
    {
      kind: 'run',
      // The world of the second one is there already.
      episodes: [1, 2].map((seed) => ({ task, settings: { ...settings, seed } })),
      ...{ modelSha256: '', summaryServer: null, adapters: [], remote: null },
      ...{ retention: true, bundles: false, times: false },
    },
    { model, backend: 'cpu' },
    {
      emit: async (item) => {
        const now = performance.now() / 1000;
        if (item.type === 'episode_started') began.push(now);
        if (item.type === 'episode_ended') ended.push(now);
        if (item.type === 'episode_done') {
          done.push(now);
          told.push(item.seconds);
        }
      },
    },
  );
  const since = (times: readonly number[]) => (times[1] ?? 0) - (began[1] ?? 0);
  expect(told[1]).toBeGreaterThanOrEqual(since(ended));
  // Two tokens are sampled; the held texts have hundreds.
  expect(told[1]).toBeLessThan((since(ended) + since(done)) / 2);
});
