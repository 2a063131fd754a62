/** Small plots as SVG text: intervals in rows, and lines. They read in light and dark, on screen and in print. */

/** One row of {@link intervalPlot}; `at` is null where there is no value. */
export interface IntervalMark {
  readonly label: string;
  readonly at: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Line {
  readonly label: string;
  /** One number for each place on the x axis; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

/** Okabe and Ito's colours, told apart by people with any colour vision; dashes tell them apart in print. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#767676'];
const DASHES = ['', '6 3', '2 3', '8 3 2 3'];

const STYLE =
  '<style>.plot{font:12px system-ui,sans-serif}.plot text{fill:#222}.plot .grid{stroke:#ddd}.plot .mark{fill:#0072b2;stroke:#0072b2}.plot .paper{fill:#fff}@media (prefers-color-scheme:dark){.plot text{fill:#ddd}.plot .grid{stroke:#444}.plot .mark{fill:#56b4e9;stroke:#56b4e9}.plot .paper{fill:#16181c}}</style>';

/** A dot with its interval a row, on a common axis; `zero` draws a stronger line there. */
export function intervalPlot(
  title: string,
  marks: readonly IntervalMark[],
  axis: { readonly label: string; readonly zero?: boolean },
): string {
  const left = 12 + 7 * Math.max(...marks.map(({ label }) => label.length), 4);
  const width = left + 420;
  const rowHeight = 22;
  const top = 14;
  const height = top + marks.length * rowHeight + 44;
  const values = marks.flatMap(({ at, low, high }) => [at, low, high]).filter((v) => v !== null);
  const scale = axisOf(axis.zero ? [0, ...values] : [0, 1, ...values]);
  const x = (v: number) => left + ((v - scale.from) / (scale.to - scale.from)) * 400;
  const bottom = top + marks.length * rowHeight;
  const grid = scale.ticks.map(
    (v) =>
      `<line class="grid" x1="${px(x(v))}" x2="${px(x(v))}" y1="${top}" y2="${bottom}"${axis.zero && v === 0 ? ' stroke-width="2.5"' : ''}/><text x="${px(x(v))}" y="${bottom + 16}" text-anchor="middle">${tick(v)}</text>`,
  );
  const rows = marks.map(({ label, at, low, high }, i) => {
    const y = top + (i + 0.5) * rowHeight;
    const name = `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${escapeXml(label)}</text>`;
    if (at === null) return `${name}<text x="${left + 4}" y="${y + 4}">not available</text>`;
    const bar =
      low === null || high === null
        ? ''
        : `<line class="mark" x1="${px(x(low))}" x2="${px(x(high))}" y1="${y}" y2="${y}" stroke-width="2"/>`;
    return `${name}${bar}<circle class="mark" cx="${px(x(at))}" cy="${y}" r="4"/>`;
  });
  const caption = `<text x="${left + 200}" y="${height - 8}" text-anchor="middle">${escapeXml(axis.label)}</text>`;
  return frame(title, width, height, [...grid, ...rows, caption]);
}

/** Lines over named places, with the legend at the right. */
export function linePlot(
  title: string,
  places: readonly string[],
  lines: readonly Line[],
  axis: { readonly x: string; readonly y: string },
): string {
  const [left, top, plotWidth, plotHeight] = [52, 14, 400, 220];
  const legend = 40 + 7 * Math.max(...lines.map(({ label }) => label.length), 4);
  const width = left + plotWidth + legend;
  const height = top + plotHeight + 46;
  const scale = axisOf([0, ...lines.flatMap(({ values }) => values).filter((v) => v !== null)]);
  const x = (i: number) => left + ((i + 0.5) / places.length) * plotWidth;
  const y = (v: number) =>
    top + plotHeight - ((v - scale.from) / (scale.to - scale.from)) * plotHeight;
  const grid = scale.ticks.map(
    (v) =>
      `<line class="grid" x1="${left}" x2="${left + plotWidth}" y1="${px(y(v))}" y2="${px(y(v))}"/><text x="${left - 6}" y="${px(y(v) + 4)}" text-anchor="end">${tick(v)}</text>`,
  );
  const every = Math.ceil(places.length / 12);
  const names = places.map((name, i) =>
    i % every === 0
      ? `<text x="${px(x(i))}" y="${top + plotHeight + 16}" text-anchor="middle">${escapeXml(name)}</text>`
      : '',
  );
  const drawn = lines.map(({ label, values }, n) => {
    const colour = COLOURS[n % COLOURS.length] ?? '#767676';
    const dash = DASHES[Math.floor(n / COLOURS.length) % DASHES.length] ?? '';
    const stroke = `fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"`;
    const points = values.map((v, i) => (v === null ? null : ([x(i), y(v)] as const)));
    const path = points
      .map((p, i) => (p ? `${points[i - 1] ? 'L' : 'M'}${px(p[0])} ${px(p[1])}` : ''))
      .join('');
    const dots = points.map((p) =>
      p ? `<circle cx="${px(p[0])}" cy="${px(p[1])}" r="3" fill="${colour}"/>` : '',
    );
    const at = top + 8 + n * 18;
    const key = `<path d="M${left + plotWidth + 8} ${at}h20" ${stroke}/><text x="${left + plotWidth + 34}" y="${at + 4}">${escapeXml(label)}</text>`;
    return `<path d="${path}" ${stroke}/>${dots.join('')}${key}`;
  });
  const labels = [
    `<text x="${left + plotWidth / 2}" y="${height - 8}" text-anchor="middle">${escapeXml(axis.x)}</text>`,
    `<text transform="translate(12 ${top + plotHeight / 2}) rotate(-90)" text-anchor="middle">${escapeXml(axis.y)}</text>`,
  ];
  const tall = Math.max(height, top + 24 + lines.length * 18);
  return frame(title, width, tall, [...grid, ...names, ...drawn, ...labels]);
}

/** What no XML 1.0 file may hold, escaped or not (2.2 of its specification): an SVG with one of these is not drawn. */
const NO_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Text as XML and HTML have it. */
export function escapeXml(text: string): string {
  return text
    .replace(NO_CHARACTER, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function frame(title: string, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-label="${escapeXml(title)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${STYLE}<title>${escapeXml(title)}</title><rect class="paper" width="${width}" height="${height}"/>${parts.join('')}</svg>`;
}

/** Round limits and ticks around all values. */
function axisOf(values: readonly number[]) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = most - least || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= span / 5) ?? 10);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { from: first * step, to: last * step, ticks };
}

function tick(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function px(value: number): string {
  return value.toFixed(1);
}
