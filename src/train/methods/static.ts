/** Test-time training before acting: one update on the first prompt, then a fixed policy. */

import type { Method } from './method.ts';

export const staticTtt: Method = {
  label: 'Static TTT',
  help: 'One update on the first prompt (task and room), before the first step; nothing is trained while it acts.',
  citation: 'Hardt and Sun 2024, arXiv:2305.18466',
  trains: 'before_acting',
};

/** What applies of qTTT: its update touches the query projections alone, so cached keys and values stay true. */
export const staticQ: Method = {
  label: 'Static TTT, queries only (qTTT)',
  help: 'As static TTT, with an adapter on q_proj alone. The original trains whole matrices on spans of a long context; the prompt here is one span.',
  citation: 'Bansal et al. 2025, arXiv:2512.13898',
  trains: 'before_acting',
  settings: () => ({ target_modules: ['q_proj'] }),
};

/** What applies of In-Place TTT: only the MLP's last projection changes. */
export const staticInPlace: Method = {
  label: 'Static TTT, down projections only (In-Place)',
  help: 'As static TTT, with an adapter on down_proj alone. The original overwrites these matrices chunk by chunk with a trained target; here it is next-token cross entropy.',
  citation: 'Feng et al. 2026, arXiv:2604.06169',
  trains: 'before_acting',
  settings: () => ({ target_modules: ['down_proj'] }),
};
