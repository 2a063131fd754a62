/** Serves the list of environments over a port; keeps no state between calls. */

import type { Env, EnvReset } from '../envs/env.ts';
import { environment, environments, openTaskFile } from '../envs/list.ts';
import type { WorldView } from '../ports.ts';
import type { Json, TaskRef, WorldSketch } from '../records.ts';
import type { Handlers } from '../rpc.ts';
import type { EnvApi } from './env-api.ts';

/** The handlers, for a worker's port or for direct calls in Node. */
export const envHandlers: Handlers<EnvApi> = {
  calls: {
    describe: () => environments.map((env) => env.description),
    tasks: async ({ env, split }) => (await environment(env)).tasks(split),
    openTask: ({ name, text }) => openTaskFile(name, text),
    async history({ task, actions, from }) {
      const env = await environment(task.env);
      const sketches: WorldSketch[] = [];
      let last: Json = from ?? null;
      for (const state of statesOf(env, task, actions, from)) {
        if (env.sketch) sketches.push(env.sketch(state, last));
        last = state;
      }
      return { sketches, state: last };
    },
    async patch({ task, actions }) {
      const env = await environment(task.env);
      if (!env.patch) return null;
      const last = [...statesOf(env, task, actions)].at(-1);
      return last === undefined ? null : env.patch(last);
    },
    async reset({ task }) {
      const env = await environment(task.env);
      const reset = env.initial(task);
      return { state: reset.state, view: viewOf(env, reset, 0, false) };
    },
    async step({ env: id, state, action }) {
      const env = await environment(id);
      const after = env.step(state, action);
      return { state: after.state, view: viewOf(env, after, after.reward, after.terminated) };
    },
  },
  streams: {},
};

function viewOf(env: Env, after: EnvReset, reward: number, terminated: boolean): WorldView {
  return {
    observation: after.observation,
    admissible: env.admissible?.(after.state) ?? null,
    reward,
    terminated,
    stateHash: after.info.stateHash,
    ...(after.info.refused && { refused: true }),
    ...(after.info.failed && { failed: true }),
    ...(env.description.code && { verbatim: true }),
  };
}

/** The world at the start and after each action; after each action alone where they go on from a state. */
function* statesOf(
  env: Env,
  task: TaskRef,
  actions: readonly string[],
  from?: Json,
): Generator<Json> {
  let state = from;
  if (state === undefined) {
    ({ state } = env.initial(task));
    yield state;
  }
  for (const action of actions) {
    state = env.step(state, action).state;
    yield state;
  }
}
