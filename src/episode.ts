/** The spine: act, observe, weigh, learn, guard. It knows no device, no storage and no clock. */

import { causeOf, isAbort, LabError, throwIfAborted, toWire } from './errors.ts';
import { nearest, words } from './math/repetition.ts';
import { deriveRng, type Rng } from './math/rng.ts';
import type { EpisodePorts, Order, WorldView } from './ports.ts';
import type {
  ActionClass,
  EpisodeEnded,
  EpisodeEvent,
  Generation,
  RefusedTurn,
  RunManifest,
  StepTaken,
  StopReason,
} from './records.ts';
import {
  type Conversation,
  conversationIds,
  fitConversation,
  keepTurns,
  withTurn,
} from './text/conversation.ts';
import { type ParsedTurn, parseTurn } from './text/parse.ts';
import { firstMessages, observationMessage, reflectionMessage } from './text/prompt.ts';
import { atBoundary, rollBack } from './train/boundary.ts';
import { type BoundaryState, startBoundaries } from './train/boundary-state.ts';
import { methods, withMethod } from './train/methods.ts';
import { type Asked, askedBy } from './train/triggers.ts';
import { observationSpan } from './train/update-text.ts';
import { isLastTry } from './tries.ts';

/**
 * Runs one episode. Every event is yielded once, in order; the caller stores it before asking for
 * the next. Failures travel as data: the last event says why it ended. Abort ends it as `stopped`.
 * The method's own settings are in the manifest of the first event.
 */
