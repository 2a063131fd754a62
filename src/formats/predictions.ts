/** SWE-bench's predictions: one JSON line a task, with what a run changed as a patch. Knows no world. */

import type { RunManifest, TaskRef } from '../records.ts';

export interface Prediction {
  /** `repair__valid_unseen-12`, as SWE-bench joins a repository and a number. */
  readonly instance_id: string;
  readonly model_name_or_path: string;
  /** As `git diff` writes it; empty where nothing was changed, never absent. */
  readonly model_patch: string;
}

/** The model's name goes with the method: the same model under two methods makes two sets of predictions. */
export function predictionOf(
  { modelName, settings, env }: Pick<RunManifest, 'modelName' | 'settings' | 'env'>,
  { split, index }: TaskRef,
  patch: string,
): Prediction {
  return {
    instance_id: `${env.split('/')[0]}__${split}-${index}`,
    model_name_or_path: `${modelName}__${settings.method}`,
    model_patch: patch,
  };
}

export function predictionLine(prediction: Prediction): string {
  return `${JSON.stringify(prediction)}\n`;
}
