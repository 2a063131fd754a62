/** What a person asks of worlds, beside an episode. */

import { expect, test } from 'vitest';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import { EngineHost } from './engine.ts';
import { engineHandlers } from './engine-server.ts';
import type { EnvHost } from './env-host.ts';
import { envHandlers } from './env-server.ts';

const never = new AbortController().signal;

/** A world in this thread that notes what it was asked. */
function notedWorld(): { readonly names: string[]; readonly host: Pick<EnvHost, 'call'> } {
  const names: string[] = [];
  return {
    names,
    host: {
      call: async (name, input) => {
        names.push(name);
        return envHandlers.calls[name](input, never);
      },
    },
  };
}

test('no question reaches the worker in which an episode lives', async () => {
  const [episodes, questions] = [notedWorld(), notedWorld()];
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const hosts = { episodes: episodes.host, questions: questions.host };
  const { calls } = engineHandlers(engine, hosts, 'http://localhost/');
  const [env] = await calls.environments(null, never);
  const [task] = await calls.tasks({ env: env?.id ?? '', split: 'train' }, never);
  if (!task) throw new Error('the split has tasks');
  await calls.worldHistory({ task, actions: ['look'] }, never);
  await calls.worldPatch({ task, actions: ['look'] }, never);
  await expect(calls.openTask({ name: 'scene.json', text: '{}' }, never)).rejects.toThrow();
  expect(episodes.names).toEqual([]);
  expect(questions.names).toEqual(['describe', 'tasks', 'history', 'patch', 'openTask']);
});

test.each(['household/ALFWorld-v0.4', 'repair'])(
  'the history of %s in parts is the one in whole',
  async (id) => {
    const all = await envHandlers.calls.describe(null, never);
    const env = all.find((one) => one.id.startsWith(id));
    const [split] = env?.splits ?? [];
    const asked = { env: env?.id ?? '', split: split?.name ?? '' };
    const [task] = await envHandlers.calls.tasks(asked, never);
    if (!task) throw new Error('the split has tasks');
    const actions = id === 'repair' ? ['ls', 'run tests'] : ['look', 'inventory'];
    const whole = await envHandlers.calls.history({ task, actions }, never);
    const first = await envHandlers.calls.history({ task, actions: actions.slice(0, 1) }, never);
    const rest = await envHandlers.calls.history(
      { task, actions: actions.slice(1), from: first.state },
      never,
    );
    expect(first.sketches).toHaveLength(2);
    expect(rest.sketches).toHaveLength(1);
    expect([...first.sketches, ...rest.sketches]).toEqual(whole.sketches);
    expect(rest.state).toEqual(whole.state);
  },
);
