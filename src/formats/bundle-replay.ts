/** The files that every run bundle carries for readers without this program: a README and scripts. */

import logTensorboard from './replay/log_tensorboard.py?raw';
import logTrackio from './replay/log_trackio.py?raw';
import logWandb from './replay/log_wandb.py?raw';
import losses from './replay/losses.py?raw';
import readme from './replay/README.md?raw';
import ratios from './replay/ratios.py?raw';
import run from './replay/run.py?raw';
import serveLlamaCpp from './replay/serve_llama_cpp.py?raw';
import serveVllm from './replay/serve_vllm.py?raw';
import texts from './replay/texts.py?raw';
import train from './replay/train.py?raw';
import updates from './replay/updates.py?raw';
import weights from './replay/weights.py?raw';
import words from './replay/words.py?raw';

export const replayFiles: readonly (readonly [path: string, text: string])[] = [
  ['README.md', readme],
  ['replay/run.py', run],
  ['replay/words.py', words],
  ['replay/ratios.py', ratios],
  ['replay/weights.py', weights],
  ['replay/texts.py', texts],
  ['replay/updates.py', updates],
  ['replay/losses.py', losses],
  ['replay/train.py', train],
  ['replay/log_wandb.py', logWandb],
  ['replay/log_tensorboard.py', logTensorboard],
  ['replay/log_trackio.py', logTrackio],
  ['replay/serve_vllm.py', serveVllm],
  ['replay/serve_llama_cpp.py', serveLlamaCpp],
];
