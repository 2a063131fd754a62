/** `attt report`: from the rows of an experiment's folder to a page, a text and its figures. */

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { LabError } from '../errors.ts';
import { figureFiles, toHtml, toMarkdown } from '../experiment/document.ts';
import { differences, type Header } from '../experiment/header.ts';
import { sameResult } from '../experiment/read-rows.ts';
import { reportOf } from '../experiment/report.ts';
import { isErrorRow, type Row, sortedRows } from '../experiment/row.ts';
import { headerOf } from './experiment.ts';
import { makeFolder } from './folders.ts';
import { readHeader, readRows, writeHeader, writeWhole } from './rows.ts';

export interface ReportOptions {
  readonly out: string;
  /** When the rows were made; the report has no clock of its own, so that it can be made again. */
  readonly date: string;
  readonly note: readonly string[];
}

/**
 * Writes report.html, report.md, their figures and the rows, packed; says where. Throws `bad_input` before anything
 * is written where that would replace what another experiment left there.
 */
export async function writeReport(
  folder: string,
  { out, date, note }: ReportOptions,
): Promise<{ readonly files: readonly string[] }> {
  const header = await headerOf(folder);
  await makeFolder(out);
  const found = await readRows(folder);
  if ((await realpath(out)) !== (await realpath(folder))) await checkTarget(out, header, found);
  const rows = sortedRows([...found.values()], header.arms);
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

/** Throws `bad_input` where the folder holds another experiment, or a row that is not among those to be written. */
async function checkTarget(
  out: string,
  header: Header,
  rows: ReadonlyMap<string, Row>,
): Promise<void> {
  const refuse = (what: string) =>
    new LabError('bad_input', `${out} ${what} Nothing was written.`, { out });
  const known = await readHeader(out);
  const found = known === null ? [] : differences(known, header);
  if (found.length > 0) {
    throw refuse(
      `holds another experiment, which the report would replace (${found.join('; ')}). Take another folder for --out.`,
    );
  }
  const lost = [...(await readRows(out)).values()].filter((row) => {
    const written = rows.get(row.key);
    return !written || (!isErrorRow(row) && !sameResult(row, written));
  });
  const [first] = lost;
  if (first === undefined) return;
  throw refuse(
    `holds ${lost.length} rows that are not among those of the report and would be lost, ${first.key} first. Take another folder for --out, or join the two with "attt experiment merge" and report on that.`,
  );
}
