"""Run bundles of two models, read and recomputed outside this program, from the bundle and the model's file alone.

Prints its result as JSON in the last line; scripts/verify-python.mjs runs it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from attt import attt, lora_logits
from inspect_ai.log import read_eval_log, write_eval_log
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

SMOLLM2 = pathlib.Path('.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf').resolve()
POLICY = next(pathlib.Path('models').glob('*/*-q8_0.gguf')).resolve()

ATT = 'ngram_n = 3\ngrad_steps = 2\nupdate_interval_k = 3\n'
TRIGGER = {'min_steps_before_first_update': 3, 'novelty_threshold': 0, 'max_updates_per_episode': 4}
#: Name, model, more of [models.policy], [att] and [lab], more of att.rollback. SmolLM2 learns at the default rate.
RUNS = [
    ('the bundled policy', POLICY, '', 'learning_rate = 0.002\n',
     'step_limit = 12\ntarget_modules = ["q_proj", "k_proj", "v_proj", "down_proj"]\n', {'kl_divergence_limit': 5}),
    ('the bundled policy, in context', POLICY, '', 'learning_rate = 0.002\n',
     'step_limit = 12\nloss_normalisation = "tokens"\ntrain_context = "conversation"\n', {'kl_divergence_limit': 0.00015}),
    ('SmolLM2-135M', SMOLLM2, 'max_tokens = 24\n', '', 'step_limit = 6\n', {'kl_divergence_limit': 5}),
]


def bundle(scratch, index, model, policy, att, lab, rollback):
    """Plays one episode and unpacks its bundle into a folder that holds nothing else."""
    out = scratch / f'run{index}'
    config, settings = scratch / f'{index}.toml', scratch / f'{index}.json'
    config.write_text(f'[models.policy]\n{policy}[att]\n{ATT}{att}[lab]\n{lab}')
    limits = {'repetition_ratio_limit': 1, **rollback}
    settings.write_text(json.dumps({'att': {'trigger': TRIGGER, 'rollback': limits}}))
    attt('run', '--model', model, '--env', 'household', '--split', 'valid_unseen', '--tasks', 2, '--seed', 3,
         '--config', config, '--settings', settings, '--bundles', '--times', '--out', out)
    file = out / 'valid_unseen-2.attt.zip'
    folder = scratch / f'bundle{index}'
    zipfile.ZipFile(file).extractall(folder)
    return file, folder


def script(folder, name, *args, isolated=False):
    """Runs a script of the bundle far from this repository; `isolated`: without any installed package."""
    flags = ['-E', '-s', '-S'] if isolated else []
    env = {**os.environ, 'WANDB_SILENT': 'true', 'TRACKIO_DIR': str(folder / 'trackio'), 'HF_HUB_OFFLINE': '1'}
    done = subprocess.run([sys.executable, *flags, str(folder / 'replay' / f'{name}.py'), *map(str, args)],
                          cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


def our_loss(folder, model):
    """Σ w·CE / Σ w over the kept texts under the end's adapter, from logits of `attt`."""
    rows = [json.loads(line) for line in (folder / 'tokens.jsonl').read_text().splitlines()]
    total, mass = 0.0, 0.0
    for row in (row for row in rows if row['kept']):
        logits = lora_logits(model, row['input_ids'], folder / 'adapter')
        shifted = logits - logits.max(-1, keepdims=True)
        logp = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
        for j, weight in enumerate(row['weights']):
            if weight > 0:
                total -= weight * logp[j - 1, row['labels'][j]]
                mass += weight
    return total / mass


def equal_tables(folder):
    """Whether both tables say the same in both of their forms."""
    rows = [json.loads(line) for line in (folder / 'tokens.jsonl').read_text().splitlines()]
    tokens = pq.read_table(folder / 'tokens.parquet').to_pylist() == rows
    metrics = pd.read_parquet(folder / 'metrics.parquet').astype(float)
    return tokens and metrics.equals(pd.read_csv(folder / 'metrics.csv').astype(float))


