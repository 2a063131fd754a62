import { describe, expect, test } from 'vitest';
import type { TaskRef } from '../records.ts';
import { readExperiment } from './experiment.ts';
import { planExperiment, shardOf } from './plan.ts';

const FILE = `
name = "ranks"
env = "household"
split = "valid_seen"
tasks = "0-1,4"
seeds = [7, 8]
methods = ["frozen", "attt"]
[settings]
step_limit = 20
[[sweep]]
method = "attt"
lora_rank = [4, 8]
`;
const tasks: readonly TaskRef[] = Array.from({ length: 5 }, (_, index) => ({
  env: 'household/ALFWorld-v0.4',
  split: 'valid_seen',
  index,
}));
const tiny = { contextLength: 4096, parameters: 2.4e6, trains: true, summaries: false };
const plan = (text = FILE) => planExperiment(readExperiment(text), tasks, tiny);

describe('a plan', () => {
  test('takes an adapter as what all arms start from, or as one more thing that a sweep varies', () => {
    const text = FILE.replace('step_limit = 20', 'adapter = "a"').replace(
      'lora_rank = [4, 8]',
      'lora_rank = [4]\nadapter = ["a", "b.gguf"]',
    );
    const { arms, episodes } = plan(text);
    expect(arms.map(({ name, adapter }) => [name, adapter])).toEqual([
      ['frozen', 'a'],
      ['attt', 'a'],
      ['attt lora_rank=4 adapter=a', 'a'],
      ['attt lora_rank=4 adapter=b.gguf', 'b.gguf'],
    ]);
    expect(episodes.slice(2, 4).map(({ adapter }) => adapter)).toEqual(['a', 'b.gguf']);
    expect(() => plan(FILE.replace('step_limit = 20', 'adapter = 3'))).toThrow(
      'settings.adapter is 3; expected a text',
    );
    expect(plan().arms.some((arm) => 'adapter' in arm)).toBe(false);
  });

  test('has every arm on every task and seed, pair by pair', () => {
    const { arms, episodes } = plan();
    // rank 8 is the default, so it is the arm "attt" and not run twice
    expect(arms.map(({ name }) => name)).toEqual(['frozen', 'attt', 'attt lora_rank=4']);
    expect(episodes).toHaveLength(3 * 3 * 2);
    expect(episodes.slice(0, 4).map(({ key }) => key)).toEqual([
      'frozen/valid_seen/0/7',
      'attt/valid_seen/0/7',
      'attt lora_rank=4/valid_seen/0/7',
      'frozen/valid_seen/1/7',
    ]);
    expect(new Set(episodes.map(({ key }) => key)).size).toBe(episodes.length);
  });

  test('gives each episode whole settings: defaults of the world, the file, the arm, the seed', () => {
    const last = plan().episodes.at(-1);
    expect(last?.settings).toMatchObject({
      max_tokens: 64,
      step_limit: 20,
      lora_rank: 4,
      method: 'attt',
      seed: 8,
    });
    expect(last?.task.index).toBe(4);
  });

  test('crosses the values of one sweep, and says what is not applicable', () => {
    const grid = FILE.replace(
      'lora_rank = [4, 8]',
      'lora_rank = [4, 16]\nw_min = [0.05, 0.5]',
    ).replace('["frozen", "attt"]', '["reflexion", "long_context"]');
    const { arms, episodes } = plan(grid);
    expect(arms.map(({ name }) => name)).toEqual([
      'reflexion',
      'long_context',
      'attt lora_rank=4 w_min=0.05',
      'attt lora_rank=4 w_min=0.5',
      'attt lora_rank=16 w_min=0.05',
      'attt lora_rank=16 w_min=0.5',
    ]);
    expect(arms[0]?.notApplicable).toContain('2.4 M parameters');
    expect(arms[1]?.notApplicable).toContain('4096');
    expect(new Set(episodes.map(({ arm }) => arm)).size).toBe(4);
  });

  test('runs once what its method makes the same, and keeps apart what it does not', () => {
    const names = (sweep: string) =>
      plan(FILE.replace('method = "attt"\nlora_rank = [4, 8]', sweep)).arms.map(({ name }) => name);
    // K does nothing without its trigger, so the grid has three arms that differ, one of them the plain one.
    expect(
      names('method = "attt"\ntriggers = [["periodic"], ["error"]]\nupdate_interval_k = [5, 1]'),
    ).toEqual([
      ...['frozen', 'attt', 'attt triggers=periodic update_interval_k=1'],
      'attt triggers=error update_interval_k=5',
    ]);
    expect(names('method = "temperature"\nbaseline_temperature = [1, 1.3]')).toEqual([
      ...['frozen', 'attt', 'temperature baseline_temperature=1'],
      'temperature baseline_temperature=1.3',
    ]);
    expect(names('method = "frozen"\ntemperature = [0.7, 0.9]')).toEqual([
      ...['frozen', 'attt', 'frozen temperature=0.9'],
    ]);
    expect(names('method = "static"\nlearning_rate = [0.1, 0.2]')).toHaveLength(4);
    expect(names('method = "attt"\nobserve_only = [true]\nw_min = [0.05, 0.5]')).toHaveLength(4);
    // The gate by KL is blind where it is not measured, and on in the plain arm.
    expect(names('method = "attt"\nlog_kl_every_n_updates = [0, 1]')).toEqual([
      ...['frozen', 'attt', 'attt log_kl_every_n_updates=0'],
    ]);
  });

  test.each([
    ['repetition_penalty', 'repetition_penalty = [1.05, 1.2]', '; vary baseline_penalty instead.'],
    ['temperature', 'temperature = [0.9, 1.3]', '; vary baseline_temperature instead.'],
    ['short_history', 'history_turns = [3]', '; vary baseline_history_turns instead.'],
    ['long_context', 'context_length = [512, 1024]', '; vary baseline_context instead.'],
    ['naive', 'w_min = [0.05, 0.5]', 'naive sets it itself.'],
    ['naive', 'learning_rate = [0.1]\nrollback_enable = [true]', 'naive sets it itself.'],
    ['naive', 'kl_divergence_limit = [1, 2]', 'rollbacks are off.'],
    ['sequence_filter', 'ngram_n = [2, 3]', 'every weight is 1.'],
    ['static_q', 'target_modules = [["k_proj"]]', 'static_q sets it itself.'],
    ['static', 'update_interval_k = [1, 5]', 'static trains once, before the first step.'],
    ['frozen', 'learning_rate = [0.1, 0.2]', 'frozen never trains.'],
    ['attt', 'trigger_entropy = [0.1, 0.2]', '"high_entropy" is not among the triggers.'],
    ['attt', 'triggers = [["error"]]\nupdate_interval_k = [1, 5]', '"periodic" is not among'],
    ['attt', 'summary_temperature = [0.1, 0.2]', 'no summary is asked for.'],
    ['attt', 'baseline_temperature = [1, 2]', 'it is for temperature alone.'],
    ['attt', 'enabled = [false]\nlora_rank = [4, 8]', 'updates are off.'],
    ['attt', 'log_alternatives = [0, 5]', 'it changes only what is recorded.'],
    ['frozen', 'log_token_weights = [true, false]', 'it changes only what is recorded.'],
    ['attt', 'log_repetition_ratio = [true, false]', 'it changes only what is recorded.'],
    ['attt', 'enabled = [false]\nobserve_only = [true, false]', 'updates are off.'],
    ['attt', 'observe_only = [true]\nlearning_rate = [0.1, 0.2]', 'updates are only observed.'],
    ['attt', 'log_kl_every_n_updates = [0]\nkl_divergence_limit = [1, 2]', 'never measured.'],
    ['naive', 'loss_normalisation = ["weights", "tokens"]', 'every weight is 1.'],
    ['static', 'ewc_strength = [0, 10]', 'static trains once, before the first step.'],
    ['static_q', 'loss_normalisation = ["weights", "tokens"]', 'static_q trains once'],
    ['static_in_place', 'novelty_threshold = [0.2, 0.5]', 'static_in_place trains once'],
    ['static', 'grad_steps = [1]\nkl_penalty = [0, 1]', 'no update has one before it.'],
    ['static', 'log_kl_every_n_updates = [2]\nkl_divergence_limit = [1, 2]', 'never measured.'],
    ['attt', 'max_updates_per_episode = [0]\nlora_rank = [4, 8]', 'no update is allowed.'],
    ['attt', 'max_updates_per_episode = [0]\nobserve_only = [true, false]', 'is allowed.'],
    ['attt', 'max_updates_per_episode = [1]\nreplay_texts = [0, 2]', 'has one before it.'],
    ['naive', 'max_updates_per_episode = [1]\newc_strength = [0, 2]', 'has one before it.'],
    ['frozen', 'temperature = [0]\ntop_k = [0, 5]', 'the likeliest token is always taken.'],
    ['frozen', 'temperature = [0]\ntop_p = [0.9, 1]', 'the likeliest token is always taken.'],
    ['attt', 'top_k = [1]\ntemperature = [0.5, 1]', 'the likeliest token is always taken.'],
  ])('refuses a sweep of %s over %s, which does nothing: %s', (method, vary, words) => {
    const file = FILE.replace('"attt"\nlora_rank = [4, 8]', `"${method}"\n${vary}`);
    const field = vary.split('\n').at(-1)?.split(' ')[0];
    expect(() => plan(file)).toThrow(
      `A [[sweep]] of ${method} varies ${field}, which does nothing`,
    );
    expect(() => plan(file)).toThrow(words);
  });

  test.each([
    ['static', 'grad_steps = [1, 2]\nkl_penalty = [0, 1]'],
    ['static', 'max_updates_per_episode = [0, 1]'],
    ['static', 'kl_divergence_limit = [0.1, 1]'],
    ['attt', 'max_updates_per_episode = [1]\nrepetition_ratio_limit = [0.5, 0.8]'],
    ['attt', 'max_updates_per_episode = [1]\nhistory = ["all"]\nloss_normalisation = ["tokens"]'],
    ['attt', 'max_updates_per_episode = [2]\newc_strength = [0, 2]'],
    ['frozen', 'temperature = [0]\nrepetition_penalty = [1, 1.2]'],
    // The policy's own summaries are sampled at a temperature of their own.
    ['attt', 'text_source = ["summary"]\ntemperature = [0]\ntop_k = [0, 5]'],
  ])('takes a sweep of %s over %s, which does something', (method, vary) => {
    expect(() =>
      plan(FILE.replace('"attt"\nlora_rank = [4, 8]', `"${method}"\n${vary}`)),
    ).not.toThrow();
  });

  test('takes triggers in any order as the same arm', () => {
    const vary = 'triggers = [["error", "periodic"], ["periodic", "error"], ["error"]]';
    expect(plan(FILE.replace('lora_rank = [4, 8]', vary)).arms.map(({ name }) => name)).toEqual([
      ...['frozen', 'attt', 'attt triggers=error,periodic', 'attt triggers=error'],
    ]);
    // Each target's first weights are drawn after those of the one before it.
    const targets = 'target_modules = [["k_proj", "o_proj"], ["o_proj", "k_proj"]]';
    expect(plan(FILE.replace('lora_rank = [4, 8]', targets)).arms).toHaveLength(4);
  });

  test('names no two arms alike, however their texts read, and none on two lines', () => {
    const long = 'You are in a house. '.repeat(20);
    const { arms, episodes } =
      plan(`${FILE.replace('lora_rank = [4, 8]', 'system_prompt = ["a"]\nlora_rank = [4]')}
[[sweep]]
method = "attt"
system_prompt = ["a lora_rank=4", "b\\nc", "${long}", "${long}!"]
`);
    const cut = `"${long.slice(0, 40)}"…`;
    expect(arms.slice(2).map(({ name }) => name)).toEqual([
      'attt system_prompt=a lora_rank=4',
      'attt system_prompt=a lora_rank=4 (2)',
      'attt system_prompt="b\\nc"',
      `attt system_prompt=${cut}`,
      `attt system_prompt=${cut} (2)`,
    ]);
    expect(new Set(episodes.map(({ key }) => key)).size).toBe(7 * 3 * 2);
  });

  test('refuses at once what no memory holds', () => {
    const numbers = (n: number) => JSON.stringify(Array.from({ length: n }, (_, i) => i + 1));
    const began = performance.now();
    // 100 · 16 · 100 · 100 combinations.
    const vary = `lora_rank = ${numbers(100)}\nngram_n = ${numbers(16)}\nupdate_interval_k = ${numbers(100)}\ngrad_steps = ${numbers(100)}`;
    expect(() => plan(FILE.replace('lora_rank = [4, 8]', vary))).toThrow(
      'A [[sweep]] of attt has 16,000,000 combinations; expected at most 1,000.',
    );
    // 3 tasks × 150,000 seeds × 3 arms.
    expect(() => plan(FILE.replace('[7, 8]', '"0-99999,100000-149999"'))).toThrow(
      'The experiment has 3 tasks × 150,000 seeds × 3 arms; expected at most 1,000 arms and 250,000 episodes.',
    );
    expect(performance.now() - began).toBeLessThan(2000);
  });

  test('tries no control that the settings of every arm leave nothing to', () => {
    const methods = '"frozen", "temperature", "repetition_penalty", "short_history"';
    const reasons = (settings: string) =>
      planExperiment(
        readExperiment(
          FILE.replace('"frozen", "attt"', methods).replace('step_limit = 20', settings),
        ),
        tasks,
        null,
      ).arms.flatMap(({ notApplicable: why }) => why ?? []);
    expect(reasons('step_limit = 20')).toEqual([]);
    expect(reasons('temperature = 1.2\nrepetition_penalty = 1.2\nhistory_turns = 4')).toEqual([
      'It asks for temperature 1.2 already, and baseline_temperature = 1 is no higher.',
      'It asks for repetition penalty 1.2 already, and baseline_penalty = 1.2 is no stronger.',
      'It keeps 4 turns already, and baseline_history_turns = 5 are no fewer.',
    ]);
    expect(reasons('history_turns = 6')).toEqual([]);
  });

  test('tries no method that can do nothing: one token to draw from, or one try', () => {
    const methods = '"frozen", "temperature", "loop_breaker", "reflexion"';
    const reasons = (settings: string) =>
      planExperiment(
        readExperiment(
          FILE.replace('"frozen", "attt"', methods).replace('step_limit = 20', settings),
        ),
        tasks,
        null,
      ).arms.flatMap(({ name, notApplicable: why }) => (why === null ? [] : [`${name}: ${why}`]));
    const same = 'A turn sampled again is the same one';
    expect(reasons('top_k = 2\ntop_p = 0.1')).toEqual([]);
    expect(reasons('temperature = 0')).toEqual([
      `loop_breaker: ${same}: temperature 0 always takes the likeliest token.`,
    ]);
    expect(reasons('top_k = 1')).toEqual([
      'temperature: At any temperature top_k = 1 keeps one token alone.',
      `loop_breaker: ${same}: top_k = 1 always takes the likeliest token.`,
    ]);
    expect(reasons('top_p = 0')).toEqual([
      'temperature: At any temperature top_p = 0 keeps one token alone.',
      `loop_breaker: ${same}: top_p = 0 always takes the likeliest token.`,
    ]);
    expect(reasons('reflexion_tries = 1')).toEqual([
      'reflexion: It has one try alone (reflexion_tries = 1), and reflects for the next one.',
    ]);
  });

  test('leaves out for want of summaries only what would ask for one', () => {
    const text = FILE.slice(0, FILE.indexOf('[[sweep]]'))
      .replace('"frozen", "attt"', '"frozen", "static", "naive", "attt"')
      .replace('step_limit = 20', 'text_source = "summary"');
    const applicable = (more: string) =>
      plan(text.replace('[settings]', `[settings]\n${more}`))
        .arms.filter((arm) => arm.notApplicable === null)
        .map(({ name }) => name);
    expect(applicable('')).toEqual(['frozen', 'static']);
    expect(applicable('summary_model = "teller"')).toEqual(['frozen', 'static']);
    expect(applicable('enabled = false')).toHaveLength(4);
  });

  test('takes from a model on a server what needs its weights, and nothing for a size that no server tells', () => {
    const served = { contextLength: null, parameters: null, trains: false, summaries: false };
    const reasons = (file: string) =>
      planExperiment(readExperiment(file), tasks, served).arms.flatMap(
        ({ name, notApplicable: why }) => (why === null ? [] : [`${name}: ${why}`]),
      );
    const text = FILE.slice(0, FILE.indexOf('[[sweep]]')).replace(
      '"frozen", "attt"',
      '"frozen", "attt", "static", "reflexion", "long_context", "loop_breaker"',
    );
    const why = 'It trains, and the weights of a model on a server cannot be changed from here.';
    expect(reasons(text)).toEqual([`attt: ${why}`, `static: ${why}`]);
    expect(reasons(text.replace('step_limit = 20', 'observe_only = true'))).toEqual([]);
    expect(reasons(text.replace('step_limit = 20', 'context_length = 16384'))).toEqual([
      ...[`attt: ${why}`, `static: ${why}`],
      'long_context: Of the context 16384 tokens are in use already.',
    ]);
  });

  test('is parted into shards that hold each episode once and never part a pair', () => {
    const { episodes } = plan();
    const shards = [0, 1, 2, 3].map((i) => shardOf(episodes, i, 4));
    expect(
      shards
        .flat()
        .map(({ key }) => key)
        .sort(),
    ).toEqual(episodes.map(({ key }) => key).sort());
    for (const { pair } of episodes) {
      expect(shards.filter((shard) => shard.some((one) => one.pair === pair))).toHaveLength(1);
    }
  });
});

