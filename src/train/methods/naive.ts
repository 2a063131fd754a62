/** Online test-time training without any of aTTT's parts. */

import type { Method } from './method.ts';

export const naive: Method = {
  label: 'Naive online TTT',
  help: 'Trains on every update text with all weights 1; no novelty gate, no rollback. For the weights alone, give aTTT a smallest weight of 1.',
  citation: 'Sun et al. 2020, arXiv:1909.13231',
  trains: 'while_acting',
  settings: () => ({ w_min: 1, novelty_threshold: 0, rollback_enable: false }),
};
