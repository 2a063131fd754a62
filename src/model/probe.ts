/** Finds out, in three named steps, whether WebGPU can run here, and opens the device if it can. */

import { LabError } from '../errors.ts';
import type { ProbeStep } from '../records.ts';

/** Features that kernels may use when the adapter has them; none is needed. */
const WANTED_FEATURES: readonly string[] = ['shader-f16', 'subgroups', 'timestamp-query'];

/** Limits taken from the adapter, since WebGPU's defaults are far below what hardware allows. */
const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupsPerDimension',
] as const;

export interface ProbedGpu {
  readonly steps: readonly ProbeStep[];
  /** null when a step failed: the last of `steps` that is needed and not ok. */
  readonly opened: { readonly adapter: GPUAdapter; readonly device: GPUDevice } | null;
  /** The adapter in words, e.g. `google swiftshader`; empty without one. */
  readonly device: string;
}

/** Asks for adapter and device; never throws: a failure is a step that is not ok. */
export async function probeGpu(gpu: GPU | undefined): Promise<ProbedGpu> {
  if (gpu === undefined) return failed([], noApi);
  const steps: ProbeStep[] = [ok('navigator.gpu', 'present')];

  const adapter = await attempt(() => gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (adapter instanceof Error) return failed(steps, noAdapter(adapter.message));
  if (adapter === null) return failed(steps, noAdapter('no adapter'));
  const name = describeAdapter(adapter);
  steps.push(ok('adapter', name));

  const device = await attempt(() => adapter.requestDevice(descriptorFor(adapter)));
  if (device instanceof Error) return failed(steps, noDevice(device.message));
  steps.push(ok('device', describeLimits(device)));
  steps.push(halfStep(device.features.has('shader-f16')));
  return { steps, opened: { adapter, device }, device: name };
}

/** The error for a probe that opened nothing; its message names the step that failed. */
export function probeError(probed: ProbedGpu): LabError {
  const step = probed.steps.find((each) => !each.ok);
  return new LabError(
    'no_adapter',
    `WebGPU is not available: step "${step?.step ?? 'device'}" failed (${step?.found ?? 'unknown'}). ${step?.next ?? ''}`,
    { step: step?.step ?? 'device', found: step?.found ?? '' },
  );
}

function descriptorFor(adapter: GPUAdapter): GPUDeviceDescriptor {
  const requiredLimits: Record<string, number> = {};
  for (const limit of WANTED_LIMITS) requiredLimits[limit] = adapter.limits[limit];
  return {
    label: 'attt-lab',
    // tfjs-core brings older WebGPU types, whose union of feature names lacks subgroups.
    requiredFeatures: WANTED_FEATURES.filter((name) =>
      adapter.features.has(name),
    ) as GPUFeatureName[],
    requiredLimits,
  };
}

/** The thrown value as a value: each step's failure is data, not control flow. */
async function attempt<T>(run: () => Promise<T>): Promise<T | Error> {
  try {
    return await run();
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

function describeAdapter(adapter: GPUAdapter): string {
  const { vendor, architecture, description } = adapter.info;
  const words = [vendor, architecture, description].filter((word) => word !== '');
  return words.length === 0 ? 'unnamed adapter' : [...new Set(words)].join(' ');
}

function describeLimits(device: GPUDevice): string {
  const mib = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`;
  return `buffers to ${mib(device.limits.maxBufferSize)}, bindings to ${mib(device.limits.maxStorageBufferBindingSize)}`;
}

function failed(steps: readonly ProbeStep[], step: ProbeStep): ProbedGpu {
  return { steps: [...steps, step], opened: null, device: '' };
}

function ok(step: ProbeStep['step'], found: string): ProbeStep {
  return { step, ok: true, found, next: '' };
}

/** Optional: every kernel has a float32 path, so a missing shader-f16 stops nothing. */
function halfStep(present: boolean): ProbeStep {
  return present
    ? ok('shader-f16', 'present')
    : {
        step: 'shader-f16',
        ok: false,
        found: 'absent',
        next: 'Nothing to do: float32 arithmetic is used instead.',
      };
}

const noApi: ProbeStep = {
  step: 'navigator.gpu',
  ok: false,
  found: 'absent',
  next: 'Use a current Chrome, Edge, Firefox or Safari over https or localhost; until then the model runs on WASM, slower.',
};

function noAdapter(found: string): ProbeStep {
  return {
    step: 'adapter',
    ok: false,
    found,
    next: 'Switch on hardware acceleration in the browser settings and update the graphics driver; until then the model runs on WASM, slower.',
  };
}

function noDevice(found: string): ProbeStep {
  return {
    step: 'device',
    ok: false,
    found,
    next: 'Close other tabs that use the GPU and reload the page; until then the model runs on WASM, slower.',
  };
}