describe('an experiment file', () => {
  test('with CR LF line ends, raw or escaped, is the same experiment', () => {
    const lines = (prompt: string) =>
      FILE.replace('name = "ranks"', 'name = "ranks"\nquestion = """Which\nrank?"""')
        .replace('step_limit = 20', `system_prompt = ${prompt}`)
        .replace('lora_rank = [4, 8]', `system_prompt = [${prompt}]`);
    const plain = readExperiment(lines('"""Go north.\nTake lamp."""'));
    expect(plain.settings.system_prompt).toBe('Go north.\nTake lamp.');
    const text = lines('"""Go north.\nTake lamp."""').replaceAll('\n', '\r\n');
    expect(readExperiment(`\uFEFF${text}`)).toEqual(plain);
    expect(readExperiment(lines('"Go north.\\r\\nTake lamp."'))).toEqual(plain);
  });

  test('of sweeps alone needs no methods; one of neither is refused', () => {
    const none = FILE.replace('methods = ["frozen", "attt"]\n', '');
    expect(plan(none).arms.map(({ name }) => name)).toEqual([
      'attt lora_rank=4',
      'attt lora_rank=8',
    ]);
    expect(() => plan(none.slice(0, none.indexOf('[[sweep]]')))).toThrow('something to run');
  });

  test.each([
    ['method = "attt"\nlora_rank', 'method = "attt"\nlora_rnk', 'the nearest setting is lora_rank'],
    ['lora_rank = [4, 8]', 'lora_rank = [4, 0]', 'sweep.lora_rank = 0 wants a value from 1'],
    ['lora_rank = [4, 8]', 'lora_rank = []', 'empty list'],
    ['lora_rank = [4, 8]', 'seed = [4]', 'a key of its own'],
    ['"frozen"', '"frosen"', 'the methods are attt'],
    ['[settings]\n', '', 'step_limit is unknown; the nearest known key is settings.step_limit'],
    [
      'name = "ranks"',
      'name = "ranks"\nadapter = "a"',
      'the nearest known key is settings.adapter',
    ],
    ['step_limit = 20', 'tasks = "0"', 'settings.tasks stands at the top of the file'],
    ['step_limit = 20', 'policy_model = "x.gguf"', '--model names the model'],
    ['lora_rank = [4, 8]', 'policy_model = ["x", "y"]', '--model names the model'],
    ['lora_rank = [4, 8]', 'adapter = []', 'sweep.adapter is an empty list'],
    ['step_limit = 20', 'adapter = ""', 'settings.adapter is empty; expected a text'],
    ['name = "ranks"', 'name = " "', 'name is empty; expected a text'],
    ['[[sweep]]', '[sweep]', 'expected [[sweep]], of which there may be several'],
    ['method = "attt"\n', '', 'sweep.method is missing; the methods are attt'],
    [
      'lora_rank = [4, 8]',
      'lora_rank = [4, 8]\n[[sweep]]\nmethod = "attt"\nw_min = ["x"]',
      'sweep.w_min (of [[sweep]] 2) = "x" wants a number',
    ],
    ['lora_rank = [4, 8]', 'w_min = [nan]', 'sweep.w_min = NaN wants a number'],
    ['lora_rank = [4, 8]', 'w_min = [-inf]', 'sweep.w_min = -Infinity wants a number'],
    [
      'tasks = "0-1,4"',
      'tasks = "4-1"',
      'expected numbers such as "0-9" or "0-4,8", of a range the lower first',
    ],
    ['tasks = "0-1,4"', 'task = "0-1"', 'the nearest known key is tasks'],
    ['name = "ranks"', 'name = ranks', 'line 2, column'],
    ['tasks = "0-1,4"', 'tasks = [5]', 'has tasks 0 to 4'],
  ])('with %j changed to %j is refused: %s', (from, to, words) => {
    expect(() => plan(FILE.replace(from, to))).toThrow(words);
  });
});
