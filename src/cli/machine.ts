/** Where a job runs: what it reads and what it gives out, this process or a headless browser. */

import type { Retention } from '../experiment/row.ts';
import { type ByteSource, bytesSource } from '../formats/source.ts';
import type { BackendEnv } from '../model/device.ts';
import type { BackendName, EpisodeEvent } from '../records.ts';

export interface Machine {
  readonly source: ByteSource;
  readonly backend: BackendName;
  readonly env: BackendEnv;
  /** Passing words about progress. */
  readonly note: (text: string) => void;
  /** Takes what episodes give one by one; the job goes on when one is taken. */
  readonly emit: (item: EpisodeItem) => Promise<void>;
  /** Asked before an episode of the job: false where another machine plays it. Absent where all are played here. */
  readonly isOurs?: (episode: number) => boolean;
  /** Takes a file that the job made. */
  readonly keep: (file: PortableFile) => Promise<void>;
}

/** What goes out: the events of every try, and after the last one that the episode is done. */
export type EpisodeItem =
  | EpisodeEvent
  | {
      readonly type: 'episode_done';
      readonly retention: Retention | null;
      /** Of all its tries, and of nothing else. */
      readonly seconds: number;
    };

/** A small file as JSON can carry it. */
export interface PortableFile {
  readonly name: string;
  readonly base64: string;
}

/** The files as a reader of adapters takes them. */
export function sourcesOf(files: readonly PortableFile[]): ByteSource[] {
  return files.map(({ name, base64 }) => bytesSource(fromBase64(base64), name));
}

/** In parts, since a call takes only so many arguments. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
