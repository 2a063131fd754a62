/** The tokens of a whole run as files: a picture of all boundaries for a paper, and every number as CSV. */

import { csvOf } from './csv.ts';
import { valueText } from './numbers.ts';
import { outcomeWording, type RunView } from './run-view.ts';
import type { Quantity } from './state.ts';
import { tokenMatrix as say } from './strings.ts';
import { paint, quantityWords, type Scale, tokenValue } from './tokens.ts';

const cell = { width: 6, height: 12 };
const room = { left: 64, top: 44, right: 16, bottom: 34 };
/** Cells of one shade are one path, so that a picture of many thousand cells stays small. */
const shades = 64;

/** All boundaries of a run as an SVG on white: a row each, a cell a token; its size is in pixels. */
export function tokensSvg(run: RunView, quantity: Quantity, scale: Scale): string {
  const rows = run.boundaries.flatMap(({ t, tokens }) => (tokens ? [{ t, tokens }] : []));
  const longest = Math.max(24, ...rows.map(({ tokens }) => tokens.ids.length));
  const width = Math.max(room.left + longest * cell.width + room.right, 360);
  const height = room.top + rows.length * cell.height + room.bottom;
  const paths = new Map<number, string[]>();
  rows.forEach(({ tokens }, row) => {
    tokens.ids.forEach((_, j) => {
      const value = tokenValue(tokens, j, quantity);
      if (value === null) return;
      const part = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
      const shade = Math.round(part * shades);
      const x = room.left + j * cell.width;
      const y = room.top + row * cell.height;
      const d = `M${x} ${y}h${cell.width - 1}v${cell.height - 1}h${1 - cell.width}z`;
      const cells = paths.get(shade);
      if (cells) cells.push(d);
      else paths.set(shade, [d]);
    });
  });
  const colour = (shade: number) => {
    const value = scale.low + ((scale.high - scale.low) * shade) / shades;
    return paint(value, scale, quantity, false).background.replaceAll(' ', ',');
  };
  const words = quantityWords[quantity];
  const bar = Array.from({ length: shades + 1 }, (_, shade) => {
    const step = 120 / (shades + 1);
    return `<rect x="${(room.left + shade * step).toFixed(2)}" y="${height - 22}" width="${(step + 0.3).toFixed(2)}" height="9" fill="${colour(shade)}"/>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, sans-serif" font-size="10" fill="#222">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${room.left}" y="16" font-size="12" font-weight="bold">${escaped(words.title)}</text>`,
    `<text x="${room.left}" y="32" fill="#555">${escaped(run.started.task.goal ?? run.name)}</text>`,
    ...rows.map(
      ({ t }, row) =>
        `<text x="${room.left - 6}" y="${room.top + (row + 0.5) * cell.height + 3}" text-anchor="end">${say.row(t)}</text>`,
    ),
    ...[...paths].map(([shade, cells]) => `<path fill="${colour(shade)}" d="${cells.join('')}"/>`),
    ...bar,
    `<text x="${room.left}" y="${height - 2}">${valueText(scale.low)} ${words.low}</text>`,
    `<text x="${room.left + 120}" y="${height - 2}" text-anchor="end">${words.high} ${valueText(scale.high)}</text>`,
    '</svg>',
  ].join('\n');
}

/** Every token of every boundary with all that was recorded of it, one a line. */
export function tokensCsv(run: RunView): string {
  const head = [
    'step',
    'outcome',
    'place',
    'id',
    'piece',
    'weight',
    'count',
    'ngram_start',
    'ce_before',
    'ce_after',
    'kl',
    'entropy',
    'alternatives',
  ];
  const lines = run.boundaries.flatMap(({ t, outcome, restored, tokens }) =>
    (tokens?.ids ?? []).map((id, j) => [
      t,
      outcomeWording(outcome, restored).label,
      j + 1,
      id,
      tokens?.pieces[j] ?? '',
      tokens?.weights[j] ?? null,
      tokens?.counts[j] ?? null,
      tokens?.ngramStarts[j] ?? null,
      tokens?.ceBefore[j] ?? null,
      tokens?.ceAfter[j] ?? null,
      tokens?.kl?.[j] ?? null,
      tokens?.entropy?.[j] ?? null,
      (tokens?.alternatives?.[j] ?? [])
        .map(({ piece, logprob }) => `${JSON.stringify(piece)} ${logprob.toFixed(4)}`)
        .join(' '),
    ]),
  );
  return csvOf([head, ...lines]);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
