/** JSON for people: indented, but with every list of plain values on one line. */

const indent = '  ';

export function readableJson(value: unknown, depth = 0): string {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) {
      return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    }
    return block(
      '[]',
      value.map((item) => readableJson(item, depth + 1)),
      depth,
    );
  }
  if (typeof value === 'object' && value !== null) {
    const lines = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => `${JSON.stringify(key)}: ${readableJson(item, depth + 1)}`);
    return block('{}', lines, depth);
  }
  return JSON.stringify(value) ?? 'null';
}

function block(brackets: '[]' | '{}', lines: readonly string[], depth: number): string {
  if (lines.length === 0) return brackets;
  const inner = indent.repeat(depth + 1);
  return `${brackets[0]}\n${inner}${lines.join(`,\n${inner}`)}\n${indent.repeat(depth)}${brackets[1]}`;
}
