/** The three texts of a training conversation; the page's prompt writes the same. */

/** The first user turn: the goal as a sentence, then the sentence that lists the room. */
export function firstUserText(goal: string, room: string): string {
  return `Task: ${goal}\n${room}`;
}

/** Every later user turn: the observation as it is. */
export function observationText(observation: string): string {
  return observation;
}

/** What the policy writes: one line of thought, one action. */
export function assistantText(thought: string, action: string): string {
  return `Thought: ${thought}\nAction: ${action}`;
}
