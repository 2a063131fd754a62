/** How a person wants charts drawn: which ones, how smooth, on which axes. Remembered between visits. */

import { type StepAxis, stepAxes } from './step-axis.ts';

/** What a chart shows. */
export const chartKinds = [
  'repetition',
  'kl',
  'loss',
  'updates',
  'reward',
  'novelty',
  'gradient',
] as const;
export type ChartKind = (typeof chartKinds)[number];

/** What one chart has of its own; absent is as all the others have it. */
export interface OwnChoice {
  /** Weight of the past, 0 to {@link mostSmoothing}. */
  readonly smoothing?: number | undefined;
  /** Of the value axis. */
  readonly scale?: 'linear' | 'log' | undefined;
}

export type OwnChoices = Readonly<Partial<Record<ChartKind, OwnChoice>>>;

export interface ChartChoices {
  /** What the four charts show, in order. */
  readonly charts: readonly ChartKind[];
  /** Weight of the past in the exponential moving average of all charts; 0 smooths nothing. */
  readonly smoothing: number;
  readonly own: OwnChoices;
  readonly axis: StepAxis;
  /** Whether that axis is logarithmic. */
  readonly log: boolean;
}

export const initialChoices: ChartChoices = {
  charts: ['repetition', 'kl', 'loss', 'updates'],
  smoothing: 0,
  own: {},
  axis: 'step',
  log: false,
};

export const mostSmoothing = 0.98;

export function smoothingOf(
  { smoothing, own }: Pick<ChartChoices, 'smoothing' | 'own'>,
  kind: ChartKind,
): number {
  return own[kind]?.smoothing ?? smoothing;
}

/** The choices with one of a chart's own changed; undefined goes back to what all have. */
export function withOwn(own: OwnChoices, kind: ChartKind, change: OwnChoice): OwnChoices {
  const { [kind]: was, ...others } = own;
  const now = { ...was, ...change };
  const empty = now.smoothing === undefined && now.scale === undefined;
  return empty ? others : { ...others, [kind]: now };
}

/** A chart's own choices as short texts: `kl-60` smooths KL by 0.6, `loss-log` gives the loss a log axis. */
export function ownTexts(own: OwnChoices): readonly string[] {
  return chartKinds.flatMap((kind) => {
    const { smoothing, scale } = own[kind] ?? {};
    return [
      ...(smoothing === undefined ? [] : [`${kind}-${Math.round(smoothing * 100)}`]),
      ...(scale === undefined ? [] : [`${kind}-${scale}`]),
    ];
  });
}

/** Reads what {@link ownTexts} wrote; what it does not understand is left out. */
export function readOwn(texts: readonly string[]): OwnChoices {
  let own: OwnChoices = {};
  for (const text of texts) {
    const [name, value = ''] = text.split('-');
    const kind = chartKinds.find((one) => one === name);
    if (!kind) continue;
    if (value === 'linear' || value === 'log') own = withOwn(own, kind, { scale: value });
    else if (/^\d\d?$/.test(value) && Number(value) / 100 <= mostSmoothing) {
      own = withOwn(own, kind, { smoothing: Number(value) / 100 });
    }
  }
  return own;
}

/** For the next visit. */
export function writeChoices({ charts, smoothing, own, axis, log }: ChartChoices): string {
  return JSON.stringify({ charts, smoothing, own: ownTexts(own), axis, log });
}

/** What another visit wrote, as far as it is understood. */
export function readChoices(text: string | null): ChartChoices {
  let found: unknown = null;
  try {
    found = JSON.parse(text ?? 'null');
  } catch {
    // As if nothing had been remembered.
  }
  const parts = new Map(Object.entries(found ?? {}));
  const texts = (name: string): readonly string[] => {
    const value: unknown = parts.get(name);
    return Array.isArray(value) ? value.map(String) : [];
  };
  const charts = texts('charts').flatMap((name) => chartKinds.find((one) => one === name) ?? []);
  const smoothing = Number(parts.get('smoothing') ?? 0);
  const { charts: usual } = initialChoices;
  return {
    charts: new Set(charts).size === usual.length ? charts : usual,
    smoothing: smoothing > 0 && smoothing <= mostSmoothing ? smoothing : 0,
    own: readOwn(texts('own')),
    axis: stepAxes.find((one) => one === parts.get('axis')) ?? 'step',
    log: parts.get('log') === true,
  };
}
