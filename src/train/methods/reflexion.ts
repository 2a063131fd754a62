/** Verbal learning between tries: no weight changes, the prompt does. */

import type { Method } from './method.ts';

export const reflexion: Method = {
  label: 'Reflexion',
  help: 'After a failed try the frozen policy writes what went wrong, and the next try of the same task begins with it.',
  citation: 'Shinn et al. 2023, arXiv:2303.11366',
  trains: 'never',
  own: ['reflexion_tries', 'reflection_tokens'],
  reflects: true,
};
