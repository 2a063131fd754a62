/** The command `attt`: reads the command line, runs one command, prints its JSON, sets the exit code. */

import { Command, CommanderError } from 'commander';
import { version } from '../../package.json';
import { readJson } from './files.ts';
import { runOnHost } from './host.ts';
import { backendOption, idList, modelOption } from './options.ts';
import { printJson, report } from './output.ts';
import { decode, tokens } from './tokens.ts';

const program = new Command('attt')
  .description(
    'Agentic test-time training without a browser. Prints JSON; progress goes to stderr.',
  )
  .version(version)
  .exitOverride()
  .showHelpAfterError('Run "attt --help" for the commands.');

program
  .command('tokens')
  .description("encode a text with a model's tokenizer")
  .addOption(modelOption())
  .requiredOption('--text-file <file>', 'the text, UTF-8')
  .option('--special', 'control text such as <|im_end|> is the control token', false)
  .action(async (options) => printJson(await tokens(options)));

program
  .command('decode')
  .description('decode token ids')
  .addOption(modelOption())
  .requiredOption('--ids <ids>', 'such as 3,7,11', idList)
  .action(async (options) => printJson(await decode(options)));

program
  .command('logits')
  .description('the logits after each of some ids')
  .addOption(modelOption())
  .requiredOption('--ids <ids>', 'such as 3,7,11', idList)
  .option('--last', 'only those after the last id', false)
  .addOption(backendOption())
  .action(async ({ ids, last, ...where }) =>
    printJson(await runOnHost({ kind: 'logits', ids, last }, where)),
  );

program
  .command('train')
  .description('train an adapter as a case file describes, and measure it')
  .addOption(modelOption())
  .requiredOption('--case <file>', 'the case, JSON')
  .addOption(backendOption())
  .action(async ({ case: file, ...where }) =>
    printJson(await runOnHost({ kind: 'train', case: await readJson(file) }, where)),
  );

try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = exitCodeOf(thrown);
}

/** Commander has printed its own words already; asking for help is no fault. */
function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  return report(thrown);
}
