/** Counts every GPU buffer of a device: bytes made, destroyed and live, by label. Owns nothing. */

export interface LedgerCount {
  readonly buffers: number;
  readonly bytes: number;
}

/** What a leak test and the memory panel read; tf.memory() does not see buffers made outside tfjs. */
export interface GpuLedger {
  readonly made: LedgerCount;
  readonly destroyed: LedgerCount;
  readonly live: LedgerCount;
  /** The most bytes that were ever live together since the last {@link resetPeak}. */
  readonly peakBytes: number;
  /** Counts the peak anew from what is live now. */
  resetPeak(): void;
  /** Live buffers by the part of their label before the first colon; unlabelled ones are tfjs's. */
  livePurposes(): ReadonlyMap<string, LedgerCount>;
}

/** The purpose of buffers that tfjs makes: it labels none. */
const UNLABELLED = 'tfjs';

/** Wraps the device's createBuffer and each buffer's destroy; call once, before tfjs sees the device. */
export function watchBuffers(device: Pick<GPUDevice, 'createBuffer'>): GpuLedger {
  const purposes = new Map<string, LedgerCount>();
  let made: LedgerCount = { buffers: 0, bytes: 0 };
  let destroyed: LedgerCount = { buffers: 0, bytes: 0 };
  let peakBytes = 0;
  const create = device.createBuffer.bind(device);

  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const purpose = (descriptor.label ?? '').split(':')[0] || UNLABELLED;
    const bytes = descriptor.size;
    made = plus(made, 1, bytes);
    peakBytes = Math.max(peakBytes, made.bytes - destroyed.bytes);
    purposes.set(purpose, plus(purposes.get(purpose), 1, bytes));
    const destroy = buffer.destroy.bind(buffer);
    let alive = true;
    buffer.destroy = () => {
      if (alive) {
        alive = false;
        destroyed = plus(destroyed, 1, bytes);
        purposes.set(purpose, plus(purposes.get(purpose), -1, -bytes));
      }
      return destroy();
    };
    return buffer;
  };

  return {
    get made() {
      return made;
    },
    get destroyed() {
      return destroyed;
    },
    get live() {
      return plus(made, -destroyed.buffers, -destroyed.bytes);
    },
    get peakBytes() {
      return peakBytes;
    },
    resetPeak() {
      peakBytes = made.bytes - destroyed.bytes;
    },
    livePurposes: () => new Map([...purposes].filter(([, count]) => count.buffers > 0)),
  };
}

function plus(count: LedgerCount | undefined, buffers: number, bytes: number): LedgerCount {
  return { buffers: (count?.buffers ?? 0) + buffers, bytes: (count?.bytes ?? 0) + bytes };
}
