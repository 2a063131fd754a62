/** For tests only: an experiment's header and rows by hand. */

import { defaultSettings, type MethodName } from '../config.ts';
import type { Header } from './header.ts';
import type { Row } from './row.ts';

export function headerOf(arms: readonly MethodName[], seeds: readonly number[] = [1]): Header {
  return {
    schema: 1,
    experiment: {
      name: 'by hand',
      question: 'Is <b>this</b> shown as it is written?',
      env: 'household/ALFWorld-v0.4',
      split: 'valid_seen',
      tasks: [0, 1, 2, 3],
      seeds,
      methods: arms,
      settings: {},
      sweeps: [],
    },
    env: 'household/ALFWorld-v0.4',
    taskSet: 'abcd',
    model: 'model.gguf',
    modelSha256: 'ff',
    backend: 'wasm',
    appVersion: '0',
    arms: arms.map((method) => ({
      name: method,
      method,
      settings: { ...defaultSettings, method },
      notApplicable: null,
    })),
    planned: 0,
  };
}

export function rowOf(arm: MethodName, task: number, seed: number, over: Partial<Row> = {}): Row {
  return {
    schema: 1,
    key: `${arm}/valid_seen/${task}/${seed}`,
    arm,
    method: arm,
    split: 'valid_seen',
    task,
    kind: null,
    seed,
    start: `start ${task}`,
    reason: over.solved ? 'solved' : 'step_limit',
    error: null,
    solved: false,
    tries: 1,
    steps: 10,
    generated: 100,
    trained: 0,
    updates: 0,
    rollbacks: 0,
    outcomes: {},
    actions: {},
    refused: 0,
    commands: [],
    repetition: [0, 0, 0.2, 0.2, 0.4, 0.4, 0.6, 0.6, 1, 1],
    kl: [],
    weights: [],
    retention: null,
    seconds: 2,
    build: '',
    ...over,
  };
}
