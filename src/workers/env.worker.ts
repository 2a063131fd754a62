/** The sandboxed environment worker: worlds and nothing else; it may be ended at any time. */

import { serve } from '../rpc.ts';
import { envHandlers } from './env-server.ts';

serve(self as unknown as Parameters<typeof serve>[0], envHandlers); // the DOM's `self` is typed as a Window
