/** The few drawings of the page, all on a 16 × 16 grid in the colour of the text. */

import type { Tone } from './run-view.ts';

const paths = {
  play: 'M4.5 2.8v10.4L13 8z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  step: 'M3 3v10l7-5zM11 3h2v10h-2z',
  stop: 'M3.5 3.5h9v9h-9z',
  close:
    'M4.3 3.2 8 6.9l3.7-3.7 1.1 1.1L9.1 8l3.7 3.7-1.1 1.1L8 9.1l-3.7 3.7-1.1-1.1L6.9 8 3.2 4.3z',
  left: 'M10 3 5 8l5 5 1.2-1.2L7.4 8l3.8-3.8z',
  right: 'M6 3l5 5-5 5-1.2-1.2L8.6 8 4.8 4.2z',
  down: 'M3 6l5 5 5-5-1.2-1.2L8 8.6 4.2 4.8z',
  learn: 'M8 2 2 14h3l1-2.3h4L11 14h3zm0 4.3L9.2 9.6H6.8z',
  back: 'M6 3 1.8 7.2 6 11.4V8.6h3.5a2.4 2.4 0 0 1 0 4.8H6V15h3.5a4 4 0 0 0 0-8H6z',
  save: 'M7.2 2h1.6v6l2-2 1.1 1.1L8 11 4.1 7.1 5.2 6l2 2zM2.5 11h1.6v2.4h7.8V11h1.6v4h-11z',
  open: 'M1.5 3h5l1.5 2h6.5v8.5h-13zm1.6 3.5v5.4h9.8V6.5z',
  copy: 'M5.5 1.5h8v10h-2.6V13.9H2.9v-9h2.6zm1.4 1.4v1.9h4v5.3h1.2V2.9zm-2.6 3.4v6.2h5.2V6.3z',
  bell: 'M8 1.2a4.3 4.3 0 0 0-4.3 4.3v3.2L2 11.6h12l-1.7-2.9V5.5A4.3 4.3 0 0 0 8 1.2zM6.2 12.8a1.8 1.8 0 0 0 3.6 0z',
  bell_off:
    'M8 1.2a4.3 4.3 0 0 0-4.3 4.3v3.2L2 11.6h12l-1.7-2.9V5.5A4.3 4.3 0 0 0 8 1.2zm0 1.5a2.8 2.8 0 0 1 2.8 2.8v3.6l.6 1H4.6l.6-1V5.5A2.8 2.8 0 0 1 8 2.7zM6.2 12.8a1.8 1.8 0 0 0 3.6 0z',
  list: 'M1.5 3h2.2v2.2H1.5zM5.5 3.3h9v1.6h-9zM1.5 7h2.2v2.2H1.5zM5.5 7.3h9v1.6h-9zM1.5 11h2.2v2.2H1.5zM5.5 11.3h9v1.6h-9z',
  sun: 'M8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8zM7.3 1h1.4v2H7.3zm0 12h1.4v2H7.3zM1 7.3h2v1.4H1zm12 0h2v1.4h-2zM2.6 3.6l1-1 1.4 1.4-1 1zm8.4 8.4 1-1 1.4 1.4-1 1zM12 5l-1-1 1.4-1.4 1 1zM5 12l-1.4 1.4-1-1L4 11z',
  moon: 'M6.5 1.8A6.4 6.4 0 1 0 14.2 9.5 5.2 5.2 0 0 1 6.5 1.8z',
  system: 'M1.5 2.5h13v8.6H9.2v1.5h2v1.4H4.8v-1.4h2v-1.5H1.5zM3 4v5.6h10V4z',
  trash:
    'M6 1.5h4V3h4v1.5H2V3h4zM3.2 6h9.6l-.7 8.5H3.9zm3 1.5.2 5.5h1l-.2-5.5zm2.6 0L8.6 13h1l.2-5.5z',
  table:
    'M1.5 2.5h13v11h-13zM3 6.2v2.3h4.2V6.2zm5.8 0v2.3H13V6.2zM3 9.9v2.2h4.2V9.9zm5.8 0v2.2H13V9.9z',
  reset: 'M8 2.5a5.5 5.5 0 1 1-5.3 4h1.6A4 4 0 1 0 8 4v2.6L3.9 3.6 8 .6z',
  link: 'M6.6 9.4a.8.8 0 0 1 0-1.1l1.7-1.7a.8.8 0 1 1 1.1 1.1L7.7 9.4a.8.8 0 0 1-1.1 0zM7 4.3l1.6-1.6a3.3 3.3 0 0 1 4.7 4.7L11.7 9l-1.1-1.1 1.6-1.6a1.7 1.7 0 0 0-2.5-2.5L8.1 5.4zM9 11.7l-1.6 1.6a3.3 3.3 0 0 1-4.7-4.7L4.3 7l1.1 1.1-1.6 1.6a1.7 1.7 0 0 0 2.5 2.5l1.6-1.6z',
  braces:
    'M5.8 2.2v1.5c-.9 0-1.2.3-1.2 1.2v1.4c0 .9-.4 1.5-1 1.7.6.2 1 .8 1 1.7v1.4c0 .9.3 1.2 1.2 1.2v1.5C4 13.8 3 13 3 11.3V9.8c0-.8-.3-1.1-1-1.1V7.3c.7 0 1-.3 1-1.1V4.7C3 3 4 2.2 5.8 2.2zm4.4 0v1.5c.9 0 1.2.3 1.2 1.2v1.4c0 .9.4 1.5 1 1.7-.6.2-1 .8-1 1.7v1.4c0 .9-.3 1.2-1.2 1.2v1.5c1.8 0 2.8-.8 2.8-2.5V9.8c0-.8.3-1.1 1-1.1V7.3c-.7 0-1-.3-1-1.1V4.7c0-1.7-1-2.5-2.8-2.5z',
  house:
    'M8 1.8 15 8l-1 1.1-1-.9v6H9.6v-4H6.4v4H3v-6l-1 .9L1 8zm0 2L4.5 6.9v5.8h.4v-4h6.2v4h.4V6.9z',
  fork: 'M4.5 1.5a1.9 1.9 0 0 1 .8 3.6v5.8a1.9 1.9 0 1 1-1.6 0V5.1a1.9 1.9 0 0 1 .8-3.6zm7 0a1.9 1.9 0 0 1 .8 3.6c0 2.6-1.5 3.7-5 4.2V7.7c2.7-.4 3.4-1 3.4-2.6a1.9 1.9 0 0 1 .8-3.6z',
  pen: 'M10.9 1.8 14.2 5.1 5.3 14H2v-3.3zm-7.4 9.5v1.2h1.2l6.1-6.1-1.2-1.2z',
  pin: 'M5 1.5h6v1.4h-.8l.5 4.3L13 9.6V11H8.7v3.5H7.3V11H3V9.6l2.3-2.4.5-4.3H5z',
  funnel: 'M1.5 2.5h13v1.6L9.6 9v4.6l-3.2 1.2V9L1.5 4.1zm2.4 1.6L8 8.2l4.1-4.1z',
  wave: 'M1 10.2C3.2 10.2 3.4 3 6.2 3c3 0 2.6 8.4 5 8.4 1.5 0 1.8-2 3.8-2V11c-1.3 0-1.7 2-3.8 2-3.8 0-3.4-8.4-5-8.4-1.4 0-1.6 7.2-5.2 7.2z',
  search:
    'M6.8 1.8a5 5 0 0 1 4 8l3.4 3.4-1 1-3.4-3.4a5 5 0 1 1-3-9zm0 1.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  compare:
    'M1.5 13.5v-11H3v9.6h11.5v1.4zM4.2 10l2.6-4 2.4 2.2 3.6-5.4 1.2.8-4.5 6.8-2.4-2.2L5.4 11z',
  image:
    'M1.5 2.5h13v11h-13zm1.5 1.5v6l3-3 2.6 2.6 1.6-1.6 2.8 2.8V4zm7.4 1a1.2 1.2 0 1 1 0 2.4 1.2 1.2 0 0 1 0-2.4z',
  dice: 'M2.5 2.5h11v11h-11zm3 1.8a1.2 1.2 0 1 0 0 2.4 1.2 1.2 0 0 0 0-2.4zm5 5a1.2 1.2 0 1 0 0 2.4 1.2 1.2 0 0 0 0-2.4zM8 6.8a1.2 1.2 0 1 0 0 2.4 1.2 1.2 0 0 0 0-2.4z',
  enlarge:
    'M2 2h5v1.5H4.6l2.7 2.7-1.1 1.1-2.7-2.7V7H2zm12 12H9v-1.5h2.4L8.7 9.8l1.1-1.1 2.7 2.7V9H14z',
  shrink:
    'M7.3 7.3h-5V5.8h2.4L2 3.1 3.1 2l2.7 2.7V2.3h1.5zm1.4 1.4h5v1.5h-2.4l2.7 2.7-1.1 1.1-2.7-2.7v2.4H8.7z',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} fill="currentColor" fillRule="evenodd" />
    </svg>
  );
}

