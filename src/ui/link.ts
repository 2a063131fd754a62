/** The address of what is on screen: run, step and token in the URL's hash. Other keys of the hash are kept. */

/** null: not named. */
export interface Link {
  /** A stored run's id, or `demo` for the recorded run that comes with the page. */
  readonly run: string | null;
  readonly step: number | null;
  readonly token: number | null;
}

/** The link in a hash such as `#run=20261129-184211-9f3c&step=12&token=5`; nonsense counts as not named. */
export function readLink(hash: string): Link {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    run: parts.get('run'),
    step: whole(parts.get('step')),
    token: whole(parts.get('token')),
  };
}

/** The hash with this link in it, `#` included; empty where nothing is left. */
export function writeLink(hash: string, link: Link): string {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  for (const [key, value] of Object.entries(link)) {
    if (value === null) parts.delete(key);
    else parts.set(key, String(value));
  }
  const text = parts.toString();
  return text === '' ? '' : `#${text}`;
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
