/** The words of the conversation: how a task, an observation and a turn are written for the model. */

import type { Settings } from '../config.ts';
import type { ChatMessage, StepTaken } from '../records.ts';

/** The settings that the messages depend on. */
export type PromptSettings = Pick<Settings, 'system_prompt' | 'show_admissible'>;

/** The most reflections that a prompt holds, as in Shinn et al. 2023, arXiv:2303.11366, section 3 (Ω of 1 to 3). */
const REFLECTIONS = 3;

/** The first line of every ALFWorld text; it tells the model nothing. */
const BANNER = /^-= .* =-\s*/;
const GOAL = /(?:^|\n)\s*Your task is to: (.*?)\s*$/;

const SUMMARY_QUESTION =
  'In a few sentences: what has been done in this task so far, what was learnt of the world, and what is still to be done?';

/** A world's first text in its two parts; `goal` is null where it names none. */
export interface Opening {
  readonly goal: string | null;
  readonly observation: string;
}

/**
 * Takes ALFWorld's goal out of its first text, `-= Welcome to TextWorld, ALFRED! =-`, the room and
 * `Your task is to: put a hot potato in sinkbasin.`, which gives the goal `put a hot potato in
 * sinkbasin.` and the room. Any other text is an observation without a goal.
 */
export function splitOpening(text: string): Opening {
  const goal = GOAL.exec(text);
  if (!goal) return { goal: null, observation: text };
  return {
    goal: goal[1] ?? '',
    observation: text.slice(0, goal.index).replace(BANNER, '').trim(),
  };
}

/**
 * The conversation before the first turn: the system text where there is one, the task, the room.
 * The latest three reflections on earlier tries stand between task and room.
 */
export function firstMessages(
  openingText: string,
  admissible: readonly string[] | null,
  settings: PromptSettings,
  reflections: readonly string[] = [],
): readonly ChatMessage[] {
  const { goal, observation } = splitOpening(openingText);
  const latest = reflections.slice(-REFLECTIONS);
  const learnt =
    latest.length === 0
      ? ''
      : `What you wrote after earlier tries:\n${latest.map((r) => `- ${r}`).join('\n')}\n`;
  const seen = learnt + observationText(observation, admissible, settings);
  const task: ChatMessage = {
    role: 'user',
    content: goal === null ? seen : `Task: ${goal}\n${seen}`,
  };
  return settings.system_prompt === ''
    ? [task]
    : [{ role: 'system', content: settings.system_prompt }, task];
}

/** What the world answered to a turn. */
export function observationMessage(
  observation: string,
  admissible: readonly string[] | null,
  settings: PromptSettings,
): ChatMessage {
  return { role: 'user', content: observationText(observation, admissible, settings) };
}

/** What the policy is asked after a try that failed, in place of the next turn. */
export function reflectionMessage(observation: string): ChatMessage {
  return {
    role: 'user',
    content: `${observation}\n\nThe task is not done, and this try is over. In a few sentences: what went wrong, and what will you do differently at the next try?`,
  };
}

/** What the policy is asked for a summary, in place of the next turn. */
export function summaryMessage(observation: string): ChatMessage {
  return { role: 'user', content: `${observation}\n\n${SUMMARY_QUESTION}` };
}

/**
 * What another model is asked for a summary. Of a trajectory of more than `limit` characters the
 * earliest steps are left out, and the text says so.
 */
export function summaryMessages(
  task: string,
  steps: readonly StepTaken[],
  limit: number,
): readonly ChatMessage[] {
  const told = steps.map(
    ({ t, generation, observation }) =>
      `Step ${t}\n${generation.text.trim()}\nSeen: ${observation}`,
  );
  let from = told.length - 1;
  let length = told[from]?.length ?? 0;
  for (; from > 0 && length + (told[from - 1]?.length ?? 0) <= limit; from--) {
    length += told[from - 1]?.length ?? 0;
  }
  const left = from > 0 ? [`(The first ${from} steps are left out.)`] : [];
  return [
    {
      role: 'system',
      content: 'You read what an agent does in a long task, and tell it in short.',
    },
    { role: 'user', content: [task, ...left, ...told.slice(from), SUMMARY_QUESTION].join('\n\n') },
  ];
}

function observationText(
  observation: string,
  admissible: readonly string[] | null,
  { show_admissible }: PromptSettings,
): string {
  if (!show_admissible || admissible === null) return observation;
  return `${observation}\nAdmissible commands: ${admissible.join(', ')}`;
}
