"""Gives the run's adapter to a running vLLM server, in place of an earlier one of that name, and asks it one question.
The server must see this folder on its own disk, and be started by
VLLM_ALLOW_RUNTIME_LORA_UPDATING=True vllm serve BASE --enable-lora --max-lora-rank 16
Usage: python replay/serve_vllm.py [http://127.0.0.1:8000] [NAME]"""
import json, sys, urllib.error, urllib.request
from run import events, manifest, root

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
name = sys.argv[2] if len(sys.argv) > 2 else manifest["run"]

def post(path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read().decode()

try:
    post("/v1/unload_lora_adapter", {"lora_name": name})
except urllib.error.HTTPError as error:  # it was not loaded yet
    if error.code not in (400, 404): raise
post("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(root / "adapter")})
question = {"model": name, "messages": events[0]["messages"], "max_tokens": 64, "temperature": 0}
answer = post("/v1/chat/completions", question)
print(json.loads(answer)["choices"][0]["message"]["content"])
