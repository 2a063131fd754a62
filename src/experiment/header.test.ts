import { expect, test } from 'vitest';
import { checkSame, differences, readHeader } from './header.ts';
import { headerOf } from './testing-rows.ts';

const header = headerOf(['frozen', 'attt']);

test('rows of another task set, model or setting are refused, and what differs is named', () => {
  const [frozen, attt] = header.arms;
  if (!frozen || !attt) throw new Error('no arms');
  const slower = { ...attt, settings: { ...attt.settings, learning_rate: 0.001 } };
  const other = { ...header, taskSet: 'efgh', modelSha256: 'ee', arms: [frozen, slower] };
  expect(() => checkSame(header, other, 'there/')).toThrow(
    'task set: "abcd" and "efgh"; model: "ff" and "ee"; attt learning_rate: 0.0005 and 0.001',
  );
  expect(differences(header, header)).toEqual([]);
});

test('a model is known by its hash: what its file is called is no difference', () => {
  const arms = header.arms.map((arm) => ({
    ...arm,
    settings: { ...arm.settings, policy_model: 'copy.gguf' },
  }));
  expect(differences(header, { ...header, model: 'copy.gguf', arms })).toEqual([]);
});

test('tasks are told as they are written in a file, however many there are', () => {
  const over = (tasks: readonly number[]) => ({
    ...header,
    experiment: { ...header.experiment, tasks },
  });
  const all = Array.from({ length: 134 }, (_, task) => task);
  expect(differences(over(all), over([0, 1, 2, 7, 9, 8]))).toEqual([
    'tasks: "0-133" and "0-2,7,9,8"',
  ]);
});

test('an experiment goes on with a later build of the same version', () => {
  const at = (appVersion: string) => ({ ...header, appVersion });
  expect(differences(at('0.1.0+gaaaaaaa'), at('0.1.0+gbbbbbbb'))).toEqual([]);
  expect(differences(at('0.1.0+gaaaaaaa'), at('0.2.0+gaaaaaaa'))).toEqual([
    'version: "0.1.0" and "0.2.0"',
  ]);
});

test('an experiment goes on although a setting was added since, which had no effect before', () => {
  const arms = header.arms.map((arm) => {
    const { trigger_entropy: _, ...settings } = arm.settings;
    return { ...arm, settings: settings as typeof arm.settings }; // as an older file has it
  });
  expect(differences({ ...header, arms }, header)).toEqual([]);
});

test.each([
  ['{"schema":1,"exp', 'is damaged: it is no JSON'],
  ['null', 'has no schema'],
  ['[]', 'has no schema'],
  ['{"att": {}}', 'has no schema'],
  ['{"schema":1}', 'is damaged: its env is missing, expected a text'],
  ['{"schema":"9"}', 'has schema "9"; expected what "attt experiment" writes, with schema 1'],
  ['{"schema":9}', 'has schema 9; expected what "attt experiment" writes, with schema 1'],
])('a file of %s is no header: %s', (text, words) => {
  expect(() => readHeader(text, 'there/experiment.json')).toThrow(`there/experiment.json ${words}`);
  expect(readHeader(JSON.stringify(header), 'here')).toEqual(header);
});

const [frozen, attt] = header.arms;
const { experiment } = header;
test.each([
  [{ planned: undefined }, 'is damaged: its planned is missing, expected a whole number from 0'],
  [{ experiment: { ...experiment, question: null } }, 'of the experiment, its question is null'],
  [{ experiment: { ...experiment, split: undefined } }, 'of the experiment, its split is missing'],
  [{ experiment: { ...experiment, seeds: [-1] } }, 'of the experiment, its seeds is [-1]'],
  [{ arms: [frozen, null] }, 'its arms is [{"name":"frozen"'],
  [{ arms: [{ ...frozen, name: 3 }] }, 'of an arm, its name is 3, expected a text'],
  [{ arms: [{ ...frozen, notApplicable: 0 }] }, 'of an arm, its notApplicable is 0'],
  [{ arms: [frozen, { ...attt, name: 'frozen' }] }, 'two arms are called "frozen"'],
  [{ arms: [{ ...attt, method: 'dream' }] }, 'has an arm of the method "dream"; this version has'],
  [{ arms: [{ ...attt, settings: {} }] }, 'has an arm of the method missing'],
  [{ mixed: {} }, 'of the mix, its differences is missing, expected a list of texts'],
  [{ mixed: { differences: [], experiments: [{}] } }, 'its env is missing'],
])('a header with %j is refused: %s', (over, words) => {
  const text = JSON.stringify({ ...header, ...over });
  expect(() => readHeader(text, 'there/experiment.json')).toThrow(words);
});
