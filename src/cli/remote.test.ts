/** `attt run` on a served model: the whole loop over a scripted server, and where keys go. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Row } from '../experiment/row.ts';
import type { EpisodeEvent } from '../records.ts';
import { delta, done, finish, scriptedServer, send } from '../remote/testing-server.ts';
import { remoteOf } from './remote.ts';
import { atttWith } from './testing.ts';
import { randomPolicy } from './testing-policy.ts';
import { scratchFile, scratchFolder } from './testing-scratch.ts';

vi.setConfig({ testTimeout: 120_000 });

const channel = { name: 'c', base_url: 'https://a.test/v1', api_key: '${' + 'MY_KEY}', timeout: 7 };

test('a channel’s key goes to its own origin only', () => {
  const env = { MY_KEY: 'mine', ATTT_API_KEY: 'other' };
  expect(remoteOf('https://a.test', 'm', channel, env)).toMatchObject({
    apiKey: 'mine',
    timeout: 7,
  });
  expect(remoteOf('https://b.test', 'm', channel, env)).toMatchObject({
    apiKey: 'other',
    timeout: 120,
  });
  expect(remoteOf('https://b.test', 'm', channel, {}).apiKey).toBeNull();
  expect(() => remoteOf('https://a.test', 'm', channel, {})).toThrow('MY_KEY is not set');
});

test('an episode runs on a server, its key in no file; a method that trains is refused', async () => {
  await using server = await scriptedServer((response) =>
    send(
      response,
      delta([
        ['Thought', -0.1],
        [': look\n', -0.2],
        ['Action: look', -0.3],
      ]),
      finish('stop'),
      done,
    ),
  );
  const folder = scratchFolder();
  const config = scratchFile(
    'config.toml',
    '[models.policy]\nmodel = "served"\n[lab]\nstep_limit = 6\n',
  );
  const run = (out: string, ...more: readonly string[]) =>
    atttWith(
      { ATTT_API_KEY: 'secret-key' },
      ...['run', '--model', server.url, '--env', 'household', '--split', 'valid_unseen'],
      ...['--tasks', '0', '--config', config, '--out', join(folder, out), ...more],
    );
  const ran = await run('frozen', '--method', 'frozen', '--bundles');
  expect(ran.stderr).toContain('served on http://127.0.0.1');
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    backend: 'remote',
    totals: { episodes: 1, errors: 0, mean_steps: 6 },
  });
  expect(server.asked.at(-1)).toMatchObject({
    key: 'Bearer secret-key',
    body: { model: 'served' },
  });
  const written = readFileSync(join(folder, 'frozen', 'events.jsonl'), 'utf8');
  expect(written + ran.stdout + ran.stderr).not.toContain('secret-key');
  const bundle = readFileSync(join(folder, 'frozen', 'valid_unseen-0.attt.zip'));
  expect(bundle.includes('secret-key')).toBe(false);

  const refused = await run('attt', '--method', 'attt');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('attt cannot train it');
});

test('a served model writes the summaries that the policy trains on; without a channel nothing begins', async () => {
  await using server = await scriptedServer((response, nth) =>
    send(response, delta([[`It looked around and saw shelf ${nth}.`, -1]]), finish('stop'), done),
  );
  const folder = scratchFolder();
  const model = join(folder, 'random.gguf');
  writeFileSync(model, randomPolicy(1));
  const table =
    '[models.policy]\nmax_tokens = 12\n[models.summary]\nmodel = "teller"\n[att]\ntext_source = "summary"\nupdate_interval_k = 3\n[lab]\nstep_limit = 6\n';
  const place = `[way]\nbase_url = "${server.url}"\napi_key = "\${TELLER_KEY}"\n`;
  const early = '{"att": {"trigger": {"min_steps_before_first_update": 3}}}';
  const run = (config: string, env: Readonly<Record<string, string>>) =>
    atttWith(
      env,
      ...['run', '--model', model, '--env', 'household', '--split', 'valid_unseen'],
      ...['--tasks', '0', '--config', scratchFile('config.toml', config)],
      ...['--settings', scratchFile('settings.json', early), '--out', folder, '--bundles'],
    );
  const ran = await run(place + table, { TELLER_KEY: 'secret-key' });
  expect(ran.stderr).toContain('6 steps');
  expect(ran.code).toBe(0);
  expect(server.asked.map(({ key }) => key)).toEqual(['Bearer secret-key', 'Bearer secret-key']);
  const written = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  expect(written + ran.stdout + ran.stderr).not.toContain('secret-key');
  const events: EpisodeEvent[] = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ manifest: { summaryServer: `${server.url}/v1` } });
  expect(events.filter((event) => event.type === 'boundary')).toMatchObject([
    {
      outcome: 'updated',
      source: 'summary',
      text: 'It looked around and saw shelf 0.',
      summary: { model: 'teller', stop: 'eos' },
    },
    { text: 'It looked around and saw shelf 1.' },
  ]);

  const lost = await run(table, {});
  expect(lost.code).toBe(2);
  expect(lost.stderr).toContain('no channel says where it is');
  const keyless = await run(place + table, {});
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toContain('TELLER_KEY is not set');
});

test('an arm of an experiment trains on what the channel of --config serves; without it, it is not applicable', async () => {
  await using server = await scriptedServer((response, nth) =>
    send(
      response,
      delta([[nth === 0 ? 'It opened cabinet 2.' : 'Then every shelf was bare.', -1]]),
      finish('stop'),
      done,
    ),
  );
  const folder = scratchFolder();
  const model = join(folder, 'random.gguf');
  writeFileSync(model, randomPolicy(1));
  const settings =
    'summary_model = "teller"\nmax_tokens = 8\nstep_limit = 4\nupdate_interval_k = 2\nmin_steps_before_first_update = 2\n';
  const experiment = `name = "told"\nsplit = "valid_unseen"\ntasks = [0]\nseeds = [1]\nmethods = ["frozen"]\n[settings]\n${settings}[[sweep]]\nmethod = "attt"\ntext_source = ["summary"]\n`;
  const config = `[way]\nbase_url = "${server.url}"\napi_key = "\${TELLER_KEY}"\n`;
  const file = scratchFile('told.toml', experiment);
  const run = (out: string, ...more: readonly string[]) =>
    atttWith(
      { TELLER_KEY: 'secret-key' },
      ...['experiment', file, '--model', model, '--out', join(folder, out), ...more],
    );
  const served = ['--config', scratchFile('config.toml', config)];
  const ran = await run('served', ...served);
  expect(ran.stderr).toContain('2/2');
  expect(server.asked.map(({ key }) => key)).toEqual(['Bearer secret-key', 'Bearer secret-key']);
  const files = ['rows-1-of-1.jsonl', 'experiment.json'].map((name) =>
    readFileSync(join(folder, 'served', name), 'utf8'),
  );
  expect(files.join() + ran.stdout + ran.stderr).not.toContain('secret-key');
  const [, told] = (files[0] ?? '')
    .trim()
    .split('\n')
    .map((line): Row => JSON.parse(line));
  expect(told).toMatchObject({ arm: 'attt text_source=summary', updates: 2, error: null });

  const alone = await run('alone');
  expect(alone.stderr).toContain('no server for it is connected');
  expect(JSON.parse(alone.stdout)).toMatchObject({ planned: 1, finished: 1 });
  const mixed = await run('alone', ...served);
  expect(mixed.code).toBe(1);
  expect(mixed.stderr).toContain('attt text_source=summary can be run: false and true');
  const empty = await run('empty', '--config', scratchFile('empty.toml', '[lab]\n'));
  expect(empty.code).toBe(2);
  expect(empty.stderr).toContain('expected a table with base_url');
});
