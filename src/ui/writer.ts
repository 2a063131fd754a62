/** Whether this tab may write to the notebook, and the channel on which tabs tell each other what changed. */

import { LabError, toWire } from '../errors.ts';
import { report } from './report.ts';
import { useLab } from './store.ts';
import { tabs as say } from './strings.ts';

export type TabMessage = 'take_over' | 'runs_changed' | 'notes_changed' | 'shelf_changed';

let channel: BroadcastChannel | null = null;

/** Hears the other tabs from now on, on the channel of this name. */
export function hearOtherTabs(name: string, hear: (message: TabMessage) => void): void {
  channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => hear(data);
}

export function tellOtherTabs(message: TabMessage): void {
  channel?.postMessage(message);
}

/** True when this tab may write; says why not otherwise. */
export function mayWrite(): boolean {
  if (writesHere()) return true;
  report(say.tabOnlyReads, toWire(new LabError('unsupported', say.takeOverFirst)));
  return false;
}

/** The same without a word, where nobody asked for anything. */
function writesHere(): boolean {
  const { writer } = useLab.getState().notebook;
  return writer === 'this_tab' || writer === 'unknown';
}
