/** `attt report`: from the rows of an experiment's folder to a page, a text and its figures. */

import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { figureFiles, toHtml, toMarkdown } from '../experiment/document.ts';
import { reportOf } from '../experiment/report.ts';
import { headerOf } from './experiment.ts';
import { makeFolder } from './folders.ts';
import { readRows, writeHeader, writeWhole } from './rows.ts';

export interface ReportOptions {
  readonly out: string;
  /** When the rows were made; the report has no clock of its own, so that it can be made again. */
  readonly date: string;
  readonly note: readonly string[];
}

/** Writes report.html, report.md, their figures and the rows, packed; says where. */
export async function writeReport(
  folder: string,
  { out, date, note }: ReportOptions,
): Promise<{ readonly files: readonly string[] }> {
  const header = await headerOf(folder);
  await makeFolder(out);
  const place = new Map(header.arms.map(({ name }, i) => [name, i]));
  const rows = [...(await readRows(folder)).values()].sort(
    (a, b) =>
      a.seed - b.seed || a.task - b.task || (place.get(a.arm) ?? 0) - (place.get(b.arm) ?? 0),
  );
  const report = reportOf(header, rows, date, note);
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'report.html': toHtml(report),
    'report.md': toMarkdown(report),
    ...figureFiles(report),
    'rows.jsonl.gz': gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { level: 9 }),
  };
  await writeHeader(out, header);
  for (const [name, content] of Object.entries(files)) await writeWhole(out, name, content);
  return { files: Object.keys(files).map((name) => join(out, name)) };
}
