/** What the token heatmap shows of one boundary: values, colours, escaped text, earlier occurrences. */

import { interpolatePuOr, interpolateYlGnBu, interpolateYlOrRd } from 'd3-scale-chromatic';
import type { Boundary, TokenColumns } from '../records.ts';
import type { RunView } from './run-view.ts';
import type { Quantity } from './state.ts';
import { tokens as say } from './strings.ts';

export interface Scale {
  readonly low: number;
  readonly high: number;
  /** True where zero is the middle and both directions have a colour of their own. */
  readonly diverging: boolean;
}

/** The value of token j, or null where it was not measured or the token was context only. */
export function tokenValue(tokens: TokenColumns, j: number, quantity: Quantity): number | null {
  const weight = tokens.weights[j] ?? 0;
  if (weight === 0) return null;
  const before = tokens.ceBefore[j] ?? null;
  const after = tokens.ceAfter[j] ?? null;
  switch (quantity) {
    case 'weight':
      return weight;
    case 'ce_before':
      return before;
    case 'ce_after':
      return after;
    case 'ce_change':
      return before === null || after === null ? null : after - before;
    case 'kl':
      return tokens.kl?.[j] ?? null;
    case 'entropy':
      return tokens.entropy?.[j] ?? null;
    default:
      return quantity satisfies never;
  }
}

/** What the quantities are called, and what their two ends mean. */
export const quantityWords: Readonly<
  Record<Quantity, { readonly title: string; readonly low: string; readonly high: string }>
> = {
  weight: { title: say.tokenWeight, low: say.repeated, high: say.new },
  ce_before: { title: say.ceBefore, low: say.expected, high: say.surprising },
  ce_after: { title: say.ceAfter, low: say.expected, high: say.surprising },
  ce_change: { title: say.ceChange, low: say.likelier, high: say.lessLikely },
  kl: { title: say.kl, low: say.unmoved, high: say.moved },
  entropy: { title: say.entropy, low: say.sure, high: say.unsure },
};

/** The scale over some boundaries: weights are always 0 to 1, both cross entropies share theirs. */
export function scaleOf(boundaries: readonly Boundary[], quantity: Quantity): Scale {
  if (quantity === 'weight') return { low: 0, high: 1, diverging: false };
  const read: readonly Quantity[] =
    quantity === 'ce_before' || quantity === 'ce_after' ? ['ce_before', 'ce_after'] : [quantity];
  let high = 0;
  for (const { tokens } of boundaries) {
    if (!tokens) continue;
    for (let j = 0; j < tokens.ids.length; j++) {
      for (const one of read) high = Math.max(high, Math.abs(tokenValue(tokens, j, one) ?? 0));
    }
  }
  if (high === 0) high = 1;
  return quantity === 'ce_change'
    ? { low: -high, high, diverging: true }
    : { low: 0, high, diverging: false };
}

type Rgb = readonly [number, number, number];

export interface Paint {
  readonly background: string;
  /** Black or white, whichever reads better on the background. */
  readonly ink: string;
}

/**
 * A value's colour. Zero is near the paper, large is far from it, in both themes; the maps are
 * ColorBrewer's colour-blind-safe ones. Changes are mostly small: their colour grows with the root.
 */
export function paint(value: number, scale: Scale, quantity: Quantity, dark: boolean): Paint {
  const background = scale.diverging
    ? mix(
        paper(dark),
        (value < 0 ? lessEnd : moreEnd)[dark ? 'dark' : 'light'],
        Math.sqrt(Math.min(1, Math.abs(value) / scale.high)),
      )
    : sequential((value - scale.low) / (scale.high - scale.low), quantity, dark);
  return {
    background: `rgb(${background.map(Math.round).join(' ')})`,
    ink: luminance(background) > 0.179 ? '#000' : '#fff',
  };
}

/** The two ends of a diverging scale: strong on a light page, bright on a dark one. */
const lessEnd = { light: parseRgb(interpolatePuOr(0.12)), dark: parseRgb(interpolatePuOr(0.26)) };
const moreEnd = { light: parseRgb(interpolatePuOr(0.84)), dark: parseRgb(interpolatePuOr(0.74)) };

function paper(dark: boolean): Rgb {
  return dark ? [34, 38, 44] : [246, 245, 241];
}

function sequential(fraction: number, quantity: Quantity, dark: boolean): Rgb {
  const f = Math.min(1, Math.max(0, fraction));
  const map = quantity === 'weight' ? interpolateYlGnBu : interpolateYlOrRd;
  // Dark: the maps from their dark end, so that a small value stays close to the page.
  const colour = parseRgb(map(dark ? 1 - f * 0.8 : 0.04 + f * 0.64));
  return dark ? mix(paper(dark), colour, 0.18 + 0.82 * f) : colour;
}

function mix(from: Rgb, to: Rgb, fraction: number): Rgb {
  const at = (a: number, b: number) => a + (b - a) * fraction;
  return [at(from[0], to[0]), at(from[1], to[1]), at(from[2], to[2])];
}

/** d3's maps answer as `rgb(1, 2, 3)`. */
function parseRgb(text: string): Rgb {
  const [r = 0, g = 0, b = 0] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}

/** Relative luminance as WCAG 2 defines it. */
function luminance([r, g, b]: Rgb): number {
  const linear = (channel: number) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** A token's text with what cannot be seen made visible: `\n`, `\t`, a lone space as `␣`. */
export function visibleText(piece: string): string {
  if (/^ +$/.test(piece)) return '␣'.repeat(piece.length);
  return piece
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeOf);
}

/**
 * A piece as it stands in the running text: only what would turn the direction of the text around it, or
 * draw nothing, is written as its escape.
 */
export function tokenText(piece: string): string {
  return piece.replace(/[^\P{Cc}\t\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, escapeOf);
}

function escapeOf(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** The covering n-gram of token j as text, or null where it never occurred before. */
export function ngramText(tokens: TokenColumns, j: number, n: number): string | null {
  const start = tokens.ngramStarts[j] ?? -1;
  if (start < 0) return null;
  return tokens.pieces.slice(start, start + n).join('');
}

/** Observe-only runs count a text as accepted where they would have trained on it. */
function isAccepted({ outcome }: Boundary): boolean {
  return outcome === 'updated' || outcome === 'observed';
}

/** The steps of the earlier boundaries whose text holds the covering n-gram of token j. */
export function earlierSteps(
  run: RunView,
  boundary: Boundary,
  j: number,
  n: number,
): readonly number[] {
  const tokens = boundary.tokens;
  const start = tokens?.ngramStarts[j] ?? -1;
  if (!tokens || start < 0) return [];
  const wanted = tokens.ids.slice(start, start + n).join(' ');
  const accepted = run.started.manifest.settings.history === 'accepted';
  return run.boundaries
    .filter((other) => other.seq < boundary.seq && other.tokens)
    .filter((other) => !accepted || isAccepted(other))
    .filter((other) => ` ${other.tokens?.ids.join(' ')} `.includes(` ${wanted} `))
    .map((other) => other.t);
}
