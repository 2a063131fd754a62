/** Answers may come in another order than they were asked for: only the newest request shows its own. */

export interface Latest {
  /** A new request; the function says whether it is still the newest one. */
  begin(): () => boolean;
  /** What may become a request once more is known of it; the function says whether none began meanwhile. */
  watch(): () => boolean;
}

export function latest(): Latest {
  let newest = 0;
  const watch = () => {
    const now = newest;
    return () => now === newest;
  };
  return {
    watch,
    begin() {
      newest++;
      return watch();
    },
  };
}

/** What the person asked to see last: a stored run, one of a file, a new one, the comparison. */
export const screenRequests = latest();

/** The task that the person chose last. */
export const taskRequests = latest();
