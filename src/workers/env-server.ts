/** Serves the list of environments over a port; keeps no state between calls. */

import type { Env, EnvReset } from '../envs/env.ts';
import { environment, environments, openTaskFile } from '../envs/list.ts';
import type { WorldView } from '../ports.ts';
import type { Handlers } from '../rpc.ts';
import type { EnvApi } from './env-api.ts';

/** The handlers, for a worker's port or for direct calls in Node. */
export const envHandlers: Handlers<EnvApi> = {
  calls: {
    describe: () => environments.map((env) => env.description),
    tasks: ({ env, split }) => environment(env).tasks(split),
    openTask: ({ name, text }) => openTaskFile(name, text),
    history({ task, actions }) {
      const env = environment(task.env);
      if (!env.sketch) return [];
      let { state } = env.initial(task);
      const sketches = [env.sketch(state)];
      for (const action of actions) {
        state = env.step(state, action).state;
        sketches.push(env.sketch(state));
      }
      return sketches;
    },
    reset({ task }) {
      const env = environment(task.env);
      const reset = env.initial(task);
      return { state: reset.state, view: viewOf(env, reset, 0, false) };
    },
    step({ env: id, state, action }) {
      const env = environment(id);
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
  };
}
