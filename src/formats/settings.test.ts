import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultSettings, type Field, fieldNames, fields, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { type Channel, placeholder } from './channel.ts';
import {
  mergeFiles,
  parseConfigToml,
  parseSettingsJson,
  toConfigToml,
  toSettingsJson,
} from './settings.ts';

/** What a refusal says. */
function refusal(read: () => unknown): LabError {
  try {
    read();
  } catch (thrown) {
    if (thrown instanceof LabError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
}

const bom = '\uFEFF';
const crlf = (text: string) => text.replace(/\n/g, '\r\n');

/** The files that users have, key by key as the design names them. */
const configToml = `# aTTT
[channel]
base_url = "http://127.0.0.1:8080/v1"
api_key = "\${SUMMARY_KEY}"
timeout = 60

[models.policy]
model = "gpt-4o-mini"
temperature = 0.5
max_tokens = 96

[models.summary]
model = "qwen3"
temperature = 0.2
max_tokens = 512

[att]
enabled = true
update_interval_k = 4
lora_rank = 16
lora_alpha = 32
learning_rate = 5e-4
grad_steps = 3
ngram_n = 2
w_min = 0.1
text_source = "env"

[lab]
seed = 7
system_prompt = """Go north.
Take lamp."""
`;
const settingsJson = `{
  "att": {
    "trigger": {
      "min_steps_before_first_update": 6, "update_interval_k": 3,
      "novelty_threshold": 0.25, "max_updates_per_episode": 2
    },
    "rollback": {
      "enable": false, "kl_divergence_limit": 1.5, "repetition_ratio_limit": 0.9,
      "on_trigger": "reset_lora_to_episode_start"
    },
    "observability": {
      "log_repetition_ratio": true, "log_token_weights": false, "log_kl_every_n_updates": 2
    }
  }
}
`;

describe('the files that users have', () => {
  test('config.toml sets every key that it names', () => {
    const { patch, channel, notes } = parseConfigToml(configToml);
    expect(patch).toEqual({
      policy_model: 'gpt-4o-mini',
      temperature: 0.5,
      max_tokens: 96,
      summary_model: 'qwen3',
      summary_temperature: 0.2,
      summary_max_tokens: 512,
      enabled: true,
      update_interval_k: 4,
      lora_rank: 16,
      lora_alpha: 32,
      learning_rate: 5e-4,
      grad_steps: 3,
      ngram_n: 2,
      w_min: 0.1,
      text_source: 'env',
      seed: 7,
      system_prompt: 'Go north.\nTake lamp.',
    });
    expect(channel).toEqual({
      name: 'channel',
      base_url: 'http://127.0.0.1:8080/v1',
      api_key: placeholder('SUMMARY_KEY'),
      timeout: 60,
    });
    expect(notes).toEqual([]);
  });

  test('settings.json sets every key that it names', () => {
    expect(parseSettingsJson(settingsJson).patch).toEqual({
      min_steps_before_first_update: 6,
      update_interval_k: 3,
      novelty_threshold: 0.25,
      max_updates_per_episode: 2,
      rollback_enable: false,
      kl_divergence_limit: 1.5,
      repetition_ratio_limit: 0.9,
      on_trigger: 'reset_lora_to_episode_start',
      log_repetition_ratio: true,
      log_token_weights: false,
      log_kl_every_n_updates: 2,
    });
  });

  test('K of settings.json wins over K of config.toml, and a note says so', () => {
    const merged = mergeFiles(parseConfigToml(configToml), parseSettingsJson(settingsJson));
    expect(merged.patch.update_interval_k).toBe(3);
    expect(merged.notes).toEqual([
      'Both files name update_interval_k: 3 from settings.json is used, 4 from config.toml is not.',
    ]);
    expect(mergeFiles(parseConfigToml(configToml), null).patch.update_interval_k).toBe(4);
  });

  test('byte order marks and CR LF line ends change nothing', () => {
    expect(parseConfigToml(bom + crlf(configToml))).toEqual(parseConfigToml(configToml));
    expect(parseSettingsJson(bom + crlf(settingsJson))).toEqual(parseSettingsJson(settingsJson));
  });

  test('an escaped CR LF in a prompt is a line feed too', () => {
    const { patch } = parseConfigToml('[lab]\nsystem_prompt = "Go north.\\r\\nTake lamp."');
    expect(patch.system_prompt).toBe('Go north.\nTake lamp.');
  });
});

describe('refusals', () => {
  test.each([
    ['[att]\nlora_rnk = 8', 'att.lora_rnk', 'att.lora_rank'],
    ['[att]\nlearning_rat = 1e-3', 'att.learning_rat', 'att.learning_rate'],
    ['learning_rate = 1e-3', 'learning_rate', 'att.learning_rate'],
    ['[models.polcy]\nmodel = "m"', 'models.polcy', 'models.policy'],
    ['[attt]\nlora_rank = 8', 'attt', 'att'],
    ['attt = 8', 'attt', 'lab.seed'],
    ['[chanel]\nbase_ur = "http://h"', 'chanel', 'lab.seed'],
    ['[main]\nbase_url = "http://h"\napi_kye = "k"', 'main.api_kye', 'main.api_key'],
  ])('an unknown key of config.toml is named: %j', (text, key, nearest) => {
    const error = refusal(() => parseConfigToml(text));
    expect(error.code).toBe('bad_config');
    expect(error.message).toContain(`config.toml: unknown key ${key}`);
    if (key !== 'chanel') expect(error.details.nearest).toBe(nearest);
  });

  test('an unknown key of settings.json names the nearest known one', () => {
    const error = refusal(() => parseSettingsJson('{"att":{"trigger":{"novelty_treshold":0.5}}}'));
    expect(error.code).toBe('bad_config');
    expect(error.details.nearest).toBe('att.trigger.novelty_threshold');
    const table = refusal(() => parseSettingsJson('{"att":{"triger":{"novelty_threshold":0.5}}}'));
    expect(table.details.nearest).toBe('att.trigger');
  });

  test('a key of the other file is sent there', () => {
    const text = '[att.rollback]\nenable = false';
    expect(refusal(() => parseConfigToml(text)).message).toContain('settings.json');
  });

  test.each([
    ['[att]\nlora_rank = 0', 'att.lora_rank = 0 wants a value from 1 to 256'],
    ['[att]\nlora_rank = 8.5', 'att.lora_rank = 8.5 wants a whole number'],
    ['[att]\nlora_rank = "8"', 'att.lora_rank = "8" wants a number'],
    ['[att]\nlearning_rate = nan', 'att.learning_rate'],
    ['[att]\ntext_source = "both"', 'wants one of self, env, summary'],
    ['[att]\nlora_rank = { a = 1 }', 'att.lora_rank'],
    ['att = 3', 'att is 3, expected a table'],
    ['[c]\nbase_url = "h.test"', 'c.base_url'],
    ['[c]\nbase_url = "http://h"\ntimeout = 0', 'c.timeout = 0, expected seconds'],
    [`[c]\nbase_url = "http://h"\napi_key = "x${placeholder('A')}"`, 'c.api_key'],
    ['[c]\nbase_url = "http://h"\n[d]\nbase_url = "http://i"', 'two channel tables, [c] and [d]'],
  ])('a wrong value is named: %j', (text, words) => {
    const error = refusal(() => parseConfigToml(text));
    expect(error.code).toBe('bad_config');
    expect(error.message).toContain(words);
  });

  test.each([
    [`${bom}# note\r\n[att]\r\nlora_rank = = 8\r\n`, 3, 13],
    [`${bom}[att\n`, 1, 5],
  ])('a syntax error of config.toml has file, line and column: %j', (text, line, column) => {
    const error = refusal(() => parseConfigToml(text, 'my.toml'));
    expect(error.details).toMatchObject({ file: 'my.toml', line, column });
    expect(error.message).toContain(`my.toml, line ${line}, column ${column}`);
  });

  test.each([
    [`${bom}{\r\n  "att": {,\r\n}`, 2, 11],
    ['{"att": {}} x', 1, 13],
    ['{"att": {\n', 2, 1],
    ['{"att": {"trigger": nul}}', 1, 21],
    ["{'att': 1}", 1, 2],
    ['{"att": 01}', 1, 9],
    ['', 1, 1],
  ])('a syntax error of settings.json has file, line and column: %j', (text, line, column) => {
    const error = refusal(() => parseSettingsJson(text));
    expect(error.code).toBe('bad_config');
    expect(error.details).toMatchObject({ file: 'settings.json', line, column });
  });

  test('a settings.json that is not an object is refused', () => {
    expect(refusal(() => parseSettingsJson('[1]')).code).toBe('bad_config');
  });
});

describe('export', () => {
  const value = (field: Field): fc.Arbitrary<unknown> => {
    switch (field.kind) {
      case 'number':
        return field.integer
          ? fc.integer({ min: field.min, max: field.max })
          : fc
              .double({ min: field.min, max: field.max, noNaN: true })
              .map((number) => (number === 0 ? 0 : number)); // -0 is 0 in both files
      case 'switch':
        return fc.boolean();
      case 'choice':
        return fc.constantFrom(...field.options);
      case 'list':
        return fc.shuffledSubarray([...field.options], { minLength: 1 });
      case 'text':
        return fc
          .string({ unit: 'grapheme' })
          .chain((text) => fc.constantFrom(text, `${text}\n"""\t\\ ${text}`))
          .map((text) => text.replace(/\r/g, ''));
      default:
        return field satisfies never;
    }
  };
  const settings = fc
    .record(Object.fromEntries(fieldNames.map((name) => [name, value(fields[name])])))
    .map((record) => record as unknown as Settings); // one value of its own kind a field
  const channel = fc.record<Channel>({
    name: fc
      .stringMatching(/^[a-z][a-z0-9 ._-]{0,10}$/)
      .filter((name) => !/^(att|lab|models)$/.test(name)),
    base_url: fc.webUrl(),
    api_key: fc.option(fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,10}$/).map(placeholder)),
    timeout: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
  });

  test('then import is the identity', () => {
    fc.assert(
      fc.property(settings, fc.option(channel), (written, way) => {
        const read = mergeFiles(
          parseConfigToml(toConfigToml(written, way)),
          parseSettingsJson(toSettingsJson(written)),
        );
        expect(read.patch).toEqual(written);
        expect(read.channel).toEqual(way);
      }),
      { numRuns: 60 },
    );
  });

  test('puts keys where users have them', () => {
    const toml = toConfigToml(defaultSettings);
    expect(toml).toMatch(/\[models\.policy\]\nmodel = "household"\ntemperature = 0\.7\n/);
    expect(toml).toMatch(/\[att\]\n(.*\n)*update_interval_k = 5\n/);
    expect(JSON.parse(toSettingsJson(defaultSettings)).att.trigger.update_interval_k).toBe(5);
  });

  test('writes a variable in place of a key', () => {
    const way = parseConfigToml('[main]\nbase_url = "http://h"\napi_key = "sk-secret"');
    expect(way.notes).toHaveLength(1);
    const text = toConfigToml(defaultSettings, way.channel);
    expect(text).not.toContain('sk-secret');
    expect(text).toContain(placeholder('MAIN_API_KEY'));
  });
});
