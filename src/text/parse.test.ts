import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseCommand, parseTurn } from './parse.ts';

describe('a model that plays both sides', () => {
  const both =
    'Thought: look\nAction: open drawer 2\nObservation: a key lies inside\nAction: take key 1\nFinal Answer: done';

  test('runs only its first action, and the rest is marked', () => {
    const turn = parseTurn(both, 'eos');
    expect(turn).toEqual({
      thought: 'look',
      action: 'open drawer 2',
      status: 'ok',
      ignoredFrom: 'Thought: look\nAction: open drawer 2'.length,
    });
    expect(both.slice(turn.ignoredFrom ?? 0)).toMatch(/^\nObservation: a key/);
  });

  test.each(['```', '```text'])('reads the same within a code fence opened by %s', (fence) => {
    const turn = parseTurn(`${fence}\n${both}\n\`\`\``, 'eos');
    expect(turn).toMatchObject({ thought: 'look', action: 'open drawer 2', status: 'ok' });
    expect(turn.ignoredFrom).toBe(`${fence}\nThought: look\nAction: open drawer 2`.length);
  });

  test('does not run the invented part even where the limit cut it', () => {
    expect(parseTurn('Action: look\nObservation: a ke', 'length').action).toBe('look');
  });
});

describe('labels', () => {
  test.each([
    ['action: open drawer 2', 'open drawer 2'],
    ['ACTION : Open Drawer 2.', 'open drawer 2'],
    ['THOUGHT: hm\r\nAction: look\r\n', 'look'],
    ['**Action:** `go to fridge 1`', 'go to fridge 1'],
  ])('%j acts', (text, action) => {
    expect(parseTurn(text, 'eos')).toMatchObject({ action, status: 'ok', ignoredFrom: null });
  });

  test.each(['Thought: I will open drawer 2', 'open drawer 2', '', 'Action:', 'Action: .'])(
    '%j is malformed',
    (text) => {
      expect(parseTurn(text, 'eos')).toMatchObject({ action: '', status: 'malformed' });
    },
  );

  test('a word that ends in the label is not the label', () => {
    expect(parseTurn('Reaction: open drawer 2', 'eos').status).toBe('malformed');
  });
});

describe('a text that the limit ended', () => {
  test('before an action is cut off, not malformed', () => {
    expect(parseTurn('Thought: first I will', 'length').status).toBe('cut_off');
  });

  test('within the action line does not act: the number may be half', () => {
    const turn = parseTurn('Thought: x\nAction: go to cabinet 1', 'length');
    expect(turn).toEqual({ thought: 'x', action: '', status: 'cut_off', ignoredFrom: null });
  });

  test('after the action line acts', () => {
    expect(parseTurn('Action: go to cabinet 1\n', 'length').action).toBe('go to cabinet 1');
  });
});

test('only case, space and the final stop of a command are normalised', () => {
  const admissible = ['go to fridge 1', 'open fridge 1', 'move cup 1 to shelf 2'];
  expect(admissible).toContain(normaliseCommand('Move  Cup 1 to Shelf 2.'));
  expect(admissible).not.toContain(normaliseCommand('put cup 1 in/on shelf 2'));
  expect(admissible).not.toContain(normaliseCommand('open fridge'));
});

test('a turn as the policy is taught to write it reads back', () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const command = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
  const thought = fc.stringMatching(/^[A-Za-z][a-z ,.]{0,40}[a-z.]$/);
  fc.assert(
    fc.property(thought, command, (said, act) => {
      expect(parseTurn(`Thought: ${said}\nAction: ${act}`, 'eos')).toEqual({
        thought: said,
        action: act,
        status: 'ok',
        ignoredFrom: null,
      });
    }),
  );
});

describe('a turn whose command is code', () => {
  const read = (text: string) => parseTurn(text, 'eos', true);

  test('reaches the world as it was written', () => {
    const action = "replace 12 with   if (A  <= b) return `x`.trim() + '*';";
    expect(read(`Thought: x\nAction: ${action}`)).toMatchObject({ action, status: 'ok' });
    expect(read('**Action:** `view Lru.js`').action).toBe('view Lru.js');
  });

  test('takes the block between fences that follows, and nothing after it', () => {
    const block = 'replace 3-4 with\n```js\n  a;\n\n  b;\n```';
    const turn = read(`Thought: x\nAction: ${block}\nObservation: done`);
    expect(turn).toMatchObject({ action: block, status: 'ok' });
    expect(turn.ignoredFrom).toBe(`Thought: x\nAction: ${block}`.length);
    expect(read('Action: undo\nThen:\n```\nx\n```').action).toBe('undo');
  });

  test('is cut off where the limit ends it within the line or the block', () => {
    const cut = (text: string) => parseTurn(text, 'length', true).status;
    expect(cut('Action: replace 3 with a')).toBe('cut_off');
    expect(cut('Action: replace 3 with\n```js\n  a;\n')).toBe('cut_off');
    expect(cut('Action: replace 3 with\n```js\n  a;\n```\nso')).toBe('ok');
  });
});