const marks: Readonly<Record<Tone, string>> = {
  good: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM7 10.9l4.4-4.7-1.1-1L7 8.7 5.6 7.3l-1 1z',
  bad: 'M8 1.5 15 14H1zm-.8 4.6.2 3.8h1.2l.2-3.8zM8 10.7a.9.9 0 1 0 0 1.8.9.9 0 0 0 0-1.8z',
  warn: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM4.5 7.2v1.6h7V7.2z',
  quiet:
    'M8 3.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM8 5.1a2.9 2.9 0 1 0 0 5.8 2.9 2.9 0 0 0 0-5.8z',
  note: 'M8 1.8 14.2 8 8 14.2 1.8 8z',
};

/** A tone's own shape, so that nothing is told by colour alone. */
export function Mark({ tone }: { tone: Tone }) {
  return (
    <svg
      className={`icon mark ${tone}`}
      viewBox="0 0 16 16"
      width="13"
      height="13"
      aria-hidden="true"
    >
      <path d={marks[tone]} fill="currentColor" fillRule="evenodd" />
    </svg>
  );
}

/** The sign of the notebook: a loop that bends away from itself. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path
        d="M12 4a8 8 0 1 0 7.4 5"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <path
        d="M12 8.4a3.6 3.6 0 1 1-3.4 2.4"
        fill="none"
        stroke="var(--accent)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <path d="M15.2 5.4 21 3.2l-.8 6.1z" fill="var(--accent)" />
    </svg>
  );
}
