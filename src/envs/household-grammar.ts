/** Reads the wording out of a game file's own TextWorld grammar. It knows the rule names that ALFWorld uses. */

import { LabError, messageOf } from '../errors.ts';
import type { Verb, Wording, WordingRule } from './household-wording.ts';
import { WORDING_V04 } from './household-wording.ts';

/** TextWorld's rule: the first whose condition holds is said. */
interface GrammarRule {
  readonly condition: string;
  readonly rhs: string;
}

/** ALFWorld's names of actions. */
const ACTIONS: Readonly<Record<Verb, string>> = {
  look: 'look',
  inventory: 'inventory',
  help: 'help',
  go: 'GotoLocation',
  open: 'OpenObject',
  close: 'CloseObject',
  examineReceptacle: 'examineReceptacle',
  examineObject: 'examineObject',
  take: 'PickupObject',
  move: 'PutObject',
  heat: 'HeatObject',
  clean: 'CleanObject',
  cool: 'CoolObject',
  use: 'ToggleObject',
  slice: 'SliceObject',
};

/** The wording of a grammar, and the task sentence in it. Throws `bad_input`. */
export function readGrammar(grammar: string): { readonly wording: Wording; readonly task: string } {
  const rules = readRules(grammar);
  const templates = new Map<string, string>();
  for (const match of grammar.matchAll(/action\s+(\w+)\s*\{\s*template\s*::\s*"([^"]*)"/g)) {
    templates.set(match[1] ?? '', match[2] ?? '');
  }
  const command = (verb: Verb) => {
    const template = templates.get(ACTIONS[verb]);
    if (template === undefined) throw bad(`no template of the action ${ACTIONS[verb]}`);
    return slotted(template.replace(/\[[^\]]*\]/g, '{r}'), verb === 'slice');
  };
  const all = (symbol: string): readonly GrammarRule[] => {
    const found = rules.get(symbol.toLowerCase());
    if (found === undefined || found.length === 0) throw bad(`no rule ${symbol}`);
    return found;
  };
  const last = (symbol: string) => slotted(all(symbol).at(-1)?.rhs ?? '');
  const first = (symbol: string) => slotted(all(symbol)[0]?.rhs ?? '');
  const commands: Record<Verb, string> = { ...WORDING_V04.commands };
  for (const verb of Object.keys(ACTIONS) as Verb[]) commands[verb] = command(verb); // own keys
  const faces = first('look-variations').replace('{list}', '{places}');
  const sentence = last('task');
  const task = /^(?:Your task is to: )?(.*)$/s.exec(sentence)?.[1] ?? sentence;
  return {
    task,
    wording: {
      commands,
      intro: last('intro').replace('#look.feedback#', '{look}').replace('#task#', '{task}'),
      task: sentence.replace(task, '{task}'),
      go: last('GotoLocation.feedback'),
      open: last('OpenObject.feedback'),
      close: last('CloseObject.feedback'),
      take: last('PickupObject.feedback'),
      move: last('PutObject.feedback'),
      heat: last('heatObject.feedback'),
      clean: last('cleanObject.feedback'),
      cool: last('coolObject.feedback'),
      use: first('toggleObject.feedback'),
      slice: slotted(all('sliceObject.feedback').at(-1)?.rhs ?? '', true),
      // the engine drops line breaks in front of what it says
      help: last('help.feedback').replace(/^\n+/, ''),
      carrying: first('inventory.feedback'),
      emptyHanded: last('inventory.feedback'),
      facing: first('look.feedback')
        .replace('#look-variations#', faces)
        .replace('#list_objects_on_the_floor#', '{list}'),
      middle: last('look.feedback').replace('#list_appliances#', '{list}'),
      receptacle: all('examineReceptacle.feedback').map(toRule),
      object: all('examineObject.feedback').map(toRule),
    },
  };
}

/** Every rule of every `grammar :: """{…}"""` block, by lower-cased symbol. */
function readRules(grammar: string): ReadonlyMap<string, readonly GrammarRule[]> {
  const rules = new Map<string, readonly GrammarRule[]>();
  for (const [, block = ''] of grammar.matchAll(/grammar\s*::\s*"""([\s\S]*?)"""/g)) {
    for (const [symbol, list] of Object.entries(parseBlock(block))) {
      if (!Array.isArray(list)) throw bad(`the rule ${symbol} is no list`);
      rules.set(
        symbol.toLowerCase(),
        list.map((item: unknown): GrammarRule => {
          const rule = (item ?? {}) as Record<string, unknown>; // parse edge: fields checked below
          return {
            condition: typeof rule.condition === 'string' ? rule.condition : '',
            rhs: typeof rule.rhs === 'string' ? rule.rhs : '',
          };
        }),
      );
    }
  }
  return rules;
}

function parseBlock(block: string): object {
  try {
    const parsed: unknown = JSON.parse(block);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch (thrown) {
    throw bad(`a block that is no JSON (${messageOf(thrown)})`);
  }
  throw bad('a block that is no object');
}

/** `{o.name}` to `{o}`, a list comprehension to `{list}`, the receptacle's text to `{examine}`. */
function slotted(rhs: string, slicing = false): string {
  const plain = rhs
    .replace(/\[\{?[^[\]|]*\|[^\]]*\]/g, '{list}')
    .replaceAll('#examineReceptacle.feedback#', '{examine}')
    .replace(/\{(\w+)(?:\.\w+)?\}/g, (_, name: string) => `{${name}}`);
  const named = plain.replaceAll('{lend}', '{l}').replaceAll('{outerr}', '{o}');
  return slicing ? named.replaceAll('{ko}', '{k}').replaceAll('{co}', '{o}') : named;
}

function toRule(rule: GrammarRule): WordingRule {
  const when = rule.condition
    .split('&')
    .map((part) => part.trim().replace(/\(.*$/s, ''))
    .filter((flag) => flag !== '')
    .map((flag) => flag.replace(/^not_/, '!'));
  return { when, say: slotted(rule.rhs) };
}

function bad(found: string): LabError {
  return new LabError(
    'bad_input',
    `The game file's grammar has ${found}. Expected the grammar of an ALFWorld game (alfred.twl2).`,
  );
}
