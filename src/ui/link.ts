/**
 * The address of what is on screen: run, step, update, token and how they are looked at, and the task of the next
 * episode, in the URL's hash. Other keys of the hash are kept.
 */

import { type ChartKind, chartKinds, mostSmoothing } from './chart-choices.ts';
import { type Quantity, quantities } from './state.ts';
import { type StepAxis, stepAxes } from './step-axis.ts';
import type { LinkedTask } from './task-place.ts';

/** null: not named, which is how the page looks when it is opened. */
export interface Link {
  /** A stored run's id, or `demo` for the recorded run that comes with the page. */
  readonly run: string | null;
  readonly step: number | null;
  /** The boundary that was chosen among those of its step, by its sequence number. */
  readonly boundary: number | null;
  readonly token: number | null;
  /** What colours the tokens. */
  readonly colour: Quantity | null;
  readonly tokens: 'matrix' | 'pinned' | null;
  /** What stands under the charts in place of the tokens. */
  readonly panel: 'world' | null;
  readonly charts: readonly ChartKind[] | null;
  readonly smoothing: number | null;
  /** What single charts have of their own, as chart-choices.ts writes it. */
  readonly own: readonly string[] | null;
  /** What the charts are drawn over, where it is not the steps. */
  readonly axis: StepAxis | null;
  /** Whether that axis is logarithmic. */
  readonly log: true | null;
  /** The steps that the charts show. */
  readonly range: readonly [from: number, to: number] | null;
  /** The runs that are compared; empty where the comparison is open and none is chosen. */
  readonly compare: readonly string[] | null;
  /** What the next episode's task is. */
  readonly task: LinkedTask | null;
}

export const nowhere: Link = {
  run: null,
  step: null,
  boundary: null,
  token: null,
  colour: null,
  tokens: null,
  panel: null,
  charts: null,
  smoothing: null,
  own: null,
  axis: null,
  log: null,
  range: null,
  compare: null,
  task: null,
};

/** The link in a hash such as `#run=20261129-184211-9f3c&step=12&token=5`; nonsense counts as not named. */
export function readLink(hash: string): Link {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const among = <T extends string>(name: string, all: readonly T[]) =>
    all.find((one) => one === parts.get(name)) ?? null;
  const charts = list(parts.get('charts'))?.map((name) => chartKinds.find((one) => one === name));
  const range = list(parts.get('range'))?.map(whole);
  const smoothing = Number(parts.get('smoothing') ?? Number.NaN);
  return {
    run: parts.get('run'),
    step: whole(parts.get('step')),
    boundary: whole(parts.get('boundary')),
    token: whole(parts.get('token')),
    colour: among('colour', quantities),
    tokens: among('tokens', ['matrix', 'pinned']),
    panel: among('panel', ['world']),
    charts: charts?.every((one) => one !== undefined) && charts.length === 4 ? charts : null,
    smoothing: smoothing > 0 && smoothing <= mostSmoothing ? smoothing : null,
    own: list(parts.get('own')),
    axis: among('axis', stepAxes),
    log: parts.get('log') === 'true' ? true : null,
    range:
      range?.length === 2 && range[0] != null && range[1] != null && range[0] < range[1]
        ? [range[0], range[1]]
        : null,
    compare: list(parts.get('compare')),
    task: taskIn(list(parts.get('task')) ?? []),
  };
}

/** The hash with these parts of a link in it, `#` included; empty where nothing is left. */
export function writeLink(hash: string, link: Partial<Link>): string {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  for (const [key, value] of Object.entries(link)) {
    if (value === null) parts.delete(key);
    else parts.set(key, Array.isArray(value) ? value.join('.') : String(value));
  }
  const text = parts.toString();
  return text === '' ? '' : `#${text}`;
}

/** `a.b` is two entries, and an empty text none. A dot stays as it is in an address; no id has one. */
function list(text: string | null): readonly string[] | null {
  return text === null ? null : text.split('.').filter((one) => one !== '');
}

function taskIn([world, split, place, ...more]: readonly string[]): LinkedTask | null {
  const index = whole(place ?? null);
  if (world === undefined || split === undefined || index === null || more.length > 0) return null;
  return [world, split, index];
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
