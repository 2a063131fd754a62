"""Seconds of one LoRA update by PyTorch and PEFT on the same GGUF: r 8 on q and v, two Adam steps.

Usage: python torch_update.py FILE.gguf TOKENS THREADS REPEATS; prints one number a line. The weights are
decoded to float32 by transformers, as PyTorch has no quantised gradient.
"""

import os
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

path, tokens, threads, repeats = sys.argv[1], *map(int, sys.argv[2:5])
torch.set_num_threads(threads)
folder, name = os.path.split(os.path.abspath(path))
base = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, torch_dtype=torch.float32)
config = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
model = get_peft_model(base, config)
ids = torch.tensor([[(i * 37 + 11) % 1000 for i in range(tokens)]])
for _ in range(repeats):
    optimiser = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-4)
    begun = time.perf_counter()
    for _ in range(2):
        optimiser.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
    print(time.perf_counter() - begun, flush=True)
