/**
 * Runs the tests of a small JavaScript program inside QuickJS, compiled to WASM: no clock, no chance,
 * no network, nothing of the host. Equal files give equal results on every machine, endless loops and
 * endless memory included, since limits are counts. Knows nothing of tasks.
 */

import type {
  Intrinsics,
  QuickJSContext,
  QuickJSHandle,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { CHECK_MODULE, PRELUDE } from './repair-prelude.ts';

/** Texts by file name; they import each other as `./name.js`. */
export type ProgramFiles = Readonly<Record<string, string>>;

export interface TestResult {
  readonly name: string;
  readonly passed: boolean;
  /** Why it failed, one line; empty where it passed. */
  readonly message: string;
}

export interface Sandbox {
  /**
   * Runs the named tests of a test file, each in a fresh interpreter, so that a result depends on the
   * files alone. A file that cannot be loaded fails every test with the same message.
   */
  run(files: ProgramFiles, testFile: string, names: readonly string[]): readonly TestResult[];
}

/** Bytes; a fresh interpreter takes about 100 kB. */
const MEMORY_LIMIT = 2 << 20;
/** Bytes; beyond it the stack of the WASM module itself would end. */
const STACK_LIMIT = 128 << 10;
/** Loop turns and calls of one test, and elements that its built-in functions touch; about 30 ms. */
const WORK_LIMIT = 500_000;
/** QuickJS asks the interrupt handler once in so many loop turns and calls. */
const TURNS_PER_INTERRUPT = 10_000;
const MESSAGE_LIMIT = 300;

const BIGINT = /\b\d[\d_]*n\b/;

/** No Date (a clock), no typed arrays (memory beyond the count). */
const INTRINSICS: Intrinsics = {
  ...{ BaseObjects: true, Eval: true, StringNormalize: true, RegExp: true, RegExpCompiler: true },
  ...{ JSON: true, Proxy: true, MapSet: true, Promise: true },
};

const TOO_MUCH_WORK = `stopped after ${WORK_LIMIT.toLocaleString('en')} operations: does a loop never end?`;

/** Loads the interpreter, about half a megabyte of WASM, once. */
export function openSandbox(): Promise<Sandbox> {
  opening ??= load();
  return opening;
}

let opening: Promise<Sandbox> | null = null;

async function load(): Promise<Sandbox> {
  const [{ newQuickJSWASMModuleFromVariant }, { default: variant }] = await Promise.all([
    import('quickjs-emscripten-core'),
    import('@jitl/quickjs-singlefile-mjs-release-sync'),
  ]);
  const engine = await newQuickJSWASMModuleFromVariant(variant);
  return {
    run(files, testFile, names) {
      const results: TestResult[] = [];
      for (const name of names) {
        const result = runOne(engine, files, testFile, name);
        if ('broken' in result) {
          return names.map((each) => ({ name: each, passed: false, message: result.broken }));
        }
        results.push(result);
      }
      return results;
    },
  };
}

/** `broken`: the files cannot be loaded, whichever test is asked for. */
function runOne(
  engine: QuickJSWASMModule,
  files: ProgramFiles,
  testFile: string,
  name: string,
): TestResult | { readonly broken: string } {
  const runtime = engine.newRuntime({
    memoryLimitBytes: MEMORY_LIMIT,
    maxStackSizeBytes: STACK_LIMIT,
    moduleLoader: (path) => source(files, path),
  });
  const context = runtime.newContext({ intrinsics: INTRINSICS });
  try {
    return runIn(context, testFile, name);
  } catch (thrown) {
    // The host's stack or the module's memory ended before the interpreter noticed.
    if (!(thrown instanceof RangeError || thrown instanceof WebAssembly.RuntimeError)) throw thrown;
    opening = null;
    return { broken: 'InternalError: stack overflow' };
  } finally {
    release(context);
    release(runtime);
  }
}

function runIn(
  context: QuickJSContext,
  testFile: string,
  name: string,
): TestResult | { readonly broken: string } {
  let work = 0;
  const spend = (amount: number): boolean => {
    work += amount;
    return work > WORK_LIMIT;
  };
  using outside = install(context, spend);
  using runTest = context.getProp(outside, 'runTest');
  using errorText = context.getProp(outside, 'errorText');
  context.runtime.setInterruptHandler(() => spend(TURNS_PER_INTERRUPT));
  const why = (result: Outcome): string | null => {
    if (work <= WORK_LIMIT) return outcomeText(context, result, errorText);
    (result.error ?? result.value).dispose();
    return TOO_MUCH_WORK;
  };
  const main = `import './${testFile}';`;
  const broken = why(context.evalCode(main, 'main.js', { type: 'module' }));
  if (broken !== null) return { broken };
  work = 0;
  using argument = context.newString(name);
  const message = why(context.callFunction(runTest, context.undefined, argument));
  return { name, passed: message === null, message: message ?? '' };
}

type Outcome = ReturnType<QuickJSContext['evalCode']>;

function source(files: ProgramFiles, path: string): string | { error: Error } {
  if (path === 'check.js') return CHECK_MODULE;
  const text = files[path];
  if (text === undefined) return { error: new Error(`there is no file ${path}`) };
  // One product of such numbers can take a second, in which nothing is counted.
  return BIGINT.test(text)
    ? { error: new SyntaxError(`${path}: there are no BigInts here`) }
    : text;
}

/** Why a call failed, in one line, or null; disposes of what it gave. */
function outcomeText(
  context: QuickJSContext,
  result: Outcome,
  errorText: QuickJSHandle,
): string | null {
  if (!result.error) {
    result.value.dispose();
    return null;
  }
  using thrown = result.error;
  // Where even the error found no memory, null is thrown in its place.
  if (context.sameValue(thrown, context.null)) return 'threw null, or ran out of memory';
  const described = context.callFunction(errorText, context.undefined, thrown);
  using text = described.error ?? described.value;
  if (described.error) return 'threw something that cannot be shown';
  const line = context.getString(text).split('\n')[0] ?? '';
  return line.length > MESSAGE_LIMIT ? `${line.slice(0, MESSAGE_LIMIT)}…` : line;
}

/** Runs the prelude, before any other code; gives what runs tests from outside. */
function install(context: QuickJSContext, spend: (amount: number) => boolean): QuickJSHandle {
  using prelude = context.unwrapResult(context.evalCode(`(${PRELUDE})`, 'prelude.js'));
  using charge = context.newFunction('charge', (amount) => {
    if (spend(context.getNumber(amount))) throw new Error(TOO_MUCH_WORK);
  });
  return context.unwrapResult(context.callFunction(prelude, context.undefined, charge));
}

/**
 * A parser that ran out of stack leaves objects behind, at which the interpreter's own check aborts.
 * The module is not to be trusted after that: the next {@link openSandbox} loads another.
 */
function release(part: { dispose(): void }): void {
  try {
    part.dispose();
  } catch {
    opening = null;
  }
}
