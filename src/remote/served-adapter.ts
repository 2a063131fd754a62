/**
 * Makes a server use an adapter that lies on its own disk: vLLM loads it under a name, llama-server
 * switches those that it was started with. Files cannot be sent to either.
 */

import { LabError } from '../errors.ts';
import { serverAddress } from '../formats/channel.ts';
import type { Json, RemoteRef } from '../records.ts';
import {
  endpointOf,
  errorText,
  reasonOf,
  type Surroundings,
  send,
  surroundings,
} from './chat-client.ts';
import { bodyText } from './event-stream.ts';

/** A served model as requests name it. */
export interface ServedModel extends RemoteRef {
  /** What a person reads: the model, and the adapter's path where there is one. */
  readonly name: string;
  /** What goes into the body of every request besides. */
  readonly options: Readonly<Record<string, Json>>;
}

/**
 * The model with its adapter in use. On vLLM an adapter of that name is loaded again, since its files
 * may have changed. Throws `unsupported` for a server that does neither, and `not_found` for a path
 * that the server does not have.
 */
export async function withAdapter(
  remote: RemoteRef,
  signal: AbortSignal,
  around: Surroundings = surroundings,
): Promise<ServedModel> {
  const { adapter = '', model } = remote;
  if (adapter === '') return { ...remote, name: model, options: {} };
  const name = `${model} + ${adapter}`;
  const endpoint = endpointOf(remote);
  const base = serverAddress(remote.baseUrl);
  const post = (path: string, body: Json) =>
    send(endpoint, new URL(`${base}/${path}`), { method: 'POST', body }, signal, around);

  const loraName = adapter.replace(/\/+$/, '').split('/').at(-1) ?? adapter;
  await post('unload_lora_adapter', { lora_name: loraName }); // unknown: there was none
  const loaded = await post('load_lora_adapter', { lora_name: loraName, lora_path: adapter });
  if (loaded.ok) return { ...remote, model: loraName, name, options: {} };
  const refusal = reasonOf(await errorText(loaded, endpoint, signal), endpoint);

  const list = new URL(`${base.replace(/\/v\d+\w*$/, '')}/lora-adapters`);
  const listed = await send(endpoint, list, { method: 'GET' }, signal, around);
  const adapters = listed.ok ? adaptersOf(await bodyText(listed, endpoint.idleMs, signal)) : null;
  if (adapters === null) {
    throw new LabError(
      'unsupported',
      `The server did not take the adapter ${adapter} (${loaded.status}: ${refusal}). vLLM loads a PEFT folder of its own disk when it runs with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True; llama-server lists those that it was started with by --lora.`,
      { status: loaded.status },
    );
  }
  const chosen = adapters.find(({ path }) => path === adapter);
  if (!chosen) {
    const paths = adapters.map(({ path }) => path).join(', ');
    throw new LabError(
      'not_found',
      `The server was not started with ${adapter}; it has ${paths || 'no adapter'}. Name one of these, or start it with --lora ${adapter}.`,
    );
  }
  const lora = adapters.map(({ id }) => ({ id, scale: id === chosen.id ? 1 : 0 }));
  return { ...remote, name, options: { lora } };
}

/** What llama-server's /lora-adapters lists; null for anything else. */
function adaptersOf(text: string): { readonly id: number; readonly path: string }[] | null {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return null;
    return list.flatMap((one: unknown) => {
      const { id, path } = Object(one) as { readonly id?: unknown; readonly path?: unknown };
      return typeof id === 'number' && typeof path === 'string' ? [{ id, path }] : [];
    });
  } catch {
    return null;
  }
}
