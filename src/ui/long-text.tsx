/** A text of the transcript; of a very long one only the beginning, until the rest is asked for or found. */

import { useState } from 'react';
import { Found } from './found.tsx';
import { wholeText } from './numbers.ts';
import { longText as say } from './strings.ts';

/** Characters of a long text that are shown, and how long one has to be for the rest to be folded. */
const shown = 1500;
const long = 2000;

export function LongText({ text, find }: { text: string; find: string }) {
  const [all, setAll] = useState(false);
  if (text.length <= long) return <Found text={text} find={find} />;
  const found = find !== '' && text.toLowerCase().includes(find.toLowerCase());
  const whole = all || found;
  return (
    <>
      <Found text={whole ? text : `${beginning(text)}…`} find={find} />{' '}
      {!found && (
        <button type="button" className="link" onClick={() => setAll(!all)}>
          {all ? say.less : say.all(wholeText(text.length))}
        </button>
      )}
    </>
  );
}

/** Ends between two characters, not in the middle of one that takes two places. */
function beginning(text: string): string {
  const half = (text.charCodeAt(shown - 1) & 0xfc00) === 0xd800;
  return text.slice(0, half ? shown - 1 : shown);
}
