/** A world in this process, for the command line and tests: the same handlers without a worker. */

import type { World } from '../ports.ts';
import type { Json } from '../records.ts';
import { envHandlers } from './env-server.ts';

/** A world for one episode. Our own worlds are pure and quick, so nothing guards them here. */
export function localWorld(): World {
  let env = '';
  let state: Json = null;
  return {
    async reset(task, signal) {
      env = task.env;
      const after = await envHandlers.calls.reset({ task }, signal);
      state = after.state;
      return after.view;
    },
    async step(action, signal) {
      const after = await envHandlers.calls.step({ env, state, action }, signal);
      state = after.state;
      return after.view;
    },
  };
}
