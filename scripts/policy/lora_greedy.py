"""Greedy continuations of a base with its adapter merged in, in PyTorch F32: references for the product's engine.

lora_greedy.py --base FILE.gguf --adapter LORA.gguf --episodes FILE.jsonl --out greedy.json
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch

from cached import CachedPolicy
from gguf_file import load_policy, read_chat_template, read_tokenizer

ANSWERS = (0, 3)
"""How many of the policy's turns each prompt holds."""
TOKENS, END = 48, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--episodes", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer, template = read_tokenizer(args.base), read_chat_template(args.base)
    policy, prompts = load_policy(args.base, args.adapter), []
    for answers, line in zip(ANSWERS, args.episodes.read_text().splitlines()):
        turns = json.loads(line)["turns"][: 2 * answers + 1]
        messages = [{"role": t["role"], "content": t["content"]} for t in turns]
        prompt = tokenizer.encode(template.render(messages=messages, add_generation_prompt=True), add_special_tokens=False).ids
        cache = CachedPolicy(policy, 1, len(prompt) + TOKENS)
        logits, ids, gap = cache.read([0], [prompt])[0], [], float("inf")
        while len(ids) < TOKENS and END not in ids:
            best = logits.topk(2)
            gap = min(gap, float(best.values[0] - best.values[1]))
            ids.append(int(best.indices[0]))
            logits = cache.read([0], [ids[-1:]])[0]
        text = tokenizer.decode(ids, skip_special_tokens=False)
        print(len(prompt), round(gap, 3), text)
        prompts.append({"messages": messages, "prompt_ids": prompt, "ids": ids, "smallest_gap": round(gap, 4), "text": text})
    args.out.write_text(json.dumps({
        "about": "Greedy ids of SmolLM2-135M-Instruct Q4_1, dequantised, with the adapter merged in, PyTorch F32; "
                 "made by scripts/policy/lora_greedy.py.",
        "adapter_sha256": hashlib.sha256(args.adapter.read_bytes()).hexdigest(), "prompts": prompts}) + "\n")


if __name__ == "__main__":
    main()
