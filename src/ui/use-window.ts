/** Draws of a long list only what is near the visible part. The items lie in an `ol` inside a scrolling box. */

import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type ListWindow, sum, topOf, windowOf } from './list-window.ts';

/** Lists up to this long are drawn whole: the search of the browser then finds everything in them. */
const wholeUpTo = 120;

/** Drawn above and below the visible part, so that scrolling meets no empty room, in pixels. */
const spare = 900;

/** The window moves in strides of so many pixels, not with every scroll event. */
const stride = 240;

/** The height of an item before any was measured. */
const firstGuess = 110;

interface View {
  readonly top: number;
  readonly height: number;
}

export interface Windowed {
  readonly window: ListWindow;
  /** To be called when the box has scrolled. */
  readonly moved: () => void;
  /** Draws the part of the list around an item. */
  readonly show: (index: number) => void;
}

/** `atEnd`: the box is kept scrolled to its end, so the end is what is drawn. */
export function useWindow(
  box: RefObject<HTMLElement | null>,
  list: RefObject<HTMLOListElement | null>,
  keys: readonly number[],
  atEnd: boolean,
): Windowed {
  const known = useRef(new Map<number, number>());
  /** What the first measured ones had in the mean. It stays: a better one would move all that is drawn. */
  const guess = useRef(firstGuess);
  const [measured, setMeasured] = useState(0);
  const [view, setView] = useState<View>({ top: 0, height: 1000 });
  const whole = keys.length <= wholeUpTo;

  // What was measured lies in a ref; `measured` tells of it.
  const heights = useMemo(() => {
    if (whole) return [];
    return keys.map((key) => known.current.get(key) ?? guess.current);
  }, [keys, whole, measured]);

  const window = useMemo((): ListWindow => {
    if (whole) return { first: 0, end: keys.length, above: 0, below: 0 };
    const top = atEnd ? sum(heights) - view.height : view.top;
    return windowOf(heights, top - spare, top + view.height + spare);
  }, [heights, whole, keys.length, view, atEnd]);

  // Each item reaches to where the next one begins, margins included.
  useLayoutEffect(() => {
    if (whole || !list.current) return;
    // Without the room above and below: beside it margins are other ones.
    const drawn = [...list.current.children].slice(1, -1);
    const first = known.current.size === 0;
    let changed = false;
    for (let n = 0; n + 1 < drawn.length; n++) {
      const [item, next] = [drawn[n], drawn[n + 1]];
      const key = keys[window.first + n];
      if (!(item instanceof HTMLElement && next instanceof HTMLElement)) continue;
      const height = next.offsetTop - item.offsetTop;
      if (key === undefined || known.current.get(key) === height) continue;
      known.current.set(key, height);
      changed = true;
    }
    if (first && changed) guess.current = sum([...known.current.values()]) / known.current.size;
    if (changed) setMeasured((count) => count + 1);
  }, [keys, whole, window, list]);

  const moved = useCallback(() => {
    const [outer, inner] = [box.current, list.current];
    if (!outer || !inner) return;
    const top = Math.floor((outer.scrollTop - inner.offsetTop) / stride) * stride;
    const height = outer.clientHeight + stride;
    setView((now) => (now.top === top && now.height === height ? now : { top, height }));
  }, [box, list]);

  // Another width gives other heights.
  useLayoutEffect(() => {
    if (whole || !box.current) return;
    const observer = new ResizeObserver(() => {
      known.current.clear();
      setMeasured((count) => count + 1);
      moved();
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [whole, box, moved]);

  const show = useCallback(
    (index: number) =>
      setView(({ height }) => ({ top: topOf(heights, index) - height / 2, height })),
    [heights],
  );
  return { window, moved, show };
}
