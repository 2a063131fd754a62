/** The buffer ledger against a stub device. */

import { expect, it } from 'vitest';
import { watchBuffers } from './ledger.ts';

function stubDevice(): Pick<GPUDevice, 'createBuffer'> {
  const createBuffer = ({ size }: GPUBufferDescriptor) => ({ size, destroy: () => undefined });
  return { createBuffer: createBuffer as unknown as GPUDevice['createBuffer'] }; // what the ledger uses
}

it('counts buffers made, destroyed and live by purpose; destroying twice counts once', () => {
  const device = stubDevice();
  const ledger = watchBuffers(device);
  const a = device.createBuffer({ label: 'weights:blk.0.attn_q', size: 100, usage: 0 });
  device.createBuffer({ label: 'weights:blk.0.attn_k', size: 20, usage: 0 });
  device.createBuffer({ size: 3, usage: 0 });
  expect(ledger.live).toEqual({ buffers: 3, bytes: 123 });
  expect(ledger.livePurposes().get('weights')).toEqual({ buffers: 2, bytes: 120 });
  expect(ledger.livePurposes().get('tfjs')).toEqual({ buffers: 1, bytes: 3 });
  a.destroy();
  a.destroy();
  expect(ledger.made).toEqual({ buffers: 3, bytes: 123 });
  expect(ledger.destroyed).toEqual({ buffers: 1, bytes: 100 });
  expect(ledger.live).toEqual({ buffers: 2, bytes: 23 });
  expect(ledger.livePurposes().get('weights')).toEqual({ buffers: 1, bytes: 20 });
});

it('remembers the most bytes that were live together, until it is told to count anew', () => {
  const device = stubDevice();
  const ledger = watchBuffers(device);
  const a = device.createBuffer({ size: 100, usage: 0 });
  a.destroy();
  device.createBuffer({ size: 30, usage: 0 });
  expect(ledger.peakBytes).toBe(100);
  ledger.resetPeak();
  expect(ledger.peakBytes).toBe(30);
  device.createBuffer({ size: 5, usage: 0 });
  expect(ledger.peakBytes).toBe(35);
});
