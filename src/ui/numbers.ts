/** How numbers are written on the page: bytes, times, rates and measured values. */

import { nouns } from './strings.ts';

/** `98.4 MB`, decimal units as disks and downloads use them. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? ''}`;
}

/** `4 s`, `2 min 5 s`, `1 h 4 min`; an empty text where the time is not known. */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '';
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) {
    return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `4,096`: a whole number in full. Not by `Intl`, whose first use takes 5 to 15 ms before anything is drawn. */
export function wholeText(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `135 M`, `1.2 B`: counts of parameters. */
export function countText(count: number): string {
  if (count < 1e4) return wholeText(count);
  const [scaled, unit] =
    count < 1e6 ? [count / 1e3, 'k'] : count < 1e9 ? [count / 1e6, 'M'] : [count / 1e9, 'B'];
  return `${scaled >= 99.5 ? scaled.toFixed(0) : scaled.toFixed(1)} ${unit}`;
}

/** Whole numbers up to a million in full, three significant digits of others, without a tail of zeros; a dash where nothing was measured. */
export function valueText(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value).replace('-', '−');
  if (size < 0.001 || size >= 1e5) return value.toExponential(1).replace('-', '−');
  const text = String(Number(value.toPrecision(3)));
  return text.replace('-', '−');
}

/** A place on the axis of a chart, close enough to tell two steps apart: `1234`, `0.333`, `5012.25`. */
export function placeText(place: number): string {
  return String(Number(place.toFixed(3)));
}

/** A whole number with its noun: `1 step`, `4 steps`. */
export function plural(count: number, noun: keyof typeof nouns): string {
  const [one, several] = nouns[noun];
  return `${wholeText(count)} ${count === 1 ? one : several}`;
}

/** The value of a setting, as a table shows it. */
export function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return value === '' ? 'empty' : String(value);
}

/** When a step was recorded: `29 Nov, 18:00:07`, in the clock of this computer. */
export function secondText(iso: string): string {
  return dateText(iso, { second: '2-digit' });
}

/** When a run began: `29 Nov, 18:00`, in the clock of this computer. */
export function whenText(iso: string): string {
  return dateText(iso, {});
}

/** The same as a column that sorts: `2026-11-29 18:00`. */
export function minuteText(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  // The one locale that writes it so.
  return date.toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' });
}

function dateText(iso: string, more: Intl.DateTimeFormatOptions): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString('en-GB', {
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        ...more,
      });
}
