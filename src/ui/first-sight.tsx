/**
 * The page as it is before its script has come, for the build to put into index.html. Runs in Node:
 * nothing that it draws may ask the browser while it is drawn.
 */

import { renderToString } from 'react-dom/server';
import { App } from './app.tsx';

export const firstSight = renderToString(<App />);
