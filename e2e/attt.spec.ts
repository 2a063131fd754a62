import { readFileSync, writeFileSync } from 'node:fs';
import { attt, atttWith } from '../src/cli/testing.ts';
import { expect, test } from './live.ts';

const tiny = 'e2e/fixtures/engine/tiny.gguf';
const fixture = (name: string) => JSON.parse(readFileSync(`e2e/fixtures/engine/${name}`, 'utf8'));

test("attt trains on WebGPU as on WASM, within the GPU's tolerance", async () => {
  const expected = fixture('tiny_training.json').visible;
  const file = test.info().outputPath('case.json');
  writeFileSync(file, JSON.stringify(expected));
  const ran = await attt('train', '--model', tiny, '--backend', 'webgpu', '--case', file);
  expect(ran.stderr).toContain('Backend: webgpu');
  expect(ran.code).toBe(0);
  const { losses } = JSON.parse(ran.stdout);
  for (const [i, loss] of expected.losses.entries()) {
    expect(Math.abs(losses[i] - loss) / loss).toBeLessThan(1e-3);
  }
});

test('attt names the step that failed where there is no WebGPU at all', async () => {
  // Neither a Vulkan loader for the native package nor a browser to drive.
  const ran = await atttWith(
    { CHROME_PATH: '/nowhere/chrome', VK_ICD_FILENAMES: '/nowhere/icd.json' },
    ...['logits', '--model', tiny, '--backend', 'webgpu', '--ids', '3'],
  );
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toContain('step "browser" failed (/nowhere/chrome');
});
