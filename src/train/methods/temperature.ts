/** More chance instead of more learning. */

import type { Method } from './method.ts';

export const temperature: Method = {
  label: 'Higher temperature',
  help: 'The frozen policy at a higher temperature: whatever leaves a loop by chance alone.',
  citation: '',
  trains: 'never',
  own: ['baseline_temperature'],
  settings: ({ baseline_temperature }) => ({ temperature: baseline_temperature }),
};
