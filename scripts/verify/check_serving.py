"""The adapter of a run bundle on a real llama.cpp server, and by vLLM's protocol on a stand-in with its rules.

Prints its result as JSON in the last line; scripts/verify-python.mjs runs it.
"""

import json
import pathlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile

import numpy as np
from attt import attt, logits
from fake_vllm import FakeVllm

HERE = pathlib.Path(__file__).resolve().parent
POLICY = next(pathlib.Path('models').glob('*/*-q8_0.gguf')).resolve()
#: A rate high enough that two updates move log-probabilities far more than MARGIN.
CONFIG = '[att]\nlearning_rate = 0.02\nupdate_interval_k = 3\n[lab]\nstep_limit = 6\n'
SETTINGS = {'trigger': {'min_steps_before_first_update': 3, 'novelty_threshold': 0},
            'rollback': {'kl_divergence_limit': 100, 'repetition_ratio_limit': 1}}
TOKENS = 32
#: In logits, and in nats of a log-probability.
MARGIN = 0.02


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def serve(scratch, command):
    """Starts a script of the bundle with llama.cpp's server on the PATH as `llama-server`."""
    python, program = pathlib.Path('.cache/verify-serving/bin/python').absolute(), HERE / 'llama_server.py'
    path = scratch / 'bin' / 'llama-server'
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {python} {program} "$@"\n')
    path.chmod(0o755)
    env = {**os.environ, 'PATH': f"{path.parent}:{os.environ['PATH']}"}
    return subprocess.Popen([sys.executable, *map(str, command)], env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {'Content-Type': 'application/json'})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def wait_for(url, server):
    for _ in range(300):
        try:
            return ask(url)
        except (urllib.error.URLError, ConnectionError):
            if server.poll() is not None:
                raise SystemExit(f'The server ended with {server.returncode}.')
            time.sleep(0.5)
    raise SystemExit('The server did not come up.')


def rows_of(base, result, *args):
    """The logits that each id of a turn was chosen by."""
    first = len(result['prompt_ids'])
    return logits(base, result['prompt_ids'] + result['ids'], *args)[first - 1:-1]


def logprobs_of(rows, ids):
    shifted = rows - rows.max(-1, keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))[np.arange(len(ids)), ids]


def decided(rows):
    """How many leading ids lie more than MARGIN above the second best: nearer ties may fall either way."""
    best = np.sort(rows, axis=-1)
    near = np.flatnonzero(best[:, -1] - best[:, -2] <= MARGIN)
    return int(near[0]) if len(near) else len(rows)


