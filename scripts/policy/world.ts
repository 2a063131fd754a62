/**
 * The world for rollout.py: one JSON request a line on stdin, one JSON answer a line on stdout. What the policy reads
 * and how its turns are read back are the product's own prompt, parser and world.
 * {"reset": [{"split": "valid_seen", "index": 3}, ...]} answers with one start each;
 * {"step": [{"episode": 0, "text": "Thought: ...", "stop": "eos"}, ...]} answers with one step each.
 */

import { createInterface } from 'node:readline';
import { settingsFor } from '../../src/config.ts';
import { household, resetScene } from '../../src/envs/household.ts';
import type { HouseholdState } from '../../src/envs/household-scene.ts';
import { sceneOfTask } from '../../src/envs/household-tasks.ts';
import { nearest, words } from '../../src/math/repetition.ts';
import type { GenerationStop } from '../../src/records.ts';
import { parseTurn } from '../../src/text/parse.ts';
import { firstMessages, observationMessage } from '../../src/text/prompt.ts';

/** Which scene an episode plays. */
interface Start {
  readonly split: string;
  readonly index: number;
}

interface Turn {
  readonly episode: number;
  readonly text: string;
  readonly stop: GenerationStop;
}
type Request = { readonly reset: readonly Start[] } | { readonly step: readonly Turn[] };

const settings = settingsFor(household.description.id);

interface Episode {
  state: HouseholdState;
  stateHash: string;
  readonly said: ReadonlySet<string>[];
}
let episodes: Episode[] = [];

function reset(starts: readonly Start[]): unknown[] {
  const scenes = starts.map((start) => sceneOfTask({ env: household.description.id, ...start }));
  const begun = scenes.map((scene) => resetScene(scene));
  episodes = begun.map(({ state, info }) => ({ state, stateHash: info.stateHash, said: [] }));
  return begun.map(({ observation }, i) => ({
    messages: firstMessages(observation, null, settings),
    kind: scenes[i]?.kind,
    goal: scenes[i]?.task,
  }));
}

function step({ episode, text, stop }: Turn): unknown {
  const played = episodes[episode];
  if (played === undefined)
    throw new Error(`No episode ${episode}; reset gave ${episodes.length}.`);
  const { thought, action, status } = parseTurn(text, stop);
  const own = words(action === '' ? text : `${thought}\n${action}`);
  const repetition = nearest(own, played.said).ratio;
  const before = played.stateHash;
  const after = household.step(played.state, action);
  played.said.push(own);
  played.state = after.state;
  played.stateHash = after.info.stateHash;
  const message = observationMessage(after.observation, null, settings);
  return {
    action,
    status,
    before, // hash of the state that the action met
    observation: after.observation,
    content: message.content,
    terminated: after.terminated,
    repetition,
  };
}

if (process.argv.includes('--serve')) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request: Request = JSON.parse(line); // written by rollout.py
    const answer = 'reset' in request ? reset(request.reset) : request.step.map(step);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
