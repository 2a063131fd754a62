/** The policy as it is. */

import type { Method } from './method.ts';

export const frozen: Method = {
  label: 'Frozen',
  help: 'The policy as it is: the baseline that every claim is measured against.',
  citation: '',
  trains: 'never',
};
