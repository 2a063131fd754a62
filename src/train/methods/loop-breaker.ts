/** A control without any training: what only broke loops would gain no more than this. */

import type { Method } from './method.ts';

export const loopBreaker: Method = {
  label: 'Loop breaker',
  help: 'The frozen policy; a turn whose command has done nothing since the world last changed is sampled again. Where the likeliest token is always taken (temperature 0, top-k 1, top-p 0) every try would be the same turn.',
  citation: '',
  trains: 'never',
  own: ['loop_breaker_tries'],
  refuses: (action, idle) =>
    idle.has(action) ? `"${action}" has done nothing since the world last changed.` : null,
};
