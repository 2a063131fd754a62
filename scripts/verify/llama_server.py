"""llama-server's command line over xllamacpp, which holds llama.cpp's own server: -m, --lora, --port, -c.

Run by the small environment of requirements_serving.txt; replay/serve_llama_cpp.py finds it as `llama-server`.
"""

import argparse
import time

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument('-m', required=True)
parser.add_argument('--lora', action='append', default=[])
parser.add_argument('--port', type=int, default=8080)
parser.add_argument('-c', type=int, default=2048)
asked = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = asked.m
adapters = []
for path in asked.lora:
    adapter = xllamacpp.CommonAdapterLoraInfo()
    adapter.path, adapter.scale = path, 1.0
    adapters.append(adapter)
params.lora_adapters = adapters
params.port, params.n_ctx, params.n_parallel = asked.port, asked.c, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
