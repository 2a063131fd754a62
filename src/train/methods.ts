/** Methods are values: each states its few differences, and the spine branches on none of their names. */

import type { methodNames } from '../config.ts';

export interface Method {
  readonly label: string;
  readonly help: string;
  /** False: boundaries are recorded as `disabled` and nothing is ever trained. */
  readonly learns: boolean;
}

export const methods: Readonly<Record<(typeof methodNames)[number], Method>> = {
  attt: {
    label: 'aTTT',
    help: 'Trains the adapter on the agent’s latest text, each token weighed by how new it is.',
    learns: true,
  },
  frozen: {
    label: 'Frozen',
    help: 'The policy as it is: the baseline that every claim is measured against.',
    learns: false,
  },
};
