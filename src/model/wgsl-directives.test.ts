import { expect, it } from 'vitest';
import { directivesFirst } from './wgsl-directives.ts';

/** What the driver is given for a text. */
function given(code: string): string {
  const seen: string[] = [];
  const device: Pick<GPUDevice, 'createShaderModule'> = {
    createShaderModule: (descriptor) => {
      seen.push(descriptor.code);
      return {} as GPUShaderModule; // nobody looks at it
    },
  };
  directivesFirst(device);
  device.createShaderModule({ code });
  return seen.join();
}

it('directives come before what was written before them', () => {
  expect(given('struct A { x: i32 };\nenable f16;\n  enable subgroups;\nfn main() {}')).toMatch(
    /^enable f16;\n\s*enable subgroups;\nstruct A/,
  );
});

it('a text without directives stays as it is', () => {
  const code = 'struct A { x: i32 }; // would enable f16;\nfn main() {}';
  expect(given(code)).toBe(code);
});
