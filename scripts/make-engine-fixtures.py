"""Writes the reference of one update on 32 tokens (pip install torch transformers peft gguf).

SmolLM2-135M-Instruct Q4_1 is read by transformers from its GGUF (scripts/fetch-models.mjs brings it),
gets a LoRA by PEFT on q_proj and v_proj with the start values of smollm2_training.json's formula, and
makes one Adam step on the last 16 of the first 32 ids of smollm2_generation.json's first conversation.
Before that its log-probabilities are compared with that file's, so that a wrong reading cannot become a
reference. Run from the repository root; writes smollm2_update.json.
"""

import json
import pathlib

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

FIXTURES = pathlib.Path("e2e/fixtures/engine")
FOLDER, FILE = ".cache/models", "SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS, FIRST_LABEL = 32, 16
RANK, ALPHA, RATE, A_SCALE, B_SCALE = 8, 16, 5e-4, 0.05, 0.02


def cross_entropies(model, ids, first):
    """Of each id from index `first` on, given all before it."""
    logits = model(torch.tensor([ids])).logits[0, first - 1 : -1]
    return torch.nn.functional.cross_entropy(logits, torch.tensor(ids[first:]), reduction="none")


torch.manual_seed(0)
base = AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=FILE, dtype=torch.float32)
conversation = json.loads((FIXTURES / "smollm2_generation.json").read_text())[0]
prompt = conversation["prompt_ids"]
greedy = conversation["greedy"]
with torch.no_grad():
    told = -cross_entropies(base, prompt + [token["id"] for token in greedy], len(prompt))
assert np.allclose(told.numpy(), [token["logprob"] for token in greedy], atol=1e-3), told

config = LoraConfig(
    r=RANK, lora_alpha=ALPHA, lora_dropout=0, target_modules=["q_proj", "v_proj"]
)
model = get_peft_model(base, config)
adapted = {name: p for name, p in model.named_parameters() if p.requires_grad}
for seed, name in enumerate(sorted(adapted), start=1):
    scale = A_SCALE if "lora_A" in name else B_SCALE
    flat = scale * np.sin(seed + 12.9898 * np.arange(adapted[name].numel(), dtype=np.float64))
    adapted[name].data.copy_(torch.from_numpy(flat.astype(np.float32)).view_as(adapted[name]))

ids = prompt[:TOKENS]
adam = torch.optim.Adam(adapted.values(), lr=RATE)
before = cross_entropies(model, ids, FIRST_LABEL)
before.mean().backward()
norms = {name: p.grad.norm().item() for name, p in sorted(adapted.items())}
adam.step()
with torch.no_grad():
    after = cross_entropies(model, ids, FIRST_LABEL)
case = {
    "ids": ids,
    "first_label_index": FIRST_LABEL,
    "weights": [1] * (TOKENS - FIRST_LABEL),
    "target_modules": ["q_proj", "v_proj"],
    "r": RANK,
    "lora_alpha": ALPHA,
    "lr": RATE,
    "steps": 1,
    "init": {"b_scale": B_SCALE},
    "adam": {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "losses": [before.mean().item(), after.mean().item()],
    "ce_before": before.tolist(),
    "ce_after": after.tolist(),
    "grad_norm_step1": norms,
}
(FIXTURES / "smollm2_update.json").write_text(json.dumps(case, indent=2) + "\n")
print(case["losses"])
