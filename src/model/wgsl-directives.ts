/**
 * Lets a kernel's text say `enable f16;` though tfjs writes declarations before it, where WGSL wants such
 * directives before all else.
 */

/** Wraps the device's createShaderModule; call once, before tfjs sees the device. */
export function directivesFirst(device: Pick<GPUDevice, 'createShaderModule'>): void {
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create({ ...descriptor, code: directivesMoved(descriptor.code) });
}

/** The text with its directives at its beginning, in their order; without any, as it is. */
function directivesMoved(code: string): string {
  const directive = /^[ \t]*enable \w+;/gm;
  const found = code.match(directive);
  return found === null ? code : `${found.join('\n')}\n${code.replace(directive, '')}`;
}
