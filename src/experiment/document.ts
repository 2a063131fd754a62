/** A report as headings, paragraphs, tables and figures, and how HTML and Markdown write them. */

import { escapeXml } from './svg.ts';

export type Block =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly Cells[] }
  /** `name` is its file's, without an ending; `text` says what it shows to those who cannot see it. */
  | {
      readonly kind: 'figure';
      readonly name: string;
      readonly text: string;
      readonly svg: string;
    };

/** The first names the line. */
export type Cells = readonly string[];

export interface Report {
  readonly title: string;
  readonly blocks: readonly Block[];
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--quiet:#5a6068;--line:#d9dde2}
@media (prefers-color-scheme:dark){:root{--ink:#e4e6ea;--paper:#16181c;--quiet:#a2a9b3;--line:#383d45}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:75rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto;margin:1rem 0}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
.words{text-align:left}
.long{white-space:normal;min-width:24rem}
th{color:var(--quiet);font-weight:600;vertical-align:bottom;white-space:normal}
figure{margin:1rem 0;overflow-x:auto}
figcaption{color:var(--quiet);font-size:13px}`;

/** One page that needs nothing else. */
export function toHtml({ title, blocks }: Report): string {
  const body = blocks.map(htmlOf).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeXml(title)}</h1>
${body}
</body></html>
`;
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2>${escapeXml(block.text)}</h2>`;
    case 'text':
      return `<p>${escapeXml(block.text)}</p>`;
    case 'table': {
      const words = wordColumns(block.head, block.rows);
      const head = block.head.map(
        (cell, i) =>
          `<th scope="col"${words.has(i) ? ' class="words"' : ''}>${escapeXml(cell)}</th>`,
      );
      const rows = block.rows.map((cells) => `<tr>${cells.map(htmlCell).join('')}</tr>`);
      return `<div class="wide" tabindex="0"><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
    }
    case 'figure':
      return `<figure>${block.svg}<figcaption>${escapeXml(block.text)}</figcaption></figure>`;
    default:
      return block satisfies never;
  }
}

/** Numbers stand to the right, words to the left, and long ones on several lines. */
function htmlCell(cell: string, column: number): string {
  const words = column === 0 || !isNumber(cell);
  const kinds = [...(words ? ['words'] : []), ...(cell.length > 60 ? ['long'] : [])];
  return `<td${kinds.length > 0 ? ` class="${kinds.join(' ')}"` : ''}>${escapeXml(cell)}</td>`;
}

const isNumber = (cell: string) =>
  /^(?:< )?[+-]?[\d.]+(?: %|\/\d+)?(?: to [+-]?[\d.]+)?$|^n\/a$/.test(cell);

/** The first column, and those that hold no number. */
function wordColumns(head: Cells, rows: readonly Cells[]): ReadonlySet<number> {
  const columns = head.map((_, i) => i);
  return new Set(
    columns.filter((i) => i === 0 || rows.every((cells) => !isNumber(cells[i] ?? ''))),
  );
}

/** Figures are files of their own beside it: {@link figureFiles}. */
export function toMarkdown({ title, blocks }: Report): string {
  return `# ${plain(title)}\n\n${blocks.map(markdownOf).join('\n\n')}\n`;
}

/**
 * Words on one line that Markdown shows as they are: what would be code, emphasis, a link, HTML or an entity gets a
 * backslash. An underscore within a word is none of these.
 */
function plain(words: string): string {
  return words
    .replace(/\s*[\n\r]\s*/g, ' ')
    .replace(
      /\\(?=[!-/:-@[-`{-~])|[`*<~]|&(?=#?\w+;)|\](?=[(:[])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu,
      '\\$&',
    );
}

/** The same at the start of a paragraph, where it would also begin a heading, a quotation, a list or a table. */
function paragraph(words: string): string {
  return plain(words.trim())
    .replace(/^[#>+|=-]/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2');
}

function markdownOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `## ${plain(block.text)}`;
    case 'text':
      return paragraph(block.text);
    case 'table': {
      const line = (cells: readonly string[]) =>
        `| ${cells.map((cell) => plain(cell).replaceAll('|', '\\|')).join(' | ')} |`;
      const words = wordColumns(block.head, block.rows);
      const rule = line(block.head.map((_, i) => (words.has(i) ? '---' : '---:')));
      return [line(block.head), rule, ...block.rows.map(line)].join('\n');
    }
    case 'figure':
      return `![${plain(block.text)}](${block.name}.svg)`;
    default:
      return block satisfies never;
  }
}

/** The figures by file name. */
export function figureFiles({ blocks }: Report): Readonly<Record<string, string>> {
  return Object.fromEntries(
    blocks.flatMap((block) => (block.kind === 'figure' ? [[`${block.name}.svg`, block.svg]] : [])),
  );
}
