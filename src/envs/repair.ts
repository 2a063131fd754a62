/** Repairing small JavaScript programs as an environment: from a task to its files, from a command to the next state. */

import { LabError } from '../errors.ts';
import type { TaskRef } from '../records.ts';
import type { Env, EnvReset, EnvStep } from './env.ts';
import { type Place, type RepairCommand, readRepairCommand } from './repair-command.ts';
import { REPAIR_COMMANDS, repairDescription } from './repair-description.ts';
import { linesOf, replaceLines, unifiedDiff } from './repair-edit.ts';
import { type Program, programs } from './repair-program.ts';
import { openSandbox, type Sandbox } from './repair-sandbox.ts';
import { sketchRepair } from './repair-sketch.ts';
import { type RepairState, repairHash, UNDO_LIMIT } from './repair-state.ts';
import { goalOf, repairTask, repairTasks } from './repair-tasks.ts';
import { runTests, testReport } from './repair-tests.ts';

const NO_COMMAND = 'This is no command, or it lacks a part. Say help for the list of commands.';
const NOTHING_ASKED = 'No command came. Give one, such as run tests; help lists all.';

/** More lines than this are viewed in parts. */
const VIEW_LINES = 60;
const SEARCH_LINES = 20;

/** The environment with its interpreter loaded. */
export async function openRepair(): Promise<Env<RepairState>> {
  return makeRepair(await openSandbox());
}

function makeRepair(sandbox: Sandbox): Env<RepairState> {
  return {
    description: repairDescription,
    tasks: repairTasks,
    initial: (task) => begin(sandbox, task),
    step: (state, action) => step(sandbox, state, action),
    sketch: (state, before) => sketchRepair(sandbox, programOf(state), state, before),
    patch: ({ start, files }) => unifiedDiff(start, files),
  };
}

function begin(sandbox: Sandbox, ref: TaskRef): EnvReset<RepairState> {
  const { program, files } = repairTask(ref);
  const [open = ''] = Object.keys(files);
  const state: RepairState = {
    ...{ program: program.name, start: files, files, open, undo: [], outcome: null },
  };
  const observation = [
    'You repair a small JavaScript program by commands, one at a time.',
    `${program.name}: ${program.about}`,
    `Files: ${fileList(program, state).join(', ')}.`,
    testReport(runTests(sandbox, program, files, 'visible')),
    `Commands:\n${helpText()}`,
    `Your task is to: ${goalOf(program.name)}`,
  ].join('\n');
  return { state, observation, info: infoOf(state) };
}

/** What a command gives; `refused` where it is none, or cannot be done, `failed` where a test it ran fails. */
interface Answer {
  readonly state?: RepairState;
  readonly text: string;
  readonly refused?: true;
  readonly failed?: true;
}

function step(sandbox: Sandbox, state: RepairState, action: string): EnvStep<RepairState> {
  const command = readRepairCommand(action);
  const answer: Answer =
    state.outcome !== null
      ? no('The work is handed in.')
      : command === null
        ? no(action.trim() === '' ? NOTHING_ASKED : NO_COMMAND)
        : obey(sandbox, state, command);
  const next = answer.state ?? state;
  return {
    state: next,
    observation: answer.text,
    reward: state.outcome === null && next.outcome === 'solved' ? 1 : 0,
    terminated: next.outcome !== null,
    truncated: false,
    info: {
      ...infoOf(next),
      ...(answer.refused && { refused: true }),
      ...(answer.failed && { failed: true }),
    },
  };
}

function obey(sandbox: Sandbox, state: RepairState, command: RepairCommand): Answer {
  const program = programOf(state);
  switch (command.verb) {
    case 'help':
      return { text: helpText() };
    case 'list':
      return { text: fileList(program, state).join('\n') };
    case 'view':
      return view(program, state, command);
    case 'search':
      return search(program, state, command.text);
    case 'replace':
      return edit(state, command.place, command.place.from, command.place.to, command.code);
    case 'insert':
      return edit(state, command.place, command.place.from + 1, command.place.from, command.code);
    case 'delete':
      return edit(state, command.place, command.place.from, command.place.to, null);
    case 'run':
      return run(sandbox, program, state, command.name);
    case 'undo':
      return undo(state);
    case 'submit':
      return submit(sandbox, program, state);
    default:
      return command satisfies never;
  }
}

function view(
  program: Program,
  state: RepairState,
  { file, from, to }: Extract<RepairCommand, { readonly verb: 'view' }>,
): Answer {
  const text = file === program.visible.name ? program.visible.text : state.files[file];
  if (text === undefined) return noSuchFile(program, state, file);
  const lines = linesOf(text);
  if (from < 1 || from > lines.length || from > to) {
    return no(`${file} has lines 1 to ${lines.length}.`);
  }
  const end = Math.min(to, lines.length, from + VIEW_LINES - 1);
  const shown = lines.slice(from - 1, end).map((line, i) => numbered(from + i, line));
  const more = end < Math.min(to, lines.length) ? [`(it goes on to line ${lines.length})`] : [];
  const isOpened = file in state.files && file !== state.open;
  return {
    text: [`${file}, lines ${from} to ${end} of ${lines.length}:`, ...shown, ...more].join('\n'),
    ...(isOpened && { state: { ...state, open: file } }),
  };
}