export async function* runEpisode(
  asked: RunManifest,
  ports: EpisodePorts,
  signal: AbortSignal,
): AsyncGenerator<EpisodeEvent, void, void> {
  const manifest: RunManifest = { ...asked, settings: withMethod(asked.settings) };
  const { settings, task } = manifest;
  const method = methods[settings.method];
  const { policy, learner, world, snapshots } = ports;
  const earlier = manifest.reflections?.length ?? 0; // tries of this task, each with draws of its own
  const nth = earlier === 0 ? [] : ['try', earlier];
  const stream = (purpose: string, ...at: readonly (string | number)[]): Rng =>
    deriveRng(settings.seed, task.env, task.split, task.index, ...nth, purpose, ...at);
  /** An engine may hold more than this run asks for, for the sake of another one: nothing may depend on it. */
  const contextLength = Math.min(policy.contextLength, settings.context_length);
  const rules = { settings, method, stream, contextLength };
  let seq = 0;
  let t = 0;
  let reward = 0;
  let boundaries: BoundaryState = startBoundaries({ text: '', ids: [] });
  const end = (reason: StopReason, thrown: unknown = null): EpisodeEnded => ({
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
    const messages = firstMessages(
      view.observation,
      view.admissible,
      settings,
      manifest.reflections,
    );
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
    const opening = { text: messages.at(-1)?.content ?? '', ids: conversation.head };
    boundaries = startBoundaries(opening);
    const train = async (why: Asked): Promise<EpisodeEvent> => {
      const result = await atBoundary(why, boundaries, conversation, rules, ports, signal);
      boundaries = result.state;
      return { ...result.boundary, seq: seq++ };
    };
    if (method.trains === 'before_acting') {
      yield await train({ trigger: 'before_acting', cause: 'This method trains before acting.' });
    }
    const stepWords: ReadonlySet<string>[] = [];
    const idle = new Set<string>();
    while (t < settings.step_limit) {
      throwIfAborted(signal);
      const room = Math.min(settings.max_tokens, Math.floor(contextLength / 2));
      const kept = keepTurns(conversation, settings.history_turns);
      const fitted = fitConversation(kept, contextLength - room);
      if (!fitted) {
        yield await giveUp('context_full');
        return;
      }
      conversation = fitted;
      const { generation, parsed, refused } = await act(conversation, t + 1, room, idle, view);
      const { thought, action, status, ignoredFrom } = parsed;
      ports.onProgress({ type: 'phase', t: t + 1, phase: 'environment', done: 0, total: 1 });
      const before = view;
      view = await world.step(action, signal);
      t++;
      reward += view.reward;
      if (view.stateHash !== before.stateHash) idle.clear();
      else if (action !== '') idle.add(action);
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
        ...(view.failed && { failed: true }),
        observation: view.observation,
        observationIds: following.ids,
        observationSpan: observationSpan(view.observation, message, following, learner),
        reward: view.reward,
        terminated: view.terminated,
        stateHash: view.stateHash,
        repetition: nearest(own, stepWords).ratio,
        ...(refused.length > 0 && { refused }),
      };
      stepWords.push(own);
      yield step;
      const turn = { step, text, ignoredFrom, prior: conversation };
      conversation = withTurn(conversation, [...generation.ids, ...following.ids]);
      boundaries = { ...boundaries, turns: [...boundaries.turns, turn] };
      if (view.terminated) {
        yield reward > 0 ? end('solved') : await giveUp('failed');
        return;
      }
      const due = askedBy(step, settings);
      if (due) yield await train(due);
      let order: Order = await ports.nextOrder(t, signal);
      while (order !== 'continue') {
        if (order === 'roll_back_now') {
          const restored = boundaries.dirty;
          boundaries = restored ? await rollBack(boundaries, ports) : boundaries;
          yield { type: 'rolled_back', seq: seq++, t, cause: 'manual', restored };
        } else {
          yield await train({
            ...{ trigger: 'manual', cause: 'You asked for it.' },
            ...(order === 'update_again' && { again: true }),
          });
        }
        order = await ports.nextOrder(t, signal);
      }
    }
    yield await giveUp('step_limit');
  } catch (thrown) {
    const cause = await causeOf(thrown, signal);
    if (isAbort(cause)) yield end('stopped');
    else yield end(isEnvironmentError(cause) ? 'environment_error' : 'engine_error', cause);
  }

  /** One thought and action: the same seed, task and step draw the same numbers for every method. */
  async function act(
    { head, turns }: Conversation,
    at: number,
    maxTokens: number,
    idle: ReadonlySet<string>,
    { verbatim }: WorldView,
  ): Promise<SampledTurn> {
    const refused: RefusedTurn[] = [];
    for (;;) {
      const again = refused.length === 0 ? [] : ['again', refused.length];
      const rng = stream('sample', at, ...again);
      const generation = await sample(conversationIds({ head, turns }), at, maxTokens, rng);
      const parsed = parseTurn(generation.text, generation.stop, verbatim);
      const { action } = parsed;
      const why = method.refuses?.(action, idle) ?? null;
      if (why === null || refused.length >= settings.loop_breaker_tries) {
        return { generation, parsed, refused };
      }
      refused.push({ action, why, tokens: generation.ids.length });
    }
  }

  async function sample(
    ids: readonly number[],
    at: number,
    maxTokens: number,
    rng: Rng,
  ): Promise<Generation> {
    const generation = await policy.generate(ids, settings, maxTokens, rng, signal, (id, piece) =>
      ports.onProgress({ type: 'token', t: at, id, piece }),
    );
    if (generation.stop === 'abort') throwIfAborted(signal);
    return generation;
  }

  /** The end of a try that did not solve the task; a method that reflects writes why for its next one. */
  async function giveUp(reason: 'failed' | 'step_limit' | 'context_full'): Promise<EpisodeEvent> {
    if (!method.reflects || isLastTry(manifest)) return end(reason);
    const last = boundaries.turns.at(-1);
    if (!last) {
      const noReflection = 'No try follows: no step was taken that could be reflected on.';
      return { ...end(reason), noReflection };
    }
    const { generation, observation } = last.step;
    const question = policy.follow(generation, reflectionMessage(observation)).ids;
    const told = withTurn(last.prior, [...generation.ids, ...question]);
    const room = Math.min(settings.reflection_tokens, Math.floor(contextLength / 2));
    const fitted = fitConversation(told, contextLength - room);
    if (!fitted) {
      const noReflection = `No try follows: the last turn and a reflection of ${room} tokens do not fit into the context of ${contextLength}.`;
      return { ...end(reason), noReflection };
    }
    const reflection = await sample(conversationIds(fitted), t, room, stream('reflect'));
    return { ...end(reason), reflection };
  }
}

interface SampledTurn {
  readonly generation: Generation;
  readonly parsed: ParsedTurn;
  readonly refused: readonly RefusedTurn[];
}

function classify(action: string, before: WorldView, after: WorldView): ActionClass {
  if (before.admissible && !before.admissible.includes(action)) return 'not_admissible';
  if (after.refused) return 'not_admissible';
  return before.stateHash === after.stateHash ? 'without_effect' : 'effective';
}

function isEnvironmentError(thrown: unknown): boolean {
  return thrown instanceof LabError && (thrown.code === 'environment' || thrown.code === 'timeout');
}
