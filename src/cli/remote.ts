/** A served model as the command line names it: `--model http://…`, its name and key from the files. */

import { asksForSummaries, type Settings } from '../config.ts';
import {
  type Channel,
  completionsUrl,
  DEFAULT_TIMEOUT_SECONDS,
  resolveKey,
} from '../formats/channel.ts';
import type { RemoteRef } from '../records.ts';
import { WrongUse } from './output.ts';

/** The variable that holds a key where config.toml names none. */
const KEY_VARIABLE = 'ATTT_API_KEY';

/** True for a `--model` that is an address rather than a file. */
export function isRemote(model: string): boolean {
  return /^https?:\/\//.test(model);
}

/**
 * The server that a configuration takes summaries from; null where it names no summary model. Throws
 * WrongUse without a channel, or for a key that is named but not set.
 */
export function summaryServerOf(
  settings: Settings,
  channel: Channel | null,
  env: Readonly<Record<string, string | undefined>>,
): RemoteRef | null {
  const { summary_model: model } = settings;
  if (!asksForSummaries(settings) || model === '') return null;
  if (channel) return remoteOf(channel.base_url, model, channel, env);
  throw new WrongUse(
    `Summaries are to come from the model "${model}", and no channel says where it is. Give --config a file with [channel] and its base_url, or leave the summary model empty: then the policy writes its own.`,
  );
}

/**
 * The served model at an address. A channel's key and time limit are used for its own origin only, so
 * that no key reaches another server. Throws WrongUse for a key that is named but not set.
 */
export function remoteOf(
  baseUrl: string,
  model: string,
  channel: Channel | null,
  env: Readonly<Record<string, string | undefined>>,
): RemoteRef {
  const { origin } = completionsUrl(baseUrl);
  const own = channel !== null && completionsUrl(channel.base_url).origin === origin;
  const timeout = own ? channel.timeout : DEFAULT_TIMEOUT_SECONDS;
  if (!own) return { baseUrl, model, apiKey: env[KEY_VARIABLE] || null, timeout };
  const key = resolveKey(channel.api_key, env);
  if (key.state === 'not_set') throw new WrongUse(key.message);
  return { baseUrl, model, apiKey: key.state === 'key' ? key.key : null, timeout };
}
