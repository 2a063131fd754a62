import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { predictionLine, predictionOf } from './predictions.ts';

const manifest = {
  modelName: 'model.gguf',
  env: 'repair/JavaScript-v1',
  settings: { ...defaultSettings, method: 'frozen' as const },
};
const task = { env: manifest.env, split: 'valid_seen', index: 3 };

test('a prediction is a line with the three fields that SWE-bench reads', () => {
  expect(predictionLine(predictionOf(manifest, task, 'diff --git a/a.js b/a.js\n'))).toBe(
    '{"instance_id":"repair__valid_seen-3","model_name_or_path":"model.gguf__frozen","model_patch":"diff --git a/a.js b/a.js\\n"}\n',
  );
});

test('nothing changed is an empty patch, not a missing one', () => {
  expect(JSON.parse(predictionLine(predictionOf(manifest, task, '')))).toHaveProperty(
    'model_patch',
    '',
  );
});
