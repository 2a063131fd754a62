/** How the run on screen is read: what is searched, played, zoomed and pinned. A part of the page's state. */

import {
  type ChartChoices,
  type ChartKind,
  initialChoices,
  mostSmoothing,
  type OwnChoice,
  withOwn,
} from './chart-choices.ts';
import type { StepFilter } from './find.ts';
import type { NumberFilter } from './item-numbers.ts';
import type { StepAxis } from './step-axis.ts';

/** A token that was kept aside: token `j` of the boundary with this sequence number. */
export interface PinnedToken {
  readonly seq: number;
  readonly j: number;
}

export type PlaySpeed = 1 | 2 | 4;

/** What stands under the charts. */
export type LowerPanel = 'tokens' | 'world';

/** What may have the whole room for itself: the charts, or what stands under them. */
export type Enlarged = 'charts' | 'lower';

export interface Reading extends ChartChoices {
  readonly find: string;
  readonly filter: StepFilter;
  /** Hides besides what has no such number; null does not look at numbers. */
  readonly numberFilter: NumberFilter | null;
  /** True while the steps play back by themselves. */
  readonly playing: boolean;
  readonly speed: PlaySpeed;
  /** The boundary that was chosen among those of its step, by its sequence number; null is the step's last one. */
  readonly boundary: number | null;
  /** The token that is looked at, in the boundary on screen; null is its first trained one. */
  readonly token: number | null;
  readonly pinned: readonly PinnedToken[];
  readonly lower: LowerPanel;
  /** null: all panels side by side. */
  readonly enlarged: Enlarged | null;
  /** The steps that the charts show, ends included; null shows all. */
  readonly range: readonly [from: number, to: number] | null;
}

export type ReadingEvent =
  | { readonly type: 'find'; readonly text: string }
  | { readonly type: 'filter'; readonly filter: StepFilter }
  | { readonly type: 'number_filter'; readonly filter: NumberFilter | null }
  | { readonly type: 'play'; readonly on: boolean }
  | { readonly type: 'play_speed'; readonly speed: PlaySpeed }
  | { readonly type: 'token_chosen'; readonly j: number | null }
  | { readonly type: 'token_pinned'; readonly pin: PinnedToken }
  | { readonly type: 'pins_cleared' }
  | { readonly type: 'lower_panel'; readonly panel: LowerPanel }
  | { readonly type: 'enlarged'; readonly panel: Enlarged | null }
  | { readonly type: 'range'; readonly range: readonly [number, number] | null }
  | { readonly type: 'chart'; readonly place: number; readonly kind: ChartKind }
  | { readonly type: 'smoothing'; readonly smoothing: number }
  | { readonly type: 'own_choice'; readonly kind: ChartKind; readonly choice: OwnChoice }
  | { readonly type: 'step_axis'; readonly axis: StepAxis }
  | { readonly type: 'log_axis'; readonly on: boolean };

export const initialReading: Reading = {
  ...initialChoices,
  find: '',
  filter: 'all',
  numberFilter: null,
  playing: false,
  speed: 1,
  boundary: null,
  token: null,
  pinned: [],
  lower: 'tokens',
  enlarged: null,
  range: null,
};

/** Another run: what belongs to the old one goes, how it was looked at stays. */
export function readAnother(reading: Reading): Reading {
  const { charts, smoothing, own, axis, log, speed, lower } = reading;
  return { ...initialReading, charts, smoothing, own, axis, log, speed, lower };
}

export function reduceReading(reading: Reading, event: ReadingEvent): Reading {
  switch (event.type) {
    case 'find':
      return { ...reading, find: event.text };
    case 'filter':
      return { ...reading, filter: event.filter };
    case 'number_filter':
      return { ...reading, numberFilter: event.filter };
    case 'play':
      return { ...reading, playing: event.on };
    case 'play_speed':
      return { ...reading, speed: event.speed };
    case 'token_chosen':
      return { ...reading, token: event.j };
    case 'token_pinned': {
      const { seq, j } = event.pin;
      const others = reading.pinned.filter((pin) => pin.seq !== seq || pin.j !== j);
      const known = others.length < reading.pinned.length;
      return { ...reading, pinned: known ? others : [...others, event.pin] };
    }
    case 'pins_cleared':
      return { ...reading, pinned: [] };
    case 'lower_panel':
      return { ...reading, lower: event.panel };
    case 'enlarged':
      return { ...reading, enlarged: event.panel };
    case 'range':
      return { ...reading, range: orderly(event.range) };
    case 'chart': {
      const charts = [...reading.charts];
      const was = charts[event.place];
      const other = charts.indexOf(event.kind);
      if (was === undefined) return reading;
      // A chart that is on screen already changes places: none is shown twice.
      if (other >= 0) charts[other] = was;
      charts[event.place] = event.kind;
      return { ...reading, charts };
    }
    case 'smoothing':
      return { ...reading, smoothing: Math.min(mostSmoothing, Math.max(0, event.smoothing)) };
    case 'own_choice':
      return { ...reading, own: withOwn(reading.own, event.kind, event.choice) };
    case 'step_axis':
      return { ...reading, axis: event.axis };
    case 'log_axis':
      return { ...reading, log: event.on };
    default:
      return event satisfies never;
  }
}

/** From left to right, and at least one step wide; a range without width shows all. */
function orderly(range: Reading['range']): Reading['range'] {
  if (!range) return null;
  const from = Math.max(0, Math.floor(Math.min(...range)));
  const to = Math.ceil(Math.max(...range));
  return to > from ? [from, to] : null;
}
