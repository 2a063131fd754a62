/** The one error type that crosses every border of the program, and its closed set of codes. */

/** What kind of thing went wrong; each kind has its own remedy in the page. */
export type LabErrorCode =
  | 'bad_input' // a file, id list or argument that does not parse or is out of range
  | 'bad_config' // a configuration file or value
  | 'unsupported' // well formed, but not something this program can run
  | 'not_found'
  | 'network'
  | 'quota' // storage full or refused
  | 'no_adapter' // no WebGPU adapter, or a probe step failed
  | 'device_lost'
  | 'limit' // larger than a limit of the adapter, the heap or the model
  | 'timeout'
  | 'environment' // the task environment failed; never the agent's failure
  | 'aborted'
  | 'internal';

/** JSON details that help a person or a test; never secrets. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** A LabError as it crosses a port: an Error subclass loses its class in structuredClone. */
export interface WireError {
  readonly code: LabErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** An error whose message says what was found, what was expected and what to do next. */
export class LabError extends Error {
  override readonly name = 'LabError';
  readonly code: LabErrorCode;
  readonly details: ErrorDetails;

  constructor(code: LabErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Any thrown value as plain data; an AbortError becomes `aborted`, an unknown one `internal`. */
export function toWire(thrown: unknown): WireError {
  if (thrown instanceof LabError) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  if (thrown instanceof Error) {
    if (thrown.name === 'AbortError') return { code: 'aborted', message: 'Stopped.', details: {} };
    if (thrown.name === 'QuotaExceededError') {
      return { code: 'quota', message: `Storage is full: ${thrown.message}`, details: {} };
    }
    return { code: 'internal', message: thrown.message, details: { name: thrown.name } };
  }
  return { code: 'internal', message: String(thrown), details: {} };
}

/** The inverse of {@link toWire}, on the receiving side of a port. */
export function fromWire(wire: WireError): LabError {
  return new LabError(wire.code, wire.message, wire.details);
}

/** What anything thrown says, for a message of our own. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Throws `aborted` when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new LabError('aborted', 'Stopped.');
}

/** True for the error that {@link throwIfAborted} throws, and for the platform's AbortError. */
export function isAbort(thrown: unknown): boolean {
  return toWire(thrown).code === 'aborted';
}

/**
 * What really ended work that a signal could stop: the error that the signal was fired with (a lost
 * device, say), or `thrown`. A read that is pending when a GPU device goes away rejects as AbortError
 * although nobody asked for an end, and does so before the device says that it is lost; such an error
 * gets a turn of the event loop for the reason to arrive, and is never taken for a wish to stop.
 */
export async function causeOf(thrown: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isAbort(thrown)) return thrown;
  if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve));
  if (signal.reason instanceof LabError) return signal.reason;
  if (signal.aborted) return thrown;
  return new LabError(
    'internal',
    'A computation was given up although nobody stopped it. Load the model again, then go on.',
  );
}