function search(program: Program, state: RepairState, text: string): Answer {
  const wanted = text.toLowerCase();
  const found = Object.entries({ ...state.files, [program.visible.name]: program.visible.text })
    .flatMap(([file, content]) =>
      linesOf(content).map((line, i) => ({ line, shown: `${file}:${numbered(i + 1, line)}` })),
    )
    .filter(({ line }) => line.toLowerCase().includes(wanted))
    .map(({ shown }) => shown);
  if (found.length === 0) return { text: `Nothing contains ${text}.` };
  const more = found.length > SEARCH_LINES ? [`(and ${found.length - SEARCH_LINES} more)`] : [];
  return { text: [...found.slice(0, SEARCH_LINES), ...more].join('\n') };
}

/** Replaces the lines first..last; with last = first - 1 the code goes between two lines. */
function edit(
  state: RepairState,
  place: Place,
  first: number,
  last: number,
  code: string | null,
): Answer {
  const file = place.file ?? state.open;
  const before = state.files[file];
  if (before === undefined) {
    const names = Object.keys(state.files).join(', ');
    return no(`${file} cannot be edited. ${names} can be.`);
  }
  const result = replaceLines(before, first, last, code);
  if ('refused' in result) return no(`${file}: ${result.refused}`);
  const files = { ...state.files, [file]: result.text };
  const diff = unifiedDiff(state.files, files, 2);
  if (diff === '') return { text: 'The file is as it was: the line reads so already.' };
  const earlier = [...state.undo, { file, text: before }].slice(-UNDO_LIMIT);
  return { text: diff.trimEnd(), state: { ...state, files, open: file, undo: earlier } };
}

function run(sandbox: Sandbox, program: Program, state: RepairState, name: string | null): Answer {
  const { tests } = program.visible;
  const only =
    name === null ? null : (tests.find((test) => test === name) ?? tests[Number(name) - 1]);
  if (only === undefined) {
    return no(`There is no test "${name}". There are:\n${tests.join('\n')}`);
  }
  const results = runTests(sandbox, program, state.files, 'visible', only);
  const failed = results.some(({ passed }) => !passed);
  return { text: testReport(results), ...(failed && { failed: true }) };
}

function undo(state: RepairState): Answer {
  const last = state.undo.at(-1);
  if (last === undefined) return no('There is no edit to undo.');
  const files = { ...state.files, [last.file]: last.text };
  return {
    text: unifiedDiff(state.files, files, 2).trimEnd(),
    state: { ...state, files, open: last.file, undo: state.undo.slice(0, -1) },
  };
}

function submit(sandbox: Sandbox, program: Program, state: RepairState): Answer {
  const failed = (which: 'visible' | 'hidden') =>
    runTests(sandbox, program, state.files, which).filter(({ passed }) => !passed).length;
  const visible = failed('visible');
  const hidden = failed('hidden');
  const outcome = visible + hidden === 0 ? 'solved' : 'failed';
  const text =
    outcome === 'solved'
      ? 'Handed in. All tests pass, hidden ones too.'
      : `Handed in. ${visible} of ${program.visible.tests.length} tests and ${hidden} of ${program.hidden.tests.length} hidden tests fail.`;
  return { text, state: { ...state, outcome } };
}

function no(text: string): Answer {
  return { text, refused: true };
}

function noSuchFile(program: Program, state: RepairState, file: string): Answer {
  return no(`There is no file ${file}. There are:\n${fileList(program, state).join('\n')}`);
}

function fileList(program: Program, { files }: RepairState): readonly string[] {
  const counted = (name: string, text: string) => `${name} (${linesOf(text).length} lines)`;
  const sources = Object.entries(files).map(([name, text]) => counted(name, text));
  return [
    ...sources,
    counted(program.visible.name, program.visible.text).replace(')', ', read only)'),
  ];
}

function helpText(): string {
  return [
    ...REPAIR_COMMANDS.map((line) => `- ${line}`),
    'Line numbers are of the file viewed or edited last; "replace list.js:12 with CODE" names another. Code of several lines stands between ``` lines under the command.',
  ].join('\n');
}

function numbered(n: number, line: string): string {
  return `${String(n).padStart(3)}: ${line}`;
}

function programOf({ program }: RepairState): Program {
  const found = programs.get(program);
  if (found) return found;
  throw new LabError(
    'environment',
    `This build has no program "${program}". Start the task again.`,
    {
      program,
    },
  );
}

function infoOf(state: RepairState): EnvReset<RepairState>['info'] {
  const { outcome } = state;
  const score = outcome === 'solved' ? 1 : 0;
  return {
    ...{ won: outcome === 'solved', lost: outcome === 'failed', score, maxScore: 1 },
    stateHash: repairHash(state),
  };
}
