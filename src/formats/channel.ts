/** The way to a model's endpoint, and its key, which never leaves the session in a file. */

import { LabError } from '../errors.ts';

/** A channel table of config.toml. */
export interface Channel {
  /** The table's name, kept for the export. */
  readonly name: string;
  readonly base_url: string;
  /** `${ENV_NAME}`, or a key itself for this session only; null for an endpoint without keys. */
  readonly api_key: string | null;
  /** Seconds. */
  readonly timeout: number;
}

export const DEFAULT_TIMEOUT_SECONDS = 120;

const PLACEHOLDER = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** `${NAME}`, which stands for the value of an environment variable. */
export function placeholder(name: string): string {
  return `\${${name}}`;
}

/** The environment name in `${NAME}`; null when the text is not exactly one placeholder. */
export function placeholderName(template: string): string | null {
  return PLACEHOLDER.exec(template)?.[1] ?? null;
}

/** What a key template comes to. */
export type ResolvedKey =
  | { readonly state: 'key'; readonly key: string }
  /** The endpoint is declared keyless: send no Authorization header. */
  | { readonly state: 'keyless' }
  /** Send no request: show the message. */
  | { readonly state: 'not_set'; readonly name: string; readonly message: string };

/**
 * The key that a template stands for. An unset or empty variable, and the words `undefined` and
 * `null` that careless shells put there, are "not set": neither they nor the placeholder itself may
 * be sent. Example: `${SUMMARY_KEY}` with SUMMARY_KEY=abc is the key `abc`.
 */
export function resolveKey(
  template: string | null,
  env: Readonly<Record<string, string | undefined>>,
): ResolvedKey {
  if (template === null) return { state: 'keyless' };
  const name = placeholderName(template);
  const key = (name === null ? template : env[name])?.trim() ?? '';
  if (key !== '' && key !== 'undefined' && key !== 'null' && !/\$\{/.test(key)) {
    return { state: 'key', key };
  }
  const what = name ?? 'api_key';
  return {
    state: 'not_set',
    name: what,
    message: `${what} is not set. Enter the key for this session, or remove api_key for an endpoint without keys.`,
  };
}

/** What an export writes for a key: the placeholder, never a key itself. */
export function exportedKey(channel: Channel): string | null {
  if (channel.api_key === null || placeholderName(channel.api_key) !== null) return channel.api_key;
  return placeholder(`${channel.name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_API_KEY`);
}

/**
 * Where chat completions are asked for, from any form in which a base address is written: with or
 * without a version, a final slash or the whole path. A segment such as `av1` is no version. Throws
 * `bad_config` for what is no http address, or carries a key in it.
 *
 * Example: `https://h.test/v1/`, `https://h.test` -> `https://h.test/v1/chat/completions`.
 */
export function completionsUrl(base: string): URL {
  const url = parseUrl(base);
  const path = url.pathname.replace(/\/+/g, '/').replace(/\/$/, '');
  const whole = path.replace(/\/chat\/completions$/, '');
  const versioned = /(?:^|\/)v\d+(?:(?:alpha|beta)\d*)?$/.test(whole);
  url.pathname = `${whole}${versioned ? '' : '/v1'}/chat/completions`;
  url.hash = '';
  return url;
}

/** The address as it may be shown and stored: with its version, without a query that may hold a key. */
export function serverAddress(base: string): string {
  const url = completionsUrl(base);
  return url.origin + url.pathname.replace(/\/chat\/completions$/, '');
}

function parseUrl(base: string): URL {
  const url = URL.canParse(base.trim()) ? new URL(base.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new LabError(
      'bad_config',
      `The address "${base}" is no http or https address; expected one such as http://127.0.0.1:8080/v1.`,
    );
  }
  if (url.username === '' && url.password === '') return url;
  throw new LabError(
    'bad_config',
    'The address carries a name or password, which would be stored with it. Take it out and give the key by itself.',
  );
}

/** True for an address of this machine, which a secure page may reach without encryption. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
