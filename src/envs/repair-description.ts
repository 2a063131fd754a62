/** What the repair world says of itself, without any of its code: programs and interpreter load when it is used. */

import type { EnvDescription } from '../records.ts';

export const REPAIR_ID = 'repair/JavaScript-v1';

/** Every command, as `help` and the first observation give it. */
export const REPAIR_COMMANDS: readonly string[] = [
  'list files',
  'view FILE, or view FILE 10-30',
  'search TEXT',
  'replace 12 with CODE, or replace 12-14 with CODE',
  'insert 12 CODE (below line 12; 0 is the top)',
  'delete 12, or delete 12-14',
  'run tests, or run test NAME',
  'undo (the last edit)',
  'submit (ends the task; further tests, which you cannot see, are run too)',
];

export const repairDescription: EnvDescription = {
  id: REPAIR_ID,
  label: 'Code repair (JavaScript)',
  help: `Find and repair the fault in a small JavaScript program by commands: ${REPAIR_COMMANDS.join('; ')}. Solved when all tests pass at submit, hidden ones too. For instructed models of any kind; the bundled policy knows the household only and will not get far.`,
  citation:
    'Own programs, with faults as mutation testing plants them; actions after Yang et al., SWE-agent, NeurIPS 2024',
  splits: [
    { name: 'train', size: 222, help: 'Faults in 25 programs.' },
    { name: 'valid_seen', size: 99, help: 'Other faults in the same programs.' },
    { name: 'valid_unseen', size: 88, help: 'Faults in 8 programs that train never has.' },
  ],
  oracleScore: 1,
  idleScore: 0,
  code: true,
};
