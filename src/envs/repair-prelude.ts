/** Code that runs inside the sandbox before a program's own: what tests import, and meters on built-in functions. */

/** The module that test files import. */
export const CHECK_MODULE = 'export const { equal, test, throws } = globalThis.check;';

/**
 * A function of `charge`, called once before anything else; its result has what tests import, and what
 * runs them from outside. Built-in functions are loops that the engine does not count: here each call
 * pays for the elements that it may touch, so that work is bounded by a count and never by a clock.
 * What a program could tell the time or chance by is taken away, and the parser, which nothing bounds.
 */
export const PRELUDE = `(charge) => {
  const { apply } = Reflect;
  const toNumber = Number;
  const sizeOf = (value) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'string')) return 1;
    const size = toNumber(value.length ?? value.size ?? 1);
    return size > 1 ? size : 1;
  };
  const meter = (holder, names, price) => {
    for (const name of names) {
      const native = Object.getOwnPropertyDescriptor(holder, name)?.value;
      if (typeof native !== 'function' || name === 'constructor' || name === 'prototype') continue;
      const metered = {
        [name](...args) {
          charge(price(this, args));
          return apply(native, this, args);
        },
      }[name];
      Object.defineProperty(holder, name, { value: metered, writable: true, configurable: true });
    }
  };
  const ownAndArguments = (self, args) => {
    let size = sizeOf(self);
    for (let i = 0; i < args.length; i++) size += sizeOf(args[i]);
    return size;
  };
  const constant = ['at', 'charAt', 'charCodeAt', 'codePointAt', 'push', 'pop', 'get', 'has', 'set', 'add', 'delete', 'is', 'isArray', 'hasOwn'];
  const linear = (holder) => Object.getOwnPropertyNames(holder).filter((name) => !constant.includes(name));
  const holders = [Array.prototype, String.prototype, Map.prototype, Set.prototype, Object, Array, JSON];
  for (const holder of holders) meter(holder, linear(holder), ownAndArguments);
  meter(String.prototype, [Symbol.iterator], sizeOf);
  const repeated = (self, [count]) => sizeOf(self) * (Number(count) || 1);
  meter(String.prototype, ['repeat', 'padStart', 'padEnd'], repeated);
  meter(String, ['raw'], (self, [parts]) => sizeOf(parts?.raw));
  Array.prototype[Symbol.iterator] = Array.prototype.values;
  Set.prototype[Symbol.iterator] = Set.prototype.values;
  Map.prototype[Symbol.iterator] = Map.prototype.entries;
  Object.defineProperty(Array.prototype, 'toJSON', {
    value() {
      charge(this.length);
      return this;
    },
  });
  delete Math.random;
  delete Function.prototype.constructor;
  for (const name of ['eval', 'BigInt', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer']) {
    delete globalThis[name];
  }

  // What a program changes of the built-in objects must not change what its tests compare.
  const { is, keys, hasOwn } = Object;
  const { isArray } = Array;
  const tests = Object.create(null);

  function test(name, body) {
    tests[name] = body;
  }

  function equal(actual, expected) {
    if (!same(actual, expected)) {
      throw new Error('expected ' + show(expected) + ', got ' + show(actual));
    }
  }

  function throws(body) {
    let result;
    try {
      result = body();
    } catch {
      return;
    }
    throw new Error('expected an error, got ' + show(result));
  }

  function runTest(name) {
    const body = tests[name];
    if (body === undefined) throw new Error('there is no such test');
    body();
  }

  function errorText(thrown) {
    if (!(thrown instanceof Error)) return 'threw ' + show(thrown);
    return thrown.name === 'Error' ? thrown.message : thrown.name + ': ' + thrown.message;
  }

  function same(a, b) {
    if (is(a, b) || (a === 0 && b === 0)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (isArray(a) !== isArray(b)) return false;
    const names = keys(a);
    if (names.length !== keys(b).length) return false;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (!hasOwn(b, name) || !same(a[name], b[name])) return false;
    }
    return true;
  }

  function show(value) {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value !== 'object' || value === null) {
      return Object.is(value, -0) ? '0' : String(value);
    }
    if (Array.isArray(value)) return '[' + value.map(show).join(', ') + ']';
    const parts = Object.keys(value).map((key) => key + ': ' + show(value[key]));
    return '{' + parts.join(', ') + '}';
  }

  const check = Object.freeze({ equal, test, throws });
  Object.defineProperty(globalThis, 'check', { value: check });
  return { runTest, errorText };
}`;
