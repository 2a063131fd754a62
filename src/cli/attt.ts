/** The command `attt`: reads the command line, runs one command, prints its JSON, sets the exit code. */

import { Command, CommanderError, Option } from 'commander';
import { defaultSettings, methodNames } from '../config.ts';
import { version } from '../version.ts';
import { adapterCommand } from './adapter.ts';
import { readAdapter, saveAdapter } from './adapters.ts';
import { compare, exportBundle, exportKinds, validate } from './bundle.ts';
import { mergeExperiments, runExperiment, shardOption, showPlan } from './experiment.ts';
import { readJson } from './files.ts';
import { makeFolder } from './folders.ts';
import { runOnHost } from './host.ts';
import type { Trained } from './jobs.ts';
import { readMessages } from './messages.ts';
import {
  adapterOption,
  backendOption,
  day,
  idList,
  indexList,
  integer,
  jobsOption,
  modelOption,
  nonNegative,
  threadsOption,
} from './options.ts';
import { printJson, report, WrongUse } from './output.ts';
import { play } from './play.ts';
import { writeReport } from './report.ts';
import { run } from './run.ts';
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
  .addOption(threadsOption())
  .addOption(adapterOption())
  .action(async ({ ids, last, adapter: path, ...where }) => {
    const adapter = await readAdapter(path);
    await printJson(await runOnHost({ kind: 'logits', ids, last, adapter }, where));
  });

program
  .command('generate')
  .description('the next turn of a conversation')
  .addOption(modelOption())
  .requiredOption('--messages <file>', 'a list of {"role", "content"}, JSON')
  .requiredOption('--max-tokens <n>', 'the most tokens to sample', integer('--max-tokens', 1))
  .option(
    '--temperature <t>',
    '0 takes the most likely token',
    nonNegative('--temperature'),
    defaultSettings.temperature,
  )
  .option('--seed <n>', 'of the sampling', integer('--seed', 0), defaultSettings.seed)
  .addOption(adapterOption())
  .addOption(backendOption())
  .addOption(threadsOption())
  .action(async ({ messages: file, maxTokens, temperature, seed, adapter: path, ...where }) => {
    const messages = readMessages(await readJson(file), file);
    const adapter = await readAdapter(path);
    const sampling = { maxTokens, temperature, seed };
    await printJson(await runOnHost({ kind: 'generate', messages, adapter, ...sampling }, where));
  });

program
  .command('train')
  .description('train an adapter as a case file describes, and measure it')
  .addOption(modelOption())
  .requiredOption('--case <file>', 'the case, JSON')
  .addOption(backendOption())
  .addOption(threadsOption())
  .option('--save-adapter <folder>', 'keep the trained adapter there, as PEFT has it')
  .action(async ({ case: file, saveAdapter: folder, ...where }) => {
    if (folder !== undefined) await makeFolder(folder);
    const trained = await runOnHost({ kind: 'train', case: await readJson(file) }, where);
    const { result, files } = trained as unknown as Trained; // what a train job gives
    if (folder !== undefined) await saveAdapter(folder, files);
    await printJson(result);
  });

program.addCommand(adapterCommand());

program
  .command('play')
  .description('commands in a world, and what it answered')
  .option('--scene <file>', 'scene.json or game.tw-pddl; in its place, a task of a split:')
  .option('--env <name>', 'the world', 'household')
  .option('--split <name>', 'the set of tasks', 'valid_unseen')
  .option('--task <n>', 'its number in the split', integer('--task', 0))
  .requiredOption('--commands <file>', 'a list of commands, JSON')
  .action(async (options) => printJson(await play(options)));

program
  .command('run')
  .description(
    'episodes of a policy; writes events.jsonl, summary.json, and predictions.jsonl of code repairs',
  )
  .addOption(modelOption())
  .requiredOption('--env <name>', 'the world', 'household')
  .requiredOption('--split <name>', 'the set of tasks', 'valid_unseen')
  .requiredOption('--tasks <list>', 'indices such as 0-9 or 0,3,7', indexList)
  .addOption(new Option('--method <name>', 'in place of the one in the files').choices(methodNames))
  .option('--config <file>', 'a config.toml')
  .option('--settings <file>', 'a settings.json')
  .option('--seed <n>', 'in place of the one in the files', integer('--seed', 0))
  .requiredOption('--out <folder>', 'where the two files go')
  .addOption(adapterOption('what every episode starts from'))
  .option('--served-model <name>', 'with --model http://…, its name on the server')
  .option('--served-adapter <path>', "an adapter on that server's disk (vLLM, llama-server)")
  .option(
    '--times',
    'events say when they were recorded; without it equal runs give equal files',
    false,
  )
  .option('--bundles', 'also one <split>-<index>.attt.zip a task, adapters included', false)
  .addOption(backendOption())
  .addOption(threadsOption())
  .action(async (options) => {
    const { summary, failed } = await run(options);
    await printJson(summary);
    if (failed) process.exitCode = 1;
  });

