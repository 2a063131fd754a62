/**
 * Messages to token ids, such that only the template's own markers become control tokens: control
 * text inside a message's content stays plain text and cannot close or forge a turn.
 */

import { LabError } from '../errors.ts';
import type { ChatMessage } from '../records.ts';
import { type RenderOptions, renderChat } from './template.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface ChatOptions {
  /** End with the opening of an assistant turn. */
  readonly addGenerationPrompt: boolean;
}

/** Half-open range of positions in a list of ids. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface EncodedChat {
  readonly ids: readonly number[];
  /**
   * For each message, the tokens that hold its content (a token shared with the template's text
   * counts); null where the template changed the content beyond trimming it.
   */
  readonly spans: readonly (Span | null)[];
}

/** The conversation as ids, with exactly one start token where the model uses one. */
export function encodeChat(
  tokenizer: Tokenizer,
  template: string,
  messages: readonly ChatMessage[],
  options: ChatOptions,
): EncodedChat {
  const mark = unusedCharacter([template, ...messages.map((message) => message.content)]);
  const escaped = messages.map((message) => escapeMessage(tokenizer, message, mark));
  const text = render(tokenizer, template, escaped, options);
  const { ids, offsets } = encodeRendered(tokenizer, text, mark);
  const bos = tokenizer.addBos && tokenizer.bosId !== ids[0] ? tokenizer.bosId : null;
  const shift = bos === null ? 0 : 1;
  const places = contentPlaces(tokenizer, template, escaped, options, text, mark);
  const spans = places.map((place) => place && tokenSpan(place, text, mark, offsets, shift));
  return { ids: bos === null ? ids : [bos, ...ids], spans };
}

/**
 * The ids that follow an assistant turn whose ids are fixed: its end, the next user message and the
 * opening of the next assistant turn. `before` are the messages up to and including the last user
 * message; `sampled` are the assistant's ids: an end-of-turn token among them is not repeated.
 * `span` is where the next message's content lies, as in {@link EncodedChat.spans}. Throws `unsupported` for a template
 * that shows the turn otherwise than it was written.
 */
export function continueChat(
  tokenizer: Tokenizer,
  template: string,
  before: readonly ChatMessage[],
  sampled: readonly number[],
  next: ChatMessage,
): { readonly ids: readonly number[]; readonly span: Span | null } {
  const options = { addGenerationPrompt: true };
  const mark = unusedCharacter([template, ...[...before, next].map(({ content }) => content)]);
  // Rendered with a stand-in for the turn; what comes after it is encoded.
  const turn = `${mark}turn${mark}`;
  const messages = [
    ...before.map((message) => escapeMessage(tokenizer, message, mark)),
    { role: 'assistant', content: turn } as const,
    escapeMessage(tokenizer, next, mark),
  ];
  const text = render(tokenizer, template, messages, options);
  const at = text.lastIndexOf(turn);
  if (at === -1) {
    throw new LabError(
      'unsupported',
      "The model's chat template does not show the assistant's turn as it was written, so the " +
        'conversation cannot be continued. Choose another model.',
    );
  }
  const tailAt = at + turn.length;
  const tail = text.slice(tailAt);
  const { ids, offsets } = encodeRendered(tokenizer, tail, mark, true);
  const [first] = ids;
  const closed = first !== undefined && first === sampled.at(-1) && tokenizer.isControl(first);
  const place = contentPlaces(tokenizer, template, messages, options, text, mark).at(-1);
  const span =
    place && place.from >= tailAt
      ? tokenSpan(
          { from: place.from - tailAt, to: place.to - tailAt },
          tail,
          mark,
          offsets,
          closed ? -1 : 0,
        )
      : null;
  return { ids: closed ? ids.slice(1) : ids, span };
}

function render(
  tokenizer: Tokenizer,
  template: string,
  messages: readonly ChatMessage[],
  options: ChatOptions,
): string {
  const [eos] = tokenizer.eosIds;
  const render: RenderOptions = {
    addGenerationPrompt: options.addGenerationPrompt,
    bosToken: tokenizer.bosId === null ? '' : tokenizer.piece(tokenizer.bosId),
    eosToken: eos === undefined ? '' : tokenizer.piece(eos),
  };
  return renderChat(template, messages, render);
}

// ---------------------------------------------------------------- control text in contents

