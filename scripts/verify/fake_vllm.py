"""The part of vLLM's server that adapters are loaded through, with its rules, for machines that cannot run it.

Written from vLLM's documentation of dynamic LoRA serving and from the checks that its loader makes: both names given,
none loaded twice, none unloaded that is not there, a PEFT folder with r, lora_alpha and target_modules, no DoRA, no
modules_to_save, rank at most --max-lora-rank, and every tensor the lora_A or lora_B of a target module.
"""

import json
import pathlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from safetensors.numpy import load_file

MAX_RANK = 16


def fault_of(folder):
    """Why vLLM would refuse this folder; None when it would not."""
    path = pathlib.Path(folder)
    if not (path / 'adapter_config.json').exists():
        return f'No adapter found for {folder}'
    config = json.loads((path / 'adapter_config.json').read_text())
    for key in ('r', 'lora_alpha', 'target_modules'):
        if key not in config:
            return f'Missing required configuration fields: {key}'
    if config.get('modules_to_save') or config.get('use_dora') or config.get('bias', 'none') != 'none':
        return 'modules_to_save, DoRA and bias are not supported'
    if config['r'] > MAX_RANK:
        return f'LoRA rank {config["r"]} is greater than max_lora_rank {MAX_RANK}'
    for name, tensor in load_file(path / 'adapter_model.safetensors').items():
        parts = name.split('.')
        if parts[:2] != ['base_model', 'model'] or parts[-1] != 'weight' or parts[-2] not in ('lora_A', 'lora_B'):
            return f'{name} is unsupported LoRA weight'
        if parts[-3] not in config['target_modules']:
            return f'{name}: expected target modules in {config["target_modules"]}'
        if tensor.shape[0 if parts[-2] == 'lora_A' else 1] != config['r']:
            return f'{name} has rank {tensor.shape}'
    return None


class FakeVllm:
    """Serves on a free port until closed; `asked` holds every request as (path, body, status)."""

    def __init__(self, base):
        self.asked, self.loaded, self.base = [], {}, base
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                status, answer = outer.answer(self.path, body)
                outer.asked.append((self.path, body, status))
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, body):
        error = lambda status, message: (status, {'object': 'error', 'message': message, 'code': status})
        name = body.get('lora_name')
        if path == '/v1/load_lora_adapter':
            if not name or not body.get('lora_path'):
                return error(400, "Both 'lora_name' and 'lora_path' must be provided.")
            if name in self.loaded:
                return error(400, f"The lora adapter '{name}' has already been loaded.")
            if fault := fault_of(body['lora_path']):
                return error(404 if fault.startswith('No adapter') else 400, fault)
            self.loaded[name] = body['lora_path']
            return 200, f"Success: LoRA adapter '{name}' added successfully."
        if path == '/v1/unload_lora_adapter':
            if name not in self.loaded:
                return error(404, f"The lora adapter '{name}' cannot be found.")
            del self.loaded[name]
            return 200, f"Success: LoRA adapter '{name}' removed successfully."
        if path == '/v1/chat/completions':
            if body.get('model') not in (self.base, *self.loaded):
                return error(404, f'The model `{body.get("model")}` does not exist.')
            roles = [message['role'] for message in body['messages']]
            if not roles or not set(roles) <= {'system', 'user', 'assistant'}:
                return error(400, f'roles {roles}')
            message = {'role': 'assistant', 'content': f'served by {body["model"]}'}
            return 200, {'choices': [{'index': 0, 'message': message, 'finish_reason': 'stop'}]}
        return error(404, 'Not Found')

    def close(self):
        self.server.shutdown()
