/** Saves an SVG as it is, or as PNG drawn at twice its size. */

import { LabError } from '../errors.ts';
import { saveBytes } from './actions.ts';
import { savePicture as say } from './strings.ts';

const scale = 2;

export function saveSvg(name: string, svg: string): void {
  saveBytes(`${name}.svg`, new TextEncoder().encode(svg), 'image/svg+xml');
}

/** Rejects with `internal` where the browser cannot draw it. */
export async function savePng(name: string, svg: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth * scale;
    canvas.height = image.naturalHeight * scale;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    if (!blob) {
      throw new LabError('internal', say.tooLarge(canvas.width, canvas.height));
    }
    saveBytes(`${name}.png`, new Uint8Array(await blob.arrayBuffer()), 'image/png');
  } finally {
    URL.revokeObjectURL(url);
  }
}
