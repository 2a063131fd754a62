/** Counts what a page asks of its GPU: compute dispatches and submits. */

export interface GpuCounts {
  readonly dispatches: number;
  readonly submits: number;
}

/** Wraps WebGPU's prototypes; returns what reads the counts so far. Without WebGPU they stay 0. */
export function countDispatches(): () => GpuCounts {
  let dispatches = 0;
  let submits = 0;
  if (typeof GPUComputePassEncoder !== 'undefined') {
    const pass = GPUComputePassEncoder.prototype;
    const dispatch = pass.dispatchWorkgroups;
    pass.dispatchWorkgroups = function (...groups) {
      dispatches++;
      return dispatch.apply(this, groups);
    };
    const queue = GPUQueue.prototype;
    const submit = queue.submit;
    queue.submit = function (...buffers) {
      submits++;
      return submit.apply(this, buffers);
    };
  }
  return () => ({ dispatches, submits });
}
