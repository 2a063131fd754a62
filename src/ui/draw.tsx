/** Draws the page for the first time, over what the build has drawn. */

import { StrictMode, startTransition, useLayoutEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

export function draw(root: HTMLElement): void {
  const Live = () => {
    // What the build has drawn there could not answer yet.
    useLayoutEffect(() => {
      root.inert = false;
    }, []);
    return <App />;
  };
  // A transition, so that the first drawing is done in slices between which the page answers.
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        <Live />
      </StrictMode>,
    ),
  );
}
