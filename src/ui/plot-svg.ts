/** A chart on screen as an SVG file that stands alone: its colours fixed, a title and a legend above it. */

import type { PlotLine } from './plot.tsx';

/** What the page's style sheet gives to a drawn element and a file has to carry itself. */
const carried = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'text-anchor',
] as const;

const headHeight = 40;

export function plotSvg(drawn: SVGSVGElement, title: string, lines: readonly PlotLine[]): string {
  const { width, height } = drawn.getBoundingClientRect();
  const page = getComputedStyle(drawn);
  const copy = drawn.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) return '';
  const originals = drawn.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((element, index) => {
    const original = originals[index];
    if (!original) return;
    const style = getComputedStyle(original);
    for (const name of carried) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute('class');
    element.removeAttribute('style');
  });
  copy.setAttribute('y', String(headHeight));
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.removeAttribute('style');
  const ink = page.color;
  const paper = getComputedStyle(document.body).backgroundColor;
  let x = 8;
  const legend = lines
    .filter((line) => !line.faint)
    .map((line) => {
      const colour = getComputedStyle(drawn).getPropertyValue(`--series-${line.series}`);
      const at = x;
      x += 30 + line.label.length * 6.5;
      return `<g stroke="${resolved(colour, drawn)}" fill="${ink}"><path d="M${at} 29h14" stroke-width="2"/><text x="${at + 19}" y="33" stroke="none">${escaped(line.label)}</text></g>`;
    });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + headHeight}" font-family="Helvetica, Arial, sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="${paper}"/>`,
    `<text x="8" y="16" font-size="12" font-weight="bold" fill="${ink}">${escaped(title)}</text>`,
    ...legend,
    new XMLSerializer().serializeToString(copy),
    '</svg>',
  ].join('\n');
}

/** A colour as the browser paints it: `light-dark(…)` is known to no other program. */
function resolved(colour: string, near: Element): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  near.parentElement?.append(probe);
  const painted = getComputedStyle(probe).color;
  probe.remove();
  return painted;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
