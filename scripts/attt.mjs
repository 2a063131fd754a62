#!/usr/bin/env node
// The command `attt`: bundles it first where a source is newer than the bundle.

import { buildCli } from './build-cli.mjs';

await buildCli();
await import('../dist-cli/attt.js');
