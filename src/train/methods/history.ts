/** The frozen policy with more or less of its past in view. */

import type { Method } from './method.ts';

export const shortHistory: Method = {
  label: 'Shorter history',
  help: 'The frozen policy sees the task and its last few turns only: a loop that is out of sight cannot be copied.',
  citation: '',
  trains: 'never',
  own: ['baseline_history_turns'],
  settings: ({ baseline_history_turns }) => ({ history_turns: baseline_history_turns }),
};

export const longContext: Method = {
  label: 'Longer context',
  help: 'The frozen policy with a longer context, where the model has one.',
  citation: '',
  trains: 'never',
  own: ['baseline_context'],
  settings: ({ baseline_context }) => ({ context_length: baseline_context }),
};
