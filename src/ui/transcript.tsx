/** What the agent thought, did and saw, step by step, with a card at every boundary; follows a live run. */

import { type RefObject, type UIEvent, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { Settings } from '../config.ts';
import { BoundaryCard } from './boundary-card.tsx';
import { shownItems } from './find.ts';
import { FindBar } from './find-bar.tsx';
import { Icon } from './icons.tsx';
import { stepNotes } from './notes.ts';
import type { RunView, TranscriptItem } from './run-view.ts';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { transcript as say } from './strings.ts';
import { First, Last } from './transcript-ends.tsx';
import { ManualRollback, type PlaceInList, Step } from './transcript-step.tsx';
import { useWindow } from './use-window.ts';
import './transcript.css';

/** This close to the end counts as being at the end. */
const nearEnd = 24;

export function Transcript({ run }: { run: RunView }) {
  const following = useLab((state) => state.following);
  const shownLive = useLab((state) => !state.opened && state.live !== null);
  const running = useLab((state) => !state.opened && isRunning(state));
  const find = useLab((state) => state.reading.find);
  const filter = useLab((state) => state.reading.filter);
  const byNumber = useLab((state) => state.reading.numberFilter);
  const notes = useLab(stepNotes);
  const items = useMemo(
    () => shownItems(run, filter, byNumber, notes),
    [run, filter, byNumber, notes],
  );
  const keys = useMemo(() => items.map(({ seq }) => seq), [items]);
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  /** The last place that this component scrolled to by itself. */
  const ownTop = useRef(0);

  // Steps get their true height only when they are drawn, so the end moves after it was scrolled to.
  const tail = following && shownLive;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!tail || !box || !content.current) return;
    const observer = new ResizeObserver(() => {
      box.scrollTop = box.scrollHeight;
      ownTop.current = box.scrollTop;
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [tail]);

  const wasFollowing = useRef(following);
  useEffect(() => {
    const box = scroller.current;
    if (box && following && !wasFollowing.current) box.scrollTop = box.scrollHeight;
    wasFollowing.current = following;
  }, [following]);

  const { window, moved, show } = useWindow(scroller, list, keys, tail);
  const onScroll = (event: UIEvent<HTMLElement>) => {
    moved();
    const box = event.currentTarget;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    const { selected, following: followed } = useLab.getState();
    if (atEnd && running && selected === null && !followed) dispatch({ type: 'follow', on: true });
    if (!atEnd && followed && box.scrollTop < ownTop.current - 2) {
      dispatch({ type: 'follow', on: false });
    }
  };
  const part = window.end - window.first < items.length;
  return (
    <div className="transcript">
      <FindBar run={run} shown={items} />
      <section
        ref={scroller}
        className="transcript-scroll"
        id="transcript"
        aria-label={say.transcript}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard
        tabIndex={0}
        onScroll={onScroll}
      >
        <div ref={content}>
          <First run={run} />
          <ol ref={list} data-part={part || undefined}>
            {part && <li className="room" aria-hidden="true" style={{ height: window.above }} />}
            {items.slice(window.first, window.end).map((item, index) => (
              <Item
                key={item.seq}
                item={item}
                settings={run.started.manifest.settings}
                find={find}
                place={part ? window.first + index + 1 : null}
                count={items.length}
              />
            ))}
            {part && <li className="room" aria-hidden="true" style={{ height: window.below }} />}
          </ol>
          {items.length === 0 && run.items.length > 0 && (
            <p className="none-shown">{say.noneShown}</p>
          )}
          <Last run={run} />
        </div>
      </section>
      <ScrollToSelected items={items} list={list} show={show} first={window.first} />
      {running && !following && (
        <button
          type="button"
          className="button small follow"
          onClick={() => dispatch({ type: 'follow', on: true })}
        >
          <Icon name="down" />
          {say.followRun}
        </button>
      )}
    </div>
  );
}

function Item({
  item,
  settings,
  find,
  place,
  count,
}: {
  item: TranscriptItem;
  settings: Settings;
  find: string;
  /** 1, 2, …; null where the whole list is drawn. */
  place: number | null;
  count: number;
}) {
  const inList = useMemo(
    (): PlaceInList => (place === null ? {} : { 'aria-posinset': place, 'aria-setsize': count }),
    [place, count],
  );
  switch (item.type) {
    case 'step':
      return <Step step={item} find={find} place={inList} />;
    case 'boundary':
      return <BoundaryCard boundary={item} settings={settings} find={find} place={inList} />;
    case 'rolled_back':
      return <ManualRollback event={item} place={inList} />;
    default:
      return item satisfies never;
  }
}

/** Brings the chosen step into view; apart from the list, which a choice does not draw again. */
function ScrollToSelected({
  items,
  list,
  show,
  first,
}: {
  items: readonly TranscriptItem[];
  list: RefObject<HTMLOListElement | null>;
  show: (index: number) => void;
  /** The first item drawn: when it changes, what was waited for may be there. */
  first: number;
}) {
  const selected = useLab((state) => state.selected);
  const waiting = useRef<number | null>(null);
  const step = (t: number) => list.current?.querySelector(`[data-step="${t}"]`) ?? null;
  // Only another choice scrolls.
  useLayoutEffect(() => {
    waiting.current = null;
    if (selected === null) return;
    const drawn = step(selected);
    if (drawn) {
      drawn.scrollIntoView({ block: 'nearest' });
      return;
    }
    const index = items.findIndex((item) => item.type === 'step' && item.t === selected);
    if (index < 0) return;
    waiting.current = selected;
    show(index);
  }, [selected]);
  // `first` tells that another part is drawn.
  useLayoutEffect(() => {
    const drawn = waiting.current === null ? null : step(waiting.current);
    if (!drawn) return;
    waiting.current = null;
    drawn.scrollIntoView({ block: 'center' });
  }, [first]);
  return null;
}
