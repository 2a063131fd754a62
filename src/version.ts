/** Which version of the program this is, as records and files name it. */

import { version as released } from '../package.json';

/** The commit that was built, see scripts/commit.mjs; the bundler puts it in. */
declare const ATTT_COMMIT: string | undefined;

const commit = typeof ATTT_COMMIT === 'string' ? ATTT_COMMIT : '';

/** Such as `0.1.0+g0d6b9c0a1` (build metadata of SemVer 2.0, 10), or the release alone where no commit is known. */
export const version = commit === '' ? released : `${released}+${commit}`;
