/** A sampler's remedy for repetition. */

import type { Method } from './method.ts';

export const repetitionPenalty: Method = {
  label: 'Repetition penalty',
  help: 'The frozen policy, sampled with a repetition penalty over the whole conversation.',
  citation: 'Keskar et al. 2019, arXiv:1909.05858',
  trains: 'never',
  own: ['baseline_penalty'],
  settings: ({ baseline_penalty }) => ({ repetition_penalty: baseline_penalty }),
};
