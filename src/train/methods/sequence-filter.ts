/** The gate of aTTT without its weights: a text is trained whole or skipped whole. */

import type { Method } from './method.ts';

export const sequenceFilter: Method = {
  label: 'Sequence filter',
  help: 'Skips a whole text when it repeats an earlier one (the novelty threshold), and trains the others with all weights 1; rollbacks stay. aTTT with w_min = 1 is the same.',
  citation: '',
  trains: 'while_acting',
  settings: () => ({ w_min: 1 }),
};
