/**
 * Small changes of one line of JavaScript, as mutation testing makes them. Each can be undone by another
 * of them, so the same list plants a fault and finds its repair. Knows lines, no syntax tree.
 */

/** What kind of mistake a change is like. */
const FAULT_KINDS = [
  'comparison',
  'arithmetic',
  'logic',
  'constant',
  'call',
  'order',
  'statement',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Mutation {
  readonly kind: FaultKind;
  /** The whole line after the change. */
  readonly line: string;
}

/** Tokens that stand for each other; within a group each may become each. */
const GROUPS: readonly (readonly [FaultKind, RegExp, readonly string[]])[] = [
  ['comparison', /(?<= )(?:<=|>=|<|>)(?= )/g, ['<', '<=', '>', '>=']],
  ['comparison', /[!=]==/g, ['===', '!==']],
  ['arithmetic', /(?<= )[+-](?= )/g, ['+', '-']],
  ['arithmetic', /(?<= )[*/%](?= )/g, ['*', '/', '%']],
  ['arithmetic', /[+-]=/g, ['+=', '-=']],
  ['arithmetic', /\+\+|--/g, ['++', '--']],
  ['logic', /&&|\|\|/g, ['&&', '||']],
  ['logic', /\b(?:true|false)\b/g, ['true', 'false']],
  ['call', /(?<=Math\.)(?:min|max)\b/g, ['min', 'max']],
  ['call', /(?<=Math\.)(?:floor|ceil)\b/g, ['floor', 'ceil']],
  ['call', /(?<=\.)(?:push|unshift)\b/g, ['push', 'unshift']],
  ['call', /(?<=\.)(?:pop|shift)\b/g, ['pop', 'shift']],
  ['call', /(?<=\.)(?:every|some)\b/g, ['every', 'some']],
  ['call', /(?<=\.)(?:startsWith|endsWith)\b/g, ['startsWith', 'endsWith']],
  ['call', /(?<=\.)(?:indexOf|lastIndexOf)\b/g, ['indexOf', 'lastIndexOf']],
  ['call', /(?<=\.)(?:padStart|padEnd)\b/g, ['padStart', 'padEnd']],
  ['call', /(?<=\.)(?:toUpperCase|toLowerCase)\b/g, ['toUpperCase', 'toLowerCase']],
  ['statement', /\b(?:break|continue)(?=;)/g, ['break', 'continue']],
];

/** Places whose two parts change places; the first and third part of a match stay. */
const SWAPS: readonly (readonly [FaultKind, RegExp])[] = [
  ['order', /(\()([\w.]+), ([\w.]+)(\))/g],
  ['order', /(\? )([\w.'"-]+) : ([\w.'"-]+)()/g],
];

/** Every mutation of a line, in a fixed order; none where nothing can be changed. */
export function mutationsOf(line: string): readonly Mutation[] {
  const code = withoutTexts(line);
  const found: Mutation[] = [];
  const put = (kind: FaultKind, at: number, length: number, text: string) => {
    const changed = line.slice(0, at) + text + line.slice(at + length);
    if (changed !== line) found.push({ kind, line: changed });
  };
  for (const [kind, pattern, group] of GROUPS) {
    for (const { 0: token, index } of code.matchAll(pattern)) {
      for (const other of group) put(kind, index, token.length, other);
    }
  }
  for (const { 0: digits, index } of code.matchAll(/(?<![\w.$])\d+(?![\w.])/g)) {
    const number = Number(digits);
    for (const other of [number + 1, number - 1]) {
      if (other >= 0) put('constant', index, digits.length, String(other));
    }
  }
  for (const { index } of code.matchAll(/\.length(?! [-+] 1\b)/g)) {
    put('constant', index + '.length'.length, 0, ' - 1');
  }
  for (const { index } of code.matchAll(/(?<=\.length) - 1\b/g)) put('constant', index, 4, '');
  for (const { 0: word, index } of code.matchAll(/\b(?:if \(|while \(|return )(?!!)/g)) {
    put('logic', index + word.length, 0, '!');
  }
  for (const { 0: word, index } of code.matchAll(/\b(?:if \(|while \(|return )!/g)) {
    put('logic', index + word.length - 1, 1, '');
  }
  for (const [kind, pattern] of SWAPS) {
    for (const { 0: all, 1: before = '', 2: a = '', index } of code.matchAll(pattern)) {
      const whole = line.slice(index, index + all.length);
      const rest = whole.slice(before.length + a.length);
      const between = kind === 'order' && before === '(' ? ', ' : ' : ';
      const after = before === '(' ? ')' : '';
      const first = whole.slice(before.length, before.length + a.length);
      const second = rest.slice(between.length, rest.length - after.length);
      put(kind, index, all.length, before + second + between + first + after);
    }
  }
  const returned = /^(\s*)return ([\w.(['"`!-].*;)$/.exec(line);
  if (returned) found.push({ kind: 'statement', line: `${returned[1]}${returned[2]}` });
  const bare = /^(\s*)([\w.(['"`!-].*;)$/.exec(line);
  if (
    bare &&
    !/^(?:const|let|return|if|for|while|throw|break|continue|import|export|else)\b/.test(
      bare[2] ?? '',
    )
  ) {
    found.push({ kind: 'statement', line: `${bare[1]}return ${bare[2]}` });
  }
  return found;
}

/** The line with the insides of texts, patterns and comments blanked, at the same length. */
function withoutTexts(line: string): string {
  const blank = (text: string) => text.replace(/[^'"]/g, '_');
  return line
    .replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, blank)
    .replace(/^\s*(?:\/\*\*|\*|\/\/).*$/, (text) => ' '.repeat(text.length))
    .replace(/(?<=[(=] ?)\/(?![/*]).*?[^\\]\/[gi]*/g, (text) => '_'.repeat(text.length));
}
