/** Which runs are compared and how. A part of the page's state. */

import type { RunSummary } from '../records.ts';
import type { CompareQuantity } from './compare-numbers.ts';
import type { RunView } from './run-view.ts';
import type { SortOrder } from './sorting.ts';

/** A run of a file, which the store does not know. */
export interface FileRun {
  readonly summary: RunSummary;
  readonly view: RunView;
}

export interface Comparing {
  /** The screen is shown in place of one run. */
  readonly open: boolean;
  /** Ids of the chosen runs, in the order in which they were chosen. */
  readonly picked: readonly string[];
  /** The events of runs that were chosen, as they were read last. */
  readonly views: Readonly<Record<string, RunView>>;
  readonly files: readonly FileRun[];
  readonly filter: string;
  readonly order: SortOrder;
  readonly quantity: CompareQuantity;
  /** One line a method, with its interval, in place of one a run. */
  readonly grouped: boolean;
}

export type ComparingEvent =
  | { readonly type: 'compare_open'; readonly on: boolean }
  | { readonly type: 'compare_picked'; readonly ids: readonly string[] }
  | { readonly type: 'compare_view'; readonly id: string; readonly view: RunView }
  | { readonly type: 'compare_file'; readonly run: FileRun }
  | { readonly type: 'compare_filter'; readonly text: string }
  | { readonly type: 'compare_order'; readonly order: SortOrder }
  | { readonly type: 'compare_quantity'; readonly quantity: CompareQuantity }
  | { readonly type: 'compare_grouped'; readonly on: boolean };

export const initialComparing: Comparing = {
  open: false,
  picked: [],
  views: {},
  files: [],
  filter: '',
  order: { key: 'started', down: true },
  quantity: 'repetition',
  grouped: false,
};

export function reduceComparing(comparing: Comparing, event: ComparingEvent): Comparing {
  switch (event.type) {
    case 'compare_open':
      return { ...comparing, open: event.on };
    case 'compare_picked':
      return { ...comparing, picked: event.ids };
    case 'compare_view':
      return { ...comparing, views: { ...comparing.views, [event.id]: event.view } };
    case 'compare_file': {
      const { id } = event.run.summary;
      return {
        ...comparing,
        files: [...comparing.files.filter(({ summary }) => summary.id !== id), event.run],
        views: { ...comparing.views, [id]: event.run.view },
        picked: comparing.picked.includes(id) ? comparing.picked : [...comparing.picked, id],
      };
    }
    case 'compare_filter':
      return { ...comparing, filter: event.text };
    case 'compare_order':
      return { ...comparing, order: event.order };
    case 'compare_quantity':
      return { ...comparing, quantity: event.quantity };
    case 'compare_grouped':
      return { ...comparing, grouped: event.on };
    default:
      return event satisfies never;
  }
}

/** A run of the comparison as it is now that more of it happened; others are nothing to it. */
export function withLatest(comparing: Comparing, view: RunView | null): Comparing {
  if (view?.id == null || !comparing.views[view.id]) return comparing;
  return { ...comparing, views: { ...comparing.views, [view.id]: view } };
}

/** The comparison without runs that were deleted. */
export function withoutRuns(comparing: Comparing, gone: ReadonlySet<string>): Comparing {
  const views = Object.entries(comparing.views).filter(([id]) => !gone.has(id));
  return {
    ...comparing,
    picked: comparing.picked.filter((id) => !gone.has(id)),
    views: Object.fromEntries(views),
  };
}

/** True where the events that were read are not all that the store has, or may get more. */
export function isStale(view: RunView | undefined, stored: RunSummary | undefined): boolean {
  if (!view) return true;
  return stored !== undefined && (view.ended === null || view.steps.length !== stored.steps);
}

/** The chosen runs that can be compared, in the order of choosing: their events are here, and there are some. */
export function comparedIds({
  picked,
  views,
}: Pick<Comparing, 'picked' | 'views'>): readonly string[] {
  return picked.filter((id) => views[id]);
}

/** The same as views. The n-th is run n everywhere: in tables, lines and lists, and by its colour. */
export function comparedRuns(comparing: Pick<Comparing, 'picked' | 'views'>): readonly RunView[] {
  return comparedIds(comparing).flatMap((id) => comparing.views[id] ?? []);
}
