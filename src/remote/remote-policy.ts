/** A model behind an OpenAI-compatible server as the loop's policy, and as a learner that cannot learn. */

import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { serverAddress } from '../formats/channel.ts';
import type { Rng } from '../math/rng.ts';
import type { Learner, Policy } from '../ports.ts';
import type { ChatMessage, Generation, Json, ModelInfo, RunManifest, TaskRef } from '../records.ts';
import { version } from '../version.ts';
import { chat, endpointOf, type Surroundings, surroundings } from './chat-client.ts';
import type { ServedToken } from './completion.ts';
import { Pieces } from './pieces.ts';
import type { ServedModel } from './served-adapter.ts';

/** Seeds of servers are 32 bits wide. */
const SEEDS = 2 ** 31;

/** What one episode needs of a served model. */
export interface RemoteFaces {
  readonly policy: Policy;
  readonly learner: Learner;
  readonly manifest: RunManifest;
}

/**
 * Policy and learner of one episode. Throws `unsupported` for settings that would change weights:
 * a tab cannot write to a server's disk.
 */
export function remoteEpisode(
  remote: ServedModel,
  task: TaskRef,
  settings: Settings,
  trains: boolean,
  around: Surroundings = surroundings,
): RemoteFaces {
  if (trains && settings.enabled && !settings.observe_only) throw cannotTrain(settings.method);
  const pieces = new Pieces();
  return {
    policy: remotePolicy(remote, pieces, around),
    learner: fixedLearner(pieces),
    manifest: {
      schema: 2,
      appVersion: version,
      modelName: remote.name,
      modelSha256: '',
      quantisation: '',
      tokenizerSha256: '',
      architecture: 'remote',
      heads: 0,
      kvHeads: 0,
      backend: 'remote',
      device: serverAddress(remote.baseUrl),
      env: task.env,
      task,
      settings,
    },
  };
}

/**
 * Asks the server for one token, so that a wrong address, key or model name is known before a run.
 * Throws as {@link chat} does, and `unsupported` for a server without log-probabilities.
 */
export async function probeRemote(
  remote: ServedModel,
  signal: AbortSignal,
  around: Surroundings = surroundings,
): Promise<ModelInfo> {
  const messages: readonly ChatMessage[] = [{ role: 'user', content: 'Hello' }];
  const one = { max_tokens: 1, temperature: 0, logprobs: true, top_logprobs: 1 };
  const options = { ...one, ...remote.options };
  const request = { model: remote.model, messages, options };
  const { tokens } = await chat(endpointOf(remote), request, signal, () => {}, around);
  if (tokens.length === 0) throw noLogprobs();
  return {
    ...{ name: remote.name, architecture: 'remote', quantisation: '', parameters: 0 },
    ...{ fileBytes: 0, sha256: '', layers: 0, width: 0, heads: 0, kvHeads: 0, vocabulary: 0 },
    ...{ contextLength: 0, licence: null, memory: [], endpoint: serverAddress(remote.baseUrl) },
    warnings: [
      'Its weights cannot be changed from here: methods that train are refused. Ids are numbers of text pieces, valid within one run.',
    ],
  };
}

function remotePolicy(remote: ServedModel, pieces: Pieces, around: Surroundings): Policy {
  return {
    // The server's own limit is not known; the setting `context_length` stands for it.
    contextLength: Number.MAX_SAFE_INTEGER,
    begin: (messages) => [
      ...messages.flatMap((message) => pieces.encodeMessage(message)),
      ...pieces.prompt,
    ],
    follow(_generation, message) {
      const before = pieces.end;
      const [role = 0, ...rest] = pieces.encodeMessage(message);
      const start = before.length + 1;
      return {
        ids: [...before, role, ...rest, ...pieces.prompt],
        content: [start, start + rest.length - 1],
      };
    },
    async generate(promptIds, settings, maxTokens, rng, signal, onToken): Promise<Generation> {
      const request = {
        model: remote.model,
        messages: pieces.messages(promptIds),
        options: { ...samplingOptions(settings, maxTokens, rng), ...remote.options },
      };
      const told = (text: string) => onToken(-1, text);
      const { text, tokens, stop, promptTokens } = await chat(
        endpointOf(remote),
        request,
        signal,
        told,
        around,
      );
      if (tokens.length === 0 && text !== '') throw noLogprobs();
      // Some servers list the end token, which is no part of the text.
      const length = new TextEncoder().encode(text).length;
      const sampled = withinText(tokens, length);
      const ids = sampled.map(({ bytes }) => pieces.id(bytes));
      return {
        promptTokens: promptTokens ?? promptIds.length,
        ids,
        logprobs: sampled.map(({ logprob }) => logprob),
        text: pieces.decode(ids),
        stop,
      };
    },
  };
}

/** The leading tokens that make up a text of so many bytes. */
function withinText(tokens: readonly ServedToken[], length: number): readonly ServedToken[] {
  let end = 0;
  const first = tokens.findIndex(({ bytes }) => {
    end += bytes.length;
    return end > length;
  });
  return first < 0 ? tokens : tokens.slice(0, first);
}

/**
 * Names of llama.cpp and vLLM. Where nothing is said both change the distribution by defaults of their own: of the command
 * that started them, of the model's generation_config.json (vLLM), or penalising the last 64 tokens alone (llama.cpp).
 */
function samplingOptions(settings: Settings, maxTokens: number, rng: Rng): Record<string, Json> {
  const { repetition_penalty } = settings;
  return {
    max_tokens: maxTokens,
    temperature: settings.temperature,
    top_p: settings.top_p,
    top_k: settings.top_k,
    min_p: 0,
    seed: rng.int(SEEDS),
    logprobs: true,
    top_logprobs: 1,
    ...{ repetition_penalty, repeat_penalty: repetition_penalty },
    repeat_last_n: settings.context_length,
    ...{ presence_penalty: 0, frequency_penalty: 0 },
  };
}

/** Reads pieces, measures nothing, and has one state for ever. */
function fixedLearner(pieces: Pieces): Learner {
  const refuse = async () => {
    throw cannotTrain('a manual update');
  };
  return {
    bos: [],
    pieces: (ids) => ids.map((id) => pieces.decode([id])),
    decode: (ids) => pieces.decode(ids),
    encode: (text) => pieces.encode(text),
    train: refuse,
    measure: async ({ ids }) => ids.map(() => null),
    driftFromStart: refuse,
    klAtPrompt: refuse,
    deltaNorm: async () => 0,
    snapshot: async () => ({
      schema: 1,
      adapter: { modules: [] },
      optimiser: { step: 0, m: [], v: [] },
    }),
    restore: () => {},
  };
}

function cannotTrain(what: string): LabError {
  return new LabError(
    'unsupported',
    `The model is on a server, whose disk and weights cannot be written from here, so ${what} cannot train it. Choose the method "frozen" or "observe only"; or train on the same model in this tab, save the run's bundle, and give its adapter to the server with replay/serve_vllm.py or serve_llama_cpp.py.`,
  );
}

function noLogprobs(): LabError {
  return new LabError(
    'unsupported',
    'The server gives no log-probabilities for what it samples. Use llama-server or vLLM, which do; llama-cpp-python wants logits_all.',
  );
}
