/**
 * A conversation as ids for a model whose own tokenizer is out of reach: each different piece of text
 * gets the next free number. Equal pieces have equal ids within an episode, so n-grams count as ever;
 * the numbers mean nothing outside it.
 */

import { LabError } from '../errors.ts';
import type { ChatMessage, Role } from '../records.ts';

const roles: readonly Role[] = ['system', 'user', 'assistant'];
/** Ends a message. */
const END = roles.length;

/**
 * At most four letters or digits a piece, so that counts are rather too high than too low against a
 * real tokenizer's: the context must hold them.
 */
const PIECE = / ?[\p{L}\p{N}]{1,4}|[^\S\n]*\n|\s|[^\s\p{L}\p{N}]/gu;

/** Grows with what it sees; one an episode. */
export class Pieces {
  /** Bytes as one character each, so that a piece may be part of a character. */
  readonly #pieces: string[] = [...roles.map((role) => `<|${role}|>`), '<|end|>'];
  readonly #ids = new Map<string, number>();

  /** The id of these bytes. */
  id(bytes: Uint8Array): number {
    const key = String.fromCharCode(...bytes);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const next = this.#pieces.push(key) - 1;
    this.#ids.set(key, next);
    return next;
  }

  encode(text: string): number[] {
    const encoder = new TextEncoder();
    return (text.match(PIECE) ?? []).map((piece) => this.id(encoder.encode(piece)));
  }

  /** The text of ids; marks of messages are written out. */
  decode(ids: readonly number[]): string {
    const characters = ids.map((id) => this.#piece(id)).join('');
    return new TextDecoder().decode(Uint8Array.from(characters, (c) => c.charCodeAt(0)));
  }

  encodeMessage({ role, content }: ChatMessage): number[] {
    return [roles.indexOf(role), ...this.encode(content), END];
  }

  /** What an answer begins with. */
  get prompt(): readonly number[] {
    return [roles.indexOf('assistant')];
  }

  /** What closes an answer. */
  get end(): readonly number[] {
    return [END];
  }

  /** The messages that ids stand for; the last, open one is left out. Throws `internal` for other ids. */
  messages(ids: readonly number[]): ChatMessage[] {
    const found: ChatMessage[] = [];
    let at = 0;
    while (at < ids.length) {
      const role = roles[ids[at] ?? -1];
      if (role === undefined) {
        throw new LabError('internal', `The conversation has no role at id ${at}.`);
      }
      const end = ids.indexOf(END, at);
      if (end < 0) break;
      found.push({ role, content: this.decode(ids.slice(at + 1, end)) });
      at = end + 1;
    }
    return found;
  }

  #piece(id: number): string {
    const piece = this.#pieces[id];
    if (piece !== undefined) return piece;
    throw new LabError('bad_input', `The id ${id} was never given out in this episode.`);
  }
}
