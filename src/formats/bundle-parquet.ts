/** The tables of a run bundle as Parquet. The writer is loaded when the first table is written. */

import type { MetricRow, TokenRow } from './bundle-tables.ts';
import { metricNames } from './bundle-tables.ts';

/** A column's type, element by element where it is a list; `?` allows nulls. */
type ColumnType = keyof typeof leaves;

interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly list: boolean;
  readonly values: unknown[];
}

/** tokens.parquet: the rows of tokens.jsonl under the same names, lists as Parquet lists. */
export function tokensParquet(rows: readonly TokenRow[]): Promise<Uint8Array> {
  const column = (name: keyof TokenRow, type: ColumnType, list = false): Column => ({
    name,
    type,
    list,
    values: rows.map((row) => row[name]),
  });
  return write([
    column('step', 'INT32'),
    column('outcome', 'STRING'),
    column('kept', 'BOOLEAN'),
    column('source', 'STRING'),
    column('context_tokens', 'INT32?'),
    column('input_ids', 'INT32', true),
    column('labels', 'INT32', true),
    column('weights', 'DOUBLE', true),
    column('logprobs', 'DOUBLE?', true),
    column('ce_before', 'DOUBLE?', true),
    column('ce_after', 'DOUBLE?', true),
    column('reward', 'DOUBLE'),
    column('recorded_at', 'STRING?'),
  ]);
}

/** metrics.parquet: the columns of metrics.csv. */
export function metricsParquet(rows: readonly MetricRow[]): Promise<Uint8Array> {
  return write(
    metricNames.map((name) => ({
      name,
      type: name === 'step' ? 'INT32' : 'DOUBLE?',
      list: false,
      values: rows.map((row) => row[name]),
    })),
  );
}

async function write(columns: readonly Column[]): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const buffer = parquetWriteBuffer({
    columnData: columns.map(({ name, values }) => ({ name, data: values })),
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(schemaOf)],
  });
  return new Uint8Array(buffer);
}

/** A plain column, or the three levels that the format has for a list. */
function schemaOf({ name, type, list }: Column) {
  if (!list) return [{ name, ...leaves[type] }];
  return [
    { name, repetition_type: 'REQUIRED', converted_type: 'LIST', num_children: 1 } as const,
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 } as const,
    { name: 'element', ...leaves[type] },
  ];
}

const leaves = {
  INT32: { type: 'INT32', repetition_type: 'REQUIRED' },
  'INT32?': { type: 'INT32', repetition_type: 'OPTIONAL' },
  DOUBLE: { type: 'DOUBLE', repetition_type: 'REQUIRED' },
  'DOUBLE?': { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  'STRING?': { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  BOOLEAN: { type: 'BOOLEAN', repetition_type: 'REQUIRED' },
} as const;