/** A private-use character that occurs in none of the texts. */
function unusedCharacter(texts: readonly string[]): string {
  for (let code = 0xe000; code <= 0xf8ff; code++) {
    const char = String.fromCharCode(code);
    if (!texts.some((text) => text.includes(char))) return char;
  }
  throw new LabError(
    'bad_input',
    'The messages use every private-use character from U+E000 to U+F8FF. Remove one of them.',
  );
}

/**
 * Puts the mark behind the first character of every control token in the content, and at the end
 * where the content stops in the middle of one: no control token can be found there, while the
 * template may still trim, search and split the content as ever.
 */
function escapeMessage(tokenizer: Tokenizer, message: ChatMessage, mark: string): ChatMessage {
  const sections = tokenizer.splitControl(message.content);
  const content = sections
    .map(({ text, id }) => (id === null ? text : text.slice(0, 1) + mark + text.slice(1)))
    .join('');
  return { ...message, content: tokenizer.endsInControl(content) ? content + mark : content };
}

/**
 * Encodes rendered text; `offsets[i]` is where token i begins, in bytes of the text without marks.
 * `continues`: the text follows other plain text.
 */
function encodeRendered(
  tokenizer: Tokenizer,
  text: string,
  mark: string,
  continues = false,
): { readonly ids: number[]; readonly offsets: number[] } {
  const ids: number[] = [];
  const offsets: number[] = [];
  let start = 0;
  for (const [index, section] of tokenizer.splitControl(text).entries()) {
    // A whole run between control tokens is one text: merges may cross the border of a content.
    const plain = section.text.replaceAll(mark, '');
    const options = { special: false, continues: continues && index === 0 };
    const own = section.id !== null ? [section.id] : tokenizer.encode(plain, options);
    const lengths = own.map((id) => tokenizer.bytes(id).length);
    const end = start + new TextEncoder().encode(plain).length;
    // A space that the vocabulary puts before a text is none of the text's bytes.
    let offset = Math.min(start, end - lengths.reduce((sum, length) => sum + length, 0));
    own.forEach((id, i) => {
      ids.push(id);
      offsets.push(Math.max(start, offset));
      offset += lengths[i] ?? 0;
    });
    start = end;
  }
  return { ids, offsets: [...offsets, start] };
}

// ---------------------------------------------------------------- where the contents went

/** A content's range of characters in the rendered text. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the contents in `text` by the template's own text around them, learnt from a rendering in
 * which every content is a stand-in. Null for all when the template treats the two differently.
 */
function contentPlaces(
  tokenizer: Tokenizer,
  template: string,
  messages: readonly ChatMessage[],
  options: ChatOptions,
  text: string,
  mark: string,
): readonly (Place | null)[] {
  const lost = messages.map(() => null);
  const standIns = messages.map((message) => ({ ...message, content: `${mark}x${mark}` }));
  const frame = tryRender(tokenizer, template, standIns, options)?.split(`${mark}x${mark}`);
  if (frame?.length !== messages.length + 1 || !text.startsWith(frame[0] ?? '')) return lost;
  const places: Place[] = [];
  let from = (frame[0] ?? '').length;
  for (const [i, { content }] of messages.entries()) {
    const next = frame[i + 1] ?? '';
    const shown = [content, content.trim(), content.trimStart(), content.trimEnd()].find((form) =>
      text.startsWith(form + next, from),
    );
    if (shown === undefined) return lost;
    places.push({ from, to: from + shown.length });
    from += shown.length + next.length;
  }
  return places;
}

/** A template may refuse stand-ins although it accepts the messages. */
function tryRender(
  tokenizer: Tokenizer,
  template: string,
  messages: readonly ChatMessage[],
  options: ChatOptions,
): string | null {
  try {
    return render(tokenizer, template, messages, options);
  } catch {
    return null;
  }
}

/** The tokens that overlap a range of characters. */
function tokenSpan(
  place: Place,
  text: string,
  mark: string,
  offsets: readonly number[],
  shift: number,
): Span {
  const bytesBefore = (end: number) =>
    new TextEncoder().encode(text.slice(0, end).replaceAll(mark, '')).length;
  const from = bytesBefore(place.from);
  const to = bytesBefore(place.to);
  const last = offsets.length - 1;
  let start = 0;
  while (start < last && (offsets[start + 1] ?? 0) <= from) start++;
  let end = start;
  while (end < last && (offsets[end] ?? 0) < to) end++;
  return { start: start + shift, end: end + shift };
}
