/** A run as an inspect EvalLog (version 2), which `inspect view` opens. Knows that format, no file. */

import type { EpisodeEvent, Json } from '../records.ts';
import { type BundleContents, factsOf, startOf } from './bundle.ts';

/** Where no clock was read: inspect wants a time, and equal runs shall give equal logs. */
const NO_TIME = '1970-01-01T00:00:00+00:00';

/** The log of one run: its conversation, its score, and one `info` event for each boundary. */
export function evalLog({ run, createdAt, events }: Omit<BundleContents, 'adapters'>): Json {
  const { manifest, task } = startOf(events);
  const { settings } = manifest;
  const { start_adapter: start, ...facts } = factsOf(events);
  const created = createdAt ?? NO_TIME;
  const sampleId = `${task.split}-${task.index}`;
  const failed = facts.reason === 'engine_error' || facts.reason === 'environment_error';
  const usage = { [manifest.modelName]: usageOf(events) };
  const status = failed ? 'error' : facts.reason === 'stopped' ? 'cancelled' : 'success';
  const error = failed ? { message: errorOf(events), traceback: '', traceback_ansi: '' } : null;
  const score = { name: 'reward', scorer: 'environment', params: {}, metadata: {} };
  const mean = { name: 'mean', value: facts.reward, params: {} };
  return {
    version: 2,
    status,
    eval: {
      run_id: run,
      eval_id: run,
      task_id: run,
      created,
      task: manifest.env,
      task_version: 0,
      dataset: { name: task.split, samples: 1, sample_ids: [sampleId], shuffled: false },
      model: manifest.modelName,
      config: { epochs: 1, message_limit: 2 * settings.step_limit + 2 },
      packages: { 'attt-lab': manifest.appVersion },
      metadata: {
        ...facts,
        model: { ...facts.model },
        ...(start && { start_adapter: { ...start } }),
      },
    },
    plan: {
      name: settings.method,
      steps: [{ solver: settings.method, params: { ...settings } }],
      config: {
        temperature: settings.temperature,
        max_tokens: settings.max_tokens,
        seed: settings.seed,
      },
    },
    results: {
      total_samples: 1,
      completed_samples: failed ? 0 : 1,
      scores: failed ? [] : [{ ...score, metrics: { mean } }],
    },
    stats: { started_at: created, completed_at: created, model_usage: usage },
    ...(error === null ? {} : { error }),
    samples: [
      {
        id: sampleId,
        epoch: 1,
        input: task.goal ?? manifest.env,
        target: 'reward 1',
        messages: messagesOf(events, manifest.modelName),
        output: outputOf(events, manifest.modelName),
        scores: {
          reward: { value: facts.reward, answer: facts.reason, explanation: reasonOf(events) },
        },
        metadata: { steps: facts.steps, updates: facts.updates, rollbacks: facts.rollbacks },
        store: {},
        events: infoEvents(events, created),
        model_usage: usage,
        ...(error === null ? {} : { error }),
        ...(facts.reason === 'step_limit'
          ? { limit: { type: 'turn', limit: settings.step_limit } }
          : {}),
      },
    ],
  };
}

/** Each sampled turn, and the observation that followed. */
function messagesOf(events: readonly EpisodeEvent[], model: string): Json[] {
  return events.flatMap((event): Json[] => {
    if (event.type === 'episode_started') {
      return event.messages.map(({ role, content }, i) => ({ id: `m${i}`, role, content }));
    }
    if (event.type !== 'step') return [];
    const { t, generation, action, actionClass, observation, repetition } = event;
    const metadata = { step: t, action, action_class: actionClass, repetition };
    return [
      { id: `a${t}`, role: 'assistant', content: generation.text, model, metadata },
      { id: `o${t}`, role: 'user', content: observation },
    ];
  });
}

function outputOf(events: readonly EpisodeEvent[], model: string): Json {
  const last = events.findLast((event) => event.type === 'step');
  if (last === undefined) return { model, choices: [] };
  const message = { id: `a${last.t}`, role: 'assistant', content: last.generation.text, model };
  const stopReason = last.generation.stop === 'length' ? 'max_tokens' : 'stop';
  return { model, choices: [{ message, stop_reason: stopReason }], usage: usageOf(events) };
}

function usageOf(events: readonly EpisodeEvent[]) {
  const steps = events.flatMap((event) => (event.type === 'step' ? [event.generation] : []));
  const input = steps.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
  const output = steps.reduce((sum, { ids }) => sum + ids.length, 0);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/** What happened at boundaries, without their tokens: those are in tokens.jsonl. */
function infoEvents(events: readonly EpisodeEvent[], timestamp: string): Json[] {
  return events.flatMap((event): Json[] => {
    if (event.type !== 'boundary' && event.type !== 'rolled_back') return [];
    const { type, seq, clock, ...rest } = event;
    const data = 'tokens' in rest ? { ...rest, tokens: rest.tokens?.ids.length ?? 0 } : rest;
    const place = { uuid: `e${seq}`, timestamp: clock?.at ?? timestamp, working_start: 0 };
    return [{ ...place, event: 'info', source: type, data: asJson(data) }];
  });
}

/** Records are JSON by construction, which their interfaces do not say. */
function asJson(record: object): Json {
  return JSON.parse(JSON.stringify(record)) as Json;
}

function reasonOf(events: readonly EpisodeEvent[]): string {
  const ended = events.findLast((event) => event.type === 'episode_ended');
  return ended ? `${ended.reason} after ${ended.t} steps` : 'the run has no end';
}

function errorOf(events: readonly EpisodeEvent[]): string {
  const ended = events.findLast((event) => event.type === 'episode_ended');
  return ended?.error?.message ?? 'the episode ended with an error';
}