def main():
    rows = []

    def row(what, found, limit, ok):
        rows.append({'what': what, 'found': str(found), 'limit': str(limit), 'ok': bool(ok)})

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / 'config.toml').write_text(CONFIG)
        (scratch / 'settings.json').write_text(json.dumps({'att': SETTINGS}))
        attt('run', '--model', POLICY, '--env', 'household', '--split', 'valid_unseen', '--tasks', 2, '--seed', 3, '--config',
             scratch / 'config.toml', '--settings', scratch / 'settings.json', '--bundles', '--out', scratch / 'run')
        folder = scratch / 'bundle'
        zipfile.ZipFile(scratch / 'run' / 'valid_unseen-2.attt.zip').extractall(folder)
        messages = json.loads((folder / 'events.jsonl').open().readline())['messages']
        (scratch / 'messages.json').write_text(json.dumps(messages))
        # The base in F16, by merging nothing into it: what llama.cpp rounds is too small then to turn a choice.
        base = scratch / 'base-f16.gguf'
        attt('adapter', 'merge', folder / 'adapter', '--model', POLICY, '--strength', 0, '--type', 'F16', '--out', base)
        args = {'base': [], 'adapter': ['--adapter', folder / 'adapter']}
        ours = {
            what: attt('generate', '--model', base, '--messages', scratch / 'messages.json', '--max-tokens', TOKENS,
                       '--temperature', 0, *more)
            for what, more in args.items()
        }
        chosen_by = {what: rows_of(base, result, *args[what]) for what, result in ours.items()}
        sure = {what: decided(rows) for what, rows in chosen_by.items()}
        logps = {what: logprobs_of(rows, ours[what]['ids']) for what, rows in chosen_by.items()}
        # A server that ignored the scale would be off by this much.
        for what, other in (('adapter', []), ('base', args['adapter'])):
            moved = np.abs(logprobs_of(rows_of(base, ours[what], *other), ours[what]['ids']) - logps[what]).max()
            row(f'How far the adapter moves a log-probability of the turn with {what} (a control)', f'{moved:.2f}',
                f'more than {10 * MARGIN} nats', moved > 10 * MARGIN)

        port = free_port()
        server = serve(scratch, [folder / 'replay' / 'serve_llama_cpp.py', base, '--port', port])
        try:
            url = f'http://127.0.0.1:{port}'
            wait_for(f'{url}/v1/models', server)
            # One server, asked in turn with the adapter, without it, and with it again.
            for what, scale in (('adapter', 1), ('base', 0), ('adapter', 1)):
                answer = ask(f'{url}/completion', {'prompt': ours[what]['prompt_ids'], 'n_predict': TOKENS, 'temperature': 0,
                                                   'return_tokens': True, 'n_probs': 1, 'lora': [{'id': 0, 'scale': scale}]})
                theirs, ids = answer['tokens'], ours[what]['ids']
                same = next((i for i, (a, b) in enumerate(zip(theirs, ids)) if a != b), min(len(theirs), len(ids)))
                row(f'`serve_llama_cpp.py`, a request with scale {scale}: leading greedy ids equal to ours, of {len(ids)}', same,
                    f'the {sure[what]} decided by more than {MARGIN}, at least 5', same >= max(5, sure[what]))
                found = [entry['logprob'] for entry in answer['completion_probabilities'][:same]]
                error = np.abs(np.array(found) - logps[what][:same]).max()
                row(f'The same, log-probabilities of these {same}: largest difference from ours', f'{error:.1e}',
                    f'{MARGIN} nats', error < MARGIN)
            answer = ask(f'{url}/v1/chat/completions', {'model': 'policy', 'messages': messages, 'max_tokens': TOKENS,
                                                        'temperature': 0})
            text = answer['choices'][0]['message']['content']
            ids = ','.join(map(str, ours['adapter']['ids'][:sure['adapter']]))
            begins = attt('decode', '--model', base, '--ids', ids)['text'].removesuffix('<|im_end|>')
            row(f'`serve_llama_cpp.py`, a chat: the turn begins as ours, with {json.dumps(begins)}',
                text.startswith(begins), True, text.startswith(begins))
            (scratch / 'steps.toml').write_text('[lab]\nstep_limit = 4\n')
            played = attt('run', '--model', url, '--served-model', 'policy', '--served-adapter', folder / 'adapter.gguf',
                          '--env', 'household', '--split', 'valid_unseen', '--tasks', 2, '--seed', 3, '--method', 'frozen',
                          '--config', scratch / 'steps.toml', '--bundles', '--out', scratch / 'remote')
            checked = attt('bundle', 'validate', scratch / 'remote' / 'valid_unseen-2.attt.zip')
            totals = played['totals']
            row('`attt run --served-adapter` on that server: steps, errors, and a valid bundle',
                f"{totals['mean_steps']}, {totals['errors']}, {checked['valid']}", '4, 0, True',
                totals['mean_steps'] == 4 and totals['errors'] == 0 and checked['valid'])
        finally:
            server.terminate()
            server.wait()

        vllm = FakeVllm('base')
        for _ in range(2):
            done = subprocess.run([sys.executable, folder / 'replay' / 'serve_vllm.py', vllm.url, 'mine'],
                                  stdout=subprocess.PIPE, text=True)
        steps = [(path.rsplit('/', 1)[1], status) for path, _, status in vllm.asked]
        wanted = [('unload_lora_adapter', 404), ('load_lora_adapter', 200), ('completions', 200),
                  ('unload_lora_adapter', 200), ('load_lora_adapter', 200), ('completions', 200)]
        row("`serve_vllm.py`, twice, on a stand-in with vLLM's rules: requests and their status",
            ', '.join(f'{step} {status}' for step, status in steps), 'none refused but the first unload', steps == wanted)
        row('What it prints: the served adapter, asked by its name', done.stdout.strip(), 'served by mine',
            done.stdout.strip() == 'served by mine')
        vllm.close()
    about = ("A run of six steps of the bundled policy with two updates; its base served in F16. The server is llama.cpp's own (in xllamacpp), "
             'started by the script of the bundle. vLLM itself is too slow on two cores to be part of this.')
    print(json.dumps({'title': 'An adapter on other engines', 'about': about, 'rows': rows}))


main()
