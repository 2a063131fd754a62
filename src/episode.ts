/** The spine: act, observe, weigh, learn, guard. It knows no device, no storage and no clock. */

import { causeOf, isAbort, LabError, throwIfAborted, toWire } from './errors.ts';
import { nearest, words } from './math/repetition.ts';
import { deriveRng } from './math/rng.ts';
import type { EpisodePorts, Order, WorldView } from './ports.ts';
import type {
  ActionClass,
  EpisodeEvent,
  Generation,
  RunManifest,
  StepTaken,
  StopReason,
} from './records.ts';
import {
  type Conversation,
  conversationIds,
  fitConversation,
  withTurn,
} from './text/conversation.ts';
import { parseTurn } from './text/parse.ts';
import { firstMessages, observationMessage } from './text/prompt.ts';
import { atBoundary, type BoundaryState, rollBack, startBoundaries } from './train/boundary.ts';

/**
 * Runs one episode. Every event is yielded once, in order; the caller stores it before asking for
 * the next. Failures travel as data: the last event says why it ended. Abort ends it as `stopped`.
 */
export async function* runEpisode(
  manifest: RunManifest,
  ports: EpisodePorts,
  signal: AbortSignal,
): AsyncGenerator<EpisodeEvent, void, void> {
  const { settings, task } = manifest;
  const { policy, learner, world, snapshots } = ports;
  let seq = 0;
  let t = 0;
  let reward = 0;
  let boundaries: BoundaryState = startBoundaries();
  const end = (reason: StopReason, thrown: unknown = null): EpisodeEvent => ({
    type: 'episode_ended',
    seq: seq++,
    reason,
    t,
    reward,
    updates: boundaries.updates,
    rollbacks: boundaries.rollbacks,
    error: thrown === null ? null : toWire(thrown),
  });
  try {
    await snapshots.save(await learner.snapshot());
    let view = await world.reset(task, signal);
    const messages = firstMessages(view.observation, view.admissible, settings);
    let conversation: Conversation = { head: policy.begin(messages), turns: [] };
    yield {
      type: 'episode_started',
      seq: seq++,
      manifest,
      task,
      messages,
      promptIds: conversation.head,
      observation: view.observation,
      stateHash: view.stateHash,
    };
    const stepWords: ReadonlySet<string>[] = [];
    while (t < settings.step_limit) {
      throwIfAborted(signal);
      const context = Math.min(policy.contextLength, settings.context_length);
      const room = Math.min(settings.max_tokens, Math.floor(context / 2));
      const fitted = fitConversation(conversation, context - room);
      if (!fitted) {
        yield end('context_full');
        return;
      }
      conversation = fitted;
      const generation = await act(conversation, t + 1, room, manifest, ports, signal);
      const { thought, action, status, ignoredFrom } = parseTurn(generation.text, generation.stop);
      ports.onProgress({ type: 'phase', t: t + 1, phase: 'environment', done: 0, total: 1 });
      const before = view;
      view = await world.step(action, signal);
      t++;
      reward += view.reward;
      const message = observationMessage(view.observation, view.admissible, settings);
      const following = policy.follow(generation, message);
      const text = action === '' ? generation.text : `${thought}\n${action}`;
      const own = words(text);
      const step: StepTaken = {
        type: 'step',
        seq: seq++,
        t,
        generation,
        thought,
        action,
        actionClass: status === 'ok' ? classify(action, before, view) : status,
        observation: view.observation,
        observationIds: following.ids,
        observationSpan: following.content,
        reward: view.reward,
        terminated: view.terminated,
        stateHash: view.stateHash,
        repetition: nearest(own, stepWords).ratio,
      };
      stepWords.push(own);
      yield step;
      const turn = { step, text, ignoredFrom, prior: conversation };
      conversation = withTurn(conversation, [...generation.ids, ...following.ids]);
      boundaries = { ...boundaries, turns: [...boundaries.turns, turn] };
      if (view.terminated) {
        yield end(reward > 0 ? 'solved' : 'failed');
        return;
      }
      const due = t % settings.update_interval_k === 0;
      let order: Order | 'periodic' = due ? 'periodic' : await ports.nextOrder(t, signal);
      while (order !== 'continue') {
        if (order === 'roll_back_now') {
          const restored = boundaries.dirty;
          boundaries = restored ? await rollBack(boundaries, ports) : boundaries;
          yield { type: 'rolled_back', seq: seq++, t, cause: 'manual', restored };
        } else {
          const trigger = order === 'periodic' ? 'periodic' : 'manual';
          const result = await atBoundary(
            trigger,
            boundaries,
            conversation,
            settings,
            ports,
            signal,
          );
          boundaries = result.state;
          yield { ...result.boundary, seq: seq++ };
        }
        order = await ports.nextOrder(t, signal);
      }
    }
    yield end('step_limit');
  } catch (thrown) {
    const cause = await causeOf(thrown, signal);
    if (isAbort(cause)) yield end('stopped');
    else yield end(isEnvironmentError(cause) ? 'environment_error' : 'engine_error', cause);
  }
}

/** One thought and action: the same seed, task and step draw the same numbers for every method. */
async function act(
  conversation: Conversation,
  t: number,
  maxTokens: number,
  { settings, task }: RunManifest,
  { policy, onProgress }: EpisodePorts,
  signal: AbortSignal,
): Promise<Generation> {
  const rng = deriveRng(settings.seed, task.env, task.split, task.index, 'sample', t);
  const generation = await policy.generate(
    conversationIds(conversation),
    settings,
    maxTokens,
    rng,
    signal,
    (id, piece) => onProgress({ type: 'token', t, id, piece }),
  );
  if (generation.stop === 'abort') throwIfAborted(signal);
  return generation;
}

function classify(action: string, before: WorldView, after: WorldView): ActionClass {
  if (before.admissible && !before.admissible.includes(action)) return 'not_admissible';
  return before.stateHash === after.stateHash ? 'without_effect' : 'effective';
}

function isEnvironmentError(thrown: unknown): boolean {
  return thrown instanceof LabError && (thrown.code === 'environment' || thrown.code === 'timeout');
}
