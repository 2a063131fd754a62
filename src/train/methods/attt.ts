/** Agentic test-time training, as docs/loop.md has it; its sources and limits are settings. */

import type { Method } from './method.ts';

export const attt: Method = {
  label: 'aTTT',
  help: 'Trains the adapter on the agent’s latest text, each token weighed by how new it is, and rolls back on drift.',
  citation: '',
  trains: 'while_acting',
};
