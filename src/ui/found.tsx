/** A text of the transcript with the places that the search found. */

import { splitAt } from './find.ts';

export function Found({ text, find }: { text: string; find: string }) {
  if (find === '') return text;
  return splitAt(text, find).map((part, index) =>
    part.found ? <mark key={index}>{part.text}</mark> : part.text,
  );
}
