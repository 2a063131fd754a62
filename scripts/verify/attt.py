"""The command `attt` for the checks: runs it, and reads what it prints."""

import json
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def attt(*args):
    command = ['node', str(ROOT / 'scripts' / 'attt.mjs'), *map(str, args)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def logits(model, ids, *args):
    ids = ','.join(map(str, ids))
    return np.array(attt('logits', '--model', model, '--ids', ids, *args)['logits'])


def lora_logits(model, ids, folder):
    """Of every position, under an adapter's PEFT folder."""
    return logits(model, ids, '--adapter', folder)
