/** Reads a conversation from a JSON file. */

import { LabError } from '../errors.ts';
import type { ChatMessage, Json, Role } from '../records.ts';

const roles: readonly Role[] = ['system', 'user', 'assistant'];

/** A list of `{"role", "content"}`; throws `bad_input` naming the first that does not fit. */
export function readMessages(value: Json, file: string): readonly ChatMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new LabError('bad_input', `${file}: expected a list of one message or more.`, { file });
  }
  return value.map((message: Json, index): ChatMessage => {
    if (typeof message === 'object' && message !== null && 'role' in message) {
      const { role, content } = message;
      const known = roles.find((each) => each === role);
      if (known !== undefined && typeof content === 'string') return { role: known, content };
    }
    throw new LabError(
      'bad_input',
      `${file}: message ${index} is ${JSON.stringify(message).slice(0, 80)}, expected {"role": "system", "user" or "assistant", "content": a text}.`,
      { file, index },
    );
  });
}
