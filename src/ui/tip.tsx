/** Tooltips: one layer for the whole page, and the words of the field that carry one. */

import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type TermName, terms } from './strings.ts';
import './tip.css';

/** A word of the field; hovering or focusing it says what it means. */
export function Term({ name, children }: { name: TermName; children?: ReactNode }) {
  const { word, text } = terms[name];
  return (
    <button type="button" className="term" data-tip={text} aria-description={text}>
      {children ?? word}
    </button>
  );
}

/** A sentence in which words of the field stand as `[lora|LoRA adapter]`. */
export function Prose({ text }: { text: string }) {
  return text.split(/[[\]]/).map((part, index) => {
    const [name = '', word] = part.split('|');
    return isTerm(name) && word !== undefined ? (
      <Term key={index} name={name}>
        {word}
      </Term>
    ) : (
      part
    );
  });
}

function isTerm(name: string): name is TermName {
  return Object.hasOwn(terms, name);
}

interface Shown {
  readonly text: string;
  readonly anchor: DOMRect;
}

const hoverDelayMs = 220;
const gap = 8;

/** Shows the `data-tip` of whatever is hovered or focused. Escape hides it. */
export function TipLayer() {
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current: Element | null = null;
    const hide = () => {
      clearTimeout(timer);
      current = null;
      setShown(null);
    };
    const show = (element: Element, delay: number) => {
      if (element === current) return;
      clearTimeout(timer);
      current = element;
      timer = setTimeout(() => {
        const text = element.getAttribute('data-tip');
        if (text && element.isConnected)
          setShown({ text, anchor: element.getBoundingClientRect() });
      }, delay);
    };
    const tipped = (event: Event) =>
      event.target instanceof Element ? event.target.closest('[data-tip]') : null;
    const over = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target)) return;
      const element = tipped(event);
      if (element) show(element, hoverDelayMs);
      else if (current && current !== document.activeElement) hide();
    };
    const focus = (event: Event) => {
      const element = tipped(event);
      if (element?.matches(':focus-visible')) show(element, 0);
      else hide();
    };
    const key = (event: KeyboardEvent) => {
      if (event.key === 'Escape') hide();
    };
    const listeners = [
      ['pointerover', over],
      ['focusin', focus],
      ['focusout', hide],
      ['wheel', hide],
      ['pointerdown', hide],
    ] as const;
    for (const [name, listener] of listeners) {
      document.addEventListener(name, listener, { passive: true });
    }
    document.addEventListener('keydown', key, { capture: true });
    return () => {
      clearTimeout(timer);
      for (const [name, listener] of listeners) document.removeEventListener(name, listener);
      document.removeEventListener('keydown', key, { capture: true });
    };
  }, []);
  // Above an open window too: that lies in the browser's top layer, over every z-index.
  useLayoutEffect(() => {
    if (shown && !box.current?.matches(':popover-open')) box.current?.showPopover();
  }, [shown]);
  if (!shown) return null;
  const { anchor, text } = shown;
  const width = Math.min(320, window.innerWidth - 2 * gap);
  const left = Math.min(Math.max(gap, anchor.left), window.innerWidth - width - gap);
  const below = anchor.bottom < window.innerHeight * 0.7;
  const place = below
    ? { top: anchor.bottom + gap - 2 }
    : { bottom: window.innerHeight - anchor.top + gap - 2 };
  return (
    <div
      ref={box}
      popover="manual"
      className="tip"
      role="tooltip"
      style={{ left, maxWidth: width, ...place }}
    >
      {text}
    </div>
  );
}
