"""The adapter of a run bundle on a real llama.cpp server, and by vLLM's protocol on a stand-in with its rules.

Prints its result as JSON in the last line; scripts/verify-python.mjs runs it.
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile

import llama_cpp
from attt import attt
from fake_vllm import FakeVllm

POLICY = next(pathlib.Path('models').glob('*/*-q8_0.gguf')).resolve()
CONFIG = '[att]\nlearning_rate = 0.002\nupdate_interval_k = 3\n[lab]\nstep_limit = 6\n'
SETTINGS = {'trigger': {'min_steps_before_first_update': 3, 'novelty_threshold': 0},
            'rollback': {'kl_divergence_limit': 5, 'repetition_ratio_limit': 1}}
TOKENS = 32


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


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
        ours = {
            what: attt('generate', '--model', POLICY, '--messages', scratch / 'messages.json', '--max-tokens', TOKENS,
                       '--temperature', 0, *args)
            for what, args in (('base', []), ('adapter', ['--adapter', folder / 'adapter']))
        }
        row('The adapter changes what is written (a control)', ours['base']['text'] != ours['adapter']['text'], True,
            ours['base']['text'] != ours['adapter']['text'])

        for what, lora in (('base', None), ('adapter', str(folder / 'adapter.gguf'))):
            llama = llama_cpp.Llama(str(POLICY), lora_path=lora, n_ctx=1024, n_threads=1, verbose=False)
            sampled = llama.generate(ours[what]['prompt_ids'], temp=0)
            theirs = [next(sampled) for _ in ours[what]['ids']]
            same = sum(a == b for a, b in zip(theirs, ours[what]['ids']))
            row(f'llama.cpp with the {what}: greedy ids equal to ours', f'{same} of {len(theirs)}', 'all', same == len(theirs))

        port = free_port()
        server = subprocess.Popen(
            [sys.executable, folder / 'replay' / 'serve_llama_cpp.py', POLICY, '--port', str(port), '--n_ctx', '2048',
             '--logits_all', 'true', '--n_threads', '1'],
            env={'PATH': '/nonexistent'} if shutil.which('llama-server') else None, stderr=subprocess.DEVNULL)
        try:
            url = f'http://127.0.0.1:{port}/v1'
            wait_for(f'{url}/models', server)
            answer = ask(f'{url}/chat/completions', {'model': 'policy', 'messages': messages, 'max_tokens': TOKENS,
                                                     'temperature': 0})
            text = answer['choices'][0]['message']['content']
            row('`serve_llama_cpp.py`: the turn that the server writes is ours', text == ours['adapter']['text'], True,
                text == ours['adapter']['text'])
            (scratch / 'steps.toml').write_text('[lab]\nstep_limit = 4\n')
            played = attt('run', '--model', url, '--served-model', 'policy', '--env', 'household', '--split',
                          'valid_unseen', '--tasks', 2, '--seed', 3, '--method', 'frozen', '--config',
                          scratch / 'steps.toml', '--bundles', '--out', scratch / 'remote')
            checked = attt('bundle', 'validate', scratch / 'remote' / 'valid_unseen-2.attt.zip')
            totals = played['totals']
            row('`attt run` on that server: steps, errors, and a valid bundle',
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
    about = ('A run of six steps of the bundled policy with two updates. The server of llama.cpp is that of '
             'llama-cpp-python, started by the script of the bundle. vLLM itself was not run.')
    print(json.dumps({'title': 'An adapter on other engines', 'about': about, 'rows': rows}))


main()