program
  .command('experiment')
  .description('runs the episodes of an experiment file that its folder does not hold yet')
  .argument(
    '<file...>',
    'the experiment, TOML; "plan" and the file, to run nothing; or "merge" and the folders to join',
  )
  .addOption(modelOption().default('household').makeOptionMandatory(false))
  .option('--out <folder>', 'where rows go')
  .option('--shard <i/n>', 'only the i-th of n parts', shardOption, { index: 1, count: 1 })
  .addOption(jobsOption())
  .option('--arm <name>', 'only this arm now; may be given more than once', collect, [])
  .option('--config <file>', 'a config.toml whose channel serves summary models; no settings of it')
  .option('--mix', 'join folders although their models, sets or settings differ', false)
  .addOption(backendOption())
  .addOption(threadsOption())
  .action(async ([file = '', ...more], { mix, ...options }, command: Command) => {
    const takesNone = (what: string, names: readonly string[]) => {
      const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
      if (given !== undefined) throw new WrongUse(`experiment ${what} takes no --${given}.`);
    };
    if (file === 'plan') {
      takesNone('plan', ['out', 'shard', 'jobs', 'arm', 'mix']);
      const [planned, ...others] = more;
      if (planned === undefined || others.length > 0) {
        throw new WrongUse(`experiment plan wants one file; found ${more.join(', ') || 'none'}.`);
      }
      await printJson(await showPlan(planned, options));
      return;
    }
    if (options.out === undefined) throw new WrongUse('experiment: --out names no folder yet.');
    const merges = file === 'merge';
    if (mix && !merges) {
      throw new WrongUse('--mix joins folders that differ; use it with "experiment merge".');
    }
    if (!merges && more.length > 0) {
      throw new WrongUse(`One experiment at a time; found ${[file, ...more].join(', ')}.`);
    }
    if (merges) {
      takesNone('merge', ['shard', 'jobs', 'arm', 'config', 'model', 'backend', 'threads']);
    }
    const done = merges
      ? await mergeExperiments(more, options.out, mix)
      : await runExperiment(file, options);
    await printJson(done);
    if (done.errors > 0) process.exitCode = 1;
  });

const bundle = program.command('bundle').description('run bundles (.attt.zip) and JSONL runs');

bundle
  .command('validate')
  .description('check every file against the manifest and the events')
  .argument('<file>')
  .action(async (file: string) => {
    const checked = await validate(file);
    await printJson(checked);
    if (!checked.valid) process.exitCode = 1;
  });

bundle
  .command('export')
  .description('take one part out of a run')
  .argument('<file>')
  .addOption(
    new Option('--to <kind>', 'what to take out').choices(exportKinds).makeOptionMandatory(),
  )
  .requiredOption('--out <path>', 'a file, or a folder for peft, peft-start and files')
  .action(async (file: string, options) => printJson(await exportBundle({ file, ...options })));

bundle
  .command('compare')
  .description('how two runs differ: settings, facts, first differing event, adapters')
  .argument('<a>')
  .argument('<b>')
  .action(async (a: string, b: string) => printJson(await compare(a, b)));

program
  .command('report')
  .description("a page, a text and figures from an experiment's rows, which are packed beside them")
  .argument('<folder>', 'where the rows are')
  .requiredOption('--out <folder>', 'where the report goes')
  .requiredOption('--date <date>', 'when the rows were made, such as 2026-11-29', day)
  .option('--note <text>', 'a paragraph to begin with; may be given more than once', collect, [])
  .action(async (folder, options) => printJson(await writeReport(folder, options)));

try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = exitCodeOf(thrown);
}
// A GPU device or a browser that is still closing would keep the process alive; stdout has drained.
process.exit();

/** For an option that may be given more than once. */
function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/** Commander has printed its own words already; asking for help is no fault. */
function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  return report(thrown);
}
