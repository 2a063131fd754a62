/** A thread that helps the kernels of the WASM backend; its one message says where its work lies. */

import { type HelperStart, helpKernels } from '../model/simd/helper.ts';

self.onmessage = ({ data }: MessageEvent<HelperStart>) =>
  helpKernels(data, () => self.postMessage('ready'));
