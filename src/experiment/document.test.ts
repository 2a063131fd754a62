import { expect, test } from 'vitest';
import { toHtml, toMarkdown } from './document.ts';
import { escapeXml, intervalPlot } from './svg.ts';

// What stands to the right was read by markdown-it-py 4.3.0 (CommonMark, tables, strikethrough): each as on the left.
test.each([
  ['<script>alert(1)</script> | x', '\\<script>alert(1)\\</script> | x'],
  [
    '**bold** _em_ __init__ update_interval_k',
    '\\*\\*bold\\*\\* \\_em\\_ \\_\\_init\\_\\_ update_interval_k',
  ],
  ['# of steps?', '\\# of steps?'],
  ['1. first', '1\\. first'],
  ['1) first', '1\\) first'],
  ['> quoted', '\\> quoted'],
  ['+ y', '\\+ y'],
  ['---', '\\---'],
  ['=== x', '\\=== x'],
  ['| a | b |', '\\| a | b |'],
  ['[a](b) ![c](d) [e]: f [g][h]', '[a\\](b) ![c\\](d) [e\\]: f [g\\][h]'],
  ['a\\|b \\<c C:\\dir', 'a\\\\|b \\\\\\<c C:\\dir'],
  ['&lt; &amp AT&T &#35;', '\\&lt; &amp AT&T \\&#35;'],
  ['`code` ~~gone~~', '\\`code\\` \\~\\~gone\\~\\~'],
  ['["q_proj","v_proj"]', '["q_proj","v_proj"]'],
  ['2026-11-30', '2026-11-30'],
])('%j is a paragraph of these words in Markdown', (text, written) => {
  expect(toMarkdown({ title: 't', blocks: [{ kind: 'text', text }] })).toBe(`# t\n\n${written}\n`);
});

test('words on several lines stay one heading, paragraph and cell in Markdown', () => {
  const text = 'one\n\n# two \r\n- three';
  const blocks = [
    { kind: 'heading', text },
    { kind: 'text', text },
    { kind: 'table', head: ['', ''], rows: [[text, 'a|b \\| c']] },
  ] as const;
  expect(toMarkdown({ title: text, blocks }).split('\n')).toEqual([
    ...['# one # two - three', '', '## one # two - three', '', 'one # two - three', ''],
    ...['|  |  |', '| --- | --- |', '| one # two - three | a\\|b \\\\\\| c |', ''],
  ]);
});

// XML 1.0, 2.2: U+0009, U+000A, U+000D and what lies above U+001F, surrogates and U+FFFE, U+FFFF aside.
test('a character that XML may not hold is replaced, so that figures are drawn', () => {
  expect(escapeXml('a\u0000b\u001Fc\uFFFEd\uD800e\t\n\u{1F600}Ω<')).toBe(
    'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\t\n\u{1F600}Ω&lt;',
  );
  const svg = intervalPlot('x', [{ label: '\u0001', at: 1, low: 0, high: 1 }], { label: '' });
  expect(svg).not.toContain('\u0001');
  expect(toHtml({ title: '\u0002', blocks: [] })).not.toContain('\u0002');
});
