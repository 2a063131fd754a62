/** The three-step probe against stubs: each missing piece is named, with what a person can do. */

import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it, vi } from 'vitest';
import { lossOf, openBackend } from './device.ts';
import { probeGpu } from './probe.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const wasmPaths = nodeWasmPaths(import.meta.url);

/** Just enough of an adapter for the probe; the spec's default limits. */
function stubAdapter(features: string[], requestDevice?: () => Promise<GPUDevice>): GPUAdapter {
  const limits = {
    maxBufferSize: 268_435_456,
    maxStorageBufferBindingSize: 134_217_728,
    maxComputeWorkgroupStorageSize: 16_384,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupSizeX: 256,
    maxComputeWorkgroupsPerDimension: 65_535,
  };
  const adapter = {
    info: { vendor: 'acme', architecture: 'mark-1', description: '' },
    limits,
    features: new Set(features),
    requestDevice:
      requestDevice ??
      vi.fn(async (descriptor: GPUDeviceDescriptor) => ({
        limits: descriptor.requiredLimits,
        features: new Set(descriptor.requiredFeatures),
        destroy: () => {},
      })),
  };
  return adapter as unknown as GPUAdapter; // a stub of what the probe reads
}

function stubGpu(requestAdapter: () => Promise<GPUAdapter | null>): GPU {
  return { requestAdapter } as unknown as GPU; // as above
}

describe('without WebGPU', () => {
  const cases = [
    { name: 'no navigator.gpu', gpu: undefined, step: 'navigator.gpu' },
    { name: 'a null adapter', gpu: stubGpu(async () => null), step: 'adapter' },
    {
      name: 'an adapter request that throws',
      gpu: stubGpu(() => Promise.reject(new Error('blocked by policy'))),
      step: 'adapter',
    },
    {
      name: 'an adapter that gives no device',
      gpu: stubGpu(async () => stubAdapter([], () => Promise.reject(new Error('out of memory')))),
      step: 'device',
    },
  ] as const;

  it.each(cases)('$name: the probe names the step and what to do', async ({ gpu, step }) => {
    const { capabilities: found } = await openBackend(undefined, { wasmPaths, gpu });
    expect(found.backend).toBe('wasm');
    expect(found.reason).toContain(`step "${step}" failed`);
    const failing = found.steps.find((each) => !each.ok);
    expect(failing?.step).toBe(step);
    expect(failing?.next).not.toBe('');
  });

  it.each(cases)(
    '$name: asked for by name it is an error, unasked the model runs on wasm',
    async ({ gpu, step }) => {
      await expect(openBackend('webgpu', { wasmPaths, gpu })).rejects.toMatchObject({
        code: 'no_adapter',
        details: { step },
      });
      const opened = await openBackend(undefined, { wasmPaths, gpu });
      expect(opened.name).toBe('wasm');
      expect(tf.getBackend()).toBe('wasm');
      expect(opened.capabilities.reason).toContain(step);
    },
  );
});

describe('with an adapter', () => {
  it('without shader-f16, the feature is not asked for and nothing fails', async () => {
    const adapter = stubAdapter(['timestamp-query', 'subgroups']);
    const probed = await probeGpu(stubGpu(async () => adapter));
    expect(probed.opened).not.toBeNull();
    expect(probed.device).toBe('acme mark-1');
    expect(adapter.requestDevice).toHaveBeenCalledWith(
      expect.objectContaining({ requiredFeatures: ['subgroups', 'timestamp-query'] }),
    );
    expect(probed.steps.at(-1)).toMatchObject({ step: 'shader-f16', ok: false, found: 'absent' });
  });

  it("the device gets the adapter's own limits, not WebGPU's defaults", async () => {
    const adapter = stubAdapter(['shader-f16']);
    const probed = await probeGpu(stubGpu(async () => adapter));
    expect(probed.opened?.device.limits.maxStorageBufferBindingSize).toBe(134_217_728);
    expect(probed.steps.every((step) => step.ok)).toBe(true);
  });
});

describe('the loss of a device', () => {
  /** A device whose loss and errors the test brings about. */
  function stubDevice() {
    let lose: (info: { reason: string; message: string }) => void = () => {};
    const lost = new Promise((resolve) => {
      lose = resolve;
    });
    const events = new EventTarget();
    const destroy = vi.fn();
    const device = {
      lost,
      destroy,
      addEventListener: events.addEventListener.bind(events),
    } as unknown as GPUDevice; // what lossOf reads
    const report = (error: Error) =>
      events.dispatchEvent(Object.assign(new Event('uncapturederror'), { error }));
    return { device, destroy, lose, report };
  }

  it('is told once, with what to do next', async () => {
    const { device, lose } = stubDevice();
    const told = lossOf(device);
    lose({ reason: 'unknown', message: 'driver reset' });
    const error = await told;
    expect(error).toMatchObject({ code: 'device_lost' });
    expect(error.message).toMatch(/driver reset.*load the model again/);
  });

  it('is not told when the device was given back on purpose', async () => {
    const { device, lose } = stubDevice();
    const told = lossOf(device);
    lose({ reason: 'destroyed', message: '' });
    const first = await Promise.race([told, new Promise((r) => setTimeout(r, 20, 'nothing'))]);
    expect(first).toBe('nothing');
  });

  it('is told when memory runs out or a command is refused, and the device is given back', async () => {
    class GPUOutOfMemoryError extends Error {}
    const full = stubDevice();
    const toldFull = lossOf(full.device);
    full.report(new GPUOutOfMemoryError('heap'));
    expect(await toldFull).toMatchObject({ code: 'limit' });
    expect(full.destroy).toHaveBeenCalledOnce();
    const wrong = stubDevice();
    const toldWrong = lossOf(wrong.device);
    wrong.report(new Error('invalid pipeline'));
    expect(await toldWrong).toMatchObject({ code: 'internal' });
  });
});
