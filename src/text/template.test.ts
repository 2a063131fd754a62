import { expect, test } from 'vitest';
// Templates whose renderings jinja2 (trim_blocks, lstrip_blocks) computed.
import templates from '../../e2e/fixtures/cases/chat_templates.json' with { type: 'json' };
import { LabError } from '../errors.ts';
import type { ChatMessage } from '../records.ts';
import { chatTemplateOf, renderChat } from './template.ts';

const chat: ChatMessage[] = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: 'yo' },
];
const options = { addGenerationPrompt: true, bosToken: '<s>', eosToken: '</s>' };

test('block lines leave no blank lines and no indents (B16)', () => {
  expect(renderChat(templates.T1, chat, options)).toBe('U: hi\nA: yo\nA:\n');
});

test('the generation tag of newer templates is known (B16)', () => {
  expect(renderChat(templates.T4, chat, options)).toBe('hiyo');
});

test("a template's own refusal reaches the user in its own words (B16)", () => {
  const system: ChatMessage[] = [{ role: 'system', content: 'be brief' }, ...chat];
  expect(() => renderChat(templates.T6, system, options)).toThrow(
    /refuses these messages: no system role here$/,
  );
  expect(renderChat(templates.T6, chat, options)).toBe('<user>hi<assistant>yo');
});

test('a template that does not parse is unsupported, with the reason', () => {
  let error: unknown;
  try {
    renderChat('{% for m in messages %}', chat, options);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(LabError);
  expect(error).toMatchObject({ code: 'unsupported' });
  expect(String(error)).toMatch(/cannot be run here: \S/);
});

test('start and end token and no tools are given', () => {
  const template = '{{ bos_token }}{{ eos_token }}{{ tools is none }}{{ range(3)[2] }}';
  expect(renderChat(template, chat, options)).toBe('<s></s>true2');
});

test('a prompt does not depend on the day', () => {
  const template =
    "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% else %}none{% endif %}";
  expect(renderChat(template, chat, options)).toBe('none');
});

test('a crafted loop is stopped', () => {
  const template = '{% for i in range(1000000000) %}x{% endfor %}';
  expect(() => renderChat(template, chat, options)).toThrow(/longer than 100000/);
});

test('a file without a template says so', () => {
  expect(chatTemplateOf({ 'tokenizer.chat_template': 'x' })).toBe('x');
  expect(() => chatTemplateOf({})).toThrow(/no chat template.*instruction-tuned/);
});
