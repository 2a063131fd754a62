// What the vector kernels' sources say of their arguments, as the two files that would repeat it.

const note = 'Made by scripts/build-simd.mjs from *.as.ts; do not edit.';

/** The functions that `index`, the text of index.as.ts, exports: name, file, arguments with their types. */
export function signaturesOf(index, read) {
  return [...index.matchAll(/^export \{([^}]*)\} from '\.\/(.*)';$/gm)].flatMap(
    ([, names, file]) => {
      if (file === 'team.as') return []; // what is made of the others
      const text = read(`${file}.ts`);
      return names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => ({ name, file, args: argumentsOf(name, text) }));
    },
  );
}

function argumentsOf(name, text) {
  const found = new RegExp(`^export function ${name}\\(([^)]*)\\): void`, 'm').exec(text);
  if (found === null) throw new Error(`There is no exported function ${name} without a result.`);
  return found[1]
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, arg, type] = /^(\w+): (usize|i32|bool|f32|f64)$/.exec(part) ?? [];
      if (type === undefined)
        throw new Error(`${name} has an argument "${part}" that no caller can give.`);
      return { arg, type };
    });
}

/** Threads can share a kernel whose last two arguments are a range. */
function isShared({ args }) {
  const range = args.slice(-2).map(({ arg }) => arg);
  return ['from to', 'begin end'].includes(range.join(' '));
}

/** The text of exports.ts, as Biome formats it. */
export function exportsText(signatures) {
  const members = signatures.map(({ name, args }) => {
    const list = args.map(({ arg }) => `${arg}: number`);
    const line = `  ${name}(${list.join(', ')}): void;`;
    return line.length <= 100 ? line : `  ${name}(\n    ${list.join(',\n    ')},\n  ): void;`;
  });
  const shared = signatures.filter(isShared).map(({ name }) => `  '${name}',`);
  return `/** ${note} What the module exports. */

/** Pointers are byte addresses in tfjs's memory; a flag is 0 or 1. The .as.ts files say what each does. */
export interface SimdKernels {
${members.join('\n')}
}

/** Kernels whose last two arguments are a range that can be cut, in the order of team.as.ts's numbers. */
export const sharedKernels = [
${shared.join('\n')}
] as const satisfies readonly (keyof SimdKernels)[];
`;
}

const given = {
  usize: (n) => `u(p, ${n})`,
  i32: (n) => `u(p, ${n})`,
  bool: (n) => `u(p, ${n}) != 0`,
  f32: (n) => `<f32>f(p, ${n})`,
  f64: (n) => `f(p, ${n})`,
};

/** The text of team.as.ts. */
export function teamText(signatures) {
  const shared = signatures.filter(isShared);
  const files = [...new Set(shared.map(({ file }) => file))];
  const imports = files.map((file) => {
    const names = shared.filter((one) => one.file === file).map(({ name }) => name);
    return `import { ${names.join(', ')} } from './${file}';`;
  });
  const cases = shared.map(({ name, args }, number) => {
    const list = args.map(({ type }, i) => given[type](i + 1)).join(', ');
    return `    case ${number}:\n      return ${name}(${list});`;
  });
  return `/**
 * ${note}
 * What a thread that helps does with a part of a call: it reads which kernel and its arguments from
 * memory. How threads meet is in team.ts and helper.ts.
 */

${imports.join('\n')}

/** Argument n of a part, as an address or a whole number. */
// @ts-ignore: decorator
@inline
function u(part: usize, n: usize): u32 {
  return <u32>load<f64>(part + (n << 3));
}

// @ts-ignore: decorator
@inline
function f(part: usize, n: usize): f64 {
  return load<f64>(part + (n << 3));
}

/** Runs the part at \`p\`: a kernel's number, its place in exports.ts's list, and its arguments, all float64. */
export function perform(p: usize): void {
  switch (u(p, 0)) {
${cases.join('\n')}
  }
}
`;
}