def main():
    found_rows = []

    def row(what, found, limit, ok):
        found_rows.append({'what': what, 'found': str(found), 'limit': limit, 'ok': bool(ok)})

    with tempfile.TemporaryDirectory() as scratch:
        for index, (name, model, *more) in enumerate(RUNS):
            file, folder = bundle(pathlib.Path(scratch), index, model, *more)
            checked = attt('bundle', 'validate', file)
            facts = json.loads((folder / 'MANIFEST.json').read_text())['facts']
            row(f'{name}: a valid bundle of {facts["steps"]} steps, {facts["updates"]} updates kept, '
                f'{facts["rollbacks"]} rollbacks', checked['valid'], 'True, with an update or rollback',
                checked['valid'] and facts['updates'] + facts['rollbacks'] > 0)
            for what in ('ratios', 'weights'):
                code, said = script(folder, what, isolated=True)
                counted = last_json(said)
                row(f'{name}: `{what}.py`, {counted[what]} {what}, wrong ones', counted['wrong'], '0 of some',
                    code == 0 and counted['wrong'] == 0 and counted[what] > 0)
            code, said = script(folder, 'losses', model)
            for what, result in last_json(said).items():
                error, limit = result['largest_error'], result['limit']
                unit = 'nats' if what.startswith('ce') else 'relative'
                row(f'{name}: `losses.py`, {what}, largest error', f'{error:.1e}', f'{limit} {unit}', error < limit)
            same = equal_tables(folder)
            row(f'{name}: Parquet, JSONL and CSV say the same', same, 'True', same)
            if index > 0:
                continue
            code, said = script(folder, 'train', model, folder / 'more')
            theirs = json.loads((folder / 'more' / 'trainer_state.json').read_text())['log_history'][0]['loss']
            ours = our_loss(folder, model)
            row(f'{name}: `train.py`, first loss of the Hugging Face Trainer, and ours from `attt logits`',
                f'{theirs:.4f} and {ours:.4f}', '1e-3 relative', abs(theirs / ours - 1) < 1e-3)
            row(f'{name}: `train.py`, the adapter it saved', (folder / 'more' / 'adapter_model.safetensors').exists(),
                'True', (folder / 'more' / 'adapter_model.safetensors').exists())
            code, _ = script(folder, 'log_tensorboard', folder / 'tb')
            events = EventAccumulator(str(next((folder / 'tb').iterdir()))).Reload()
            kl = [round(scalar.value, 6) for scalar in events.Scalars('kl')]
            wanted = [round(value, 6) for value in pd.read_csv(folder / 'metrics.csv')['kl'].dropna()]
            row(f'{name}: `log_tensorboard.py`, KL read back', kl, str(wanted), code == 0 and np.allclose(kl, wanted))
            code, _ = script(folder, 'log_wandb')
            files = list(folder.glob('wandb/offline-run-*/*.wandb'))
            row(f'{name}: `log_wandb.py`, offline runs written', len(files), '1', code == 0 and len(files) == 1)
            code, _ = script(folder, 'log_trackio')
            row(f'{name}: `log_trackio.py`, its exit code', code, '0', code == 0)
            log = read_eval_log(str(folder / 'inspect.json'))
            write_eval_log(log, str(folder / 'again.eval'))
            again = read_eval_log(str(folder / 'again.eval'))
            sample = again.samples[0]
            infos = sum(event.event == 'info' for event in sample.events)
            row(f'{name}: `inspect.json` by `read_eval_log`, written as .eval and read again',
                f'{log.status}, {len(sample.messages)} messages, {infos} info events',
                f'success, {2 * facts["steps"] + 1} messages, some events',
                log.status == 'success' and len(sample.messages) == 2 * facts['steps'] + 1 and infos > 0)
    about = ('`attt run --bundles` on valid_unseen 2, seed 3; each bundle unpacked into a folder of its own, and its '
             '`replay/` scripts run there. `ratios.py` and `weights.py` ran without any package. `losses.py` begins '
             "at the adapter of the episode's start and trains every update again with PyTorch and PEFT.")
    print(json.dumps({'title': 'Run bundles', 'about': about, 'rows': found_rows}))


main()
