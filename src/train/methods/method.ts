/** What a method is: its few differences from the loop as it stands. The spine branches on no name. */

import type { FieldName, Settings, SettingsPatch } from '../../config.ts';
import type { Rng } from '../../math/rng.ts';

export interface Method {
  readonly label: string;
  readonly help: string;
  /** Where the idea comes from; empty for our own controls. */
  readonly citation: string;
  /** When the adapter may be trained. */
  readonly trains: 'never' | 'before_acting' | 'while_acting';
  /** Settings that it changes, whatever the run asks for. Applying it twice changes nothing more. */
  readonly settings?: (asked: Settings) => SettingsPatch;
  /** Settings that do something in this method alone. */
  readonly own?: readonly FieldName[];
  /** Other weights for the tokens of an update text; `weights` are aTTT's, 0 where a token never trains. */
  readonly weigh?: (weights: readonly number[], rng: Rng) => readonly number[];
  /**
   * Why a turn must be sampled again, in words; null when it may stand. `idle` holds the commands
   * that have done nothing since the world last changed.
   */
  readonly refuses?: (action: string, idle: ReadonlySet<string>) => string | null;
  /** Writes a reflection when a try failed, for the prompt of the next one. */
  readonly reflects?: true;
}
