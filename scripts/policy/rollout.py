"""Lets a policy in PyTorch play many frozen tasks at once and writes what it did, one episode a line.

rollout.py --model FILE.gguf --split valid_seen --tasks 0-139 --out FILE.jsonl
rollout.py --model FILE.gguf --adapter LORA.gguf ...                  (a base with its adapter)
rollout.py --model FILE.pt --tokenizer tokenizer.json ...             (a checkpoint)

The conversation is the product's: world.ts writes what the policy reads and parses what it wrote. Only the random
numbers are PyTorch's, so at a temperature above 0 an episode is another draw from the same distribution.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path

import jinja2
import torch
from tokenizers import Tokenizer

from cached import CachedPolicy
from gguf_file import chat_template, load_policy, read_chat_template, read_tokenizer
from model import Policy
from tokenizer import CHAT_TEMPLATE, SPECIALS, load_tokenizer

HERE = Path(__file__).parent
END = SPECIALS.index("<|im_end|>")
MAX_TOKENS, MAX_STEPS, CONTEXT = 64, 50, 4096
"""The product's defaults for the household."""


class World:
    """world.ts in a process of its own."""

    def __init__(self):
        command = ["node", str(HERE / "run.mjs"), str(HERE / "world.ts"), "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request: dict) -> list[dict]:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def sample(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> list[int]:
    if temperature == 0:
        return logits.argmax(-1).tolist()
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0].tolist()


def play(policy: Policy, tokenizer: Tokenizer, template: jinja2.Template, world: World, starts: list[dict], temperature: float,
         seed: int) -> list[dict]:
    """The episodes of `starts`, side by side: start, kind, goal, solved, steps."""
    generator = torch.Generator().manual_seed(seed)
    begun = world.ask({"reset": starts})
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    opening = lambda messages: template.render(messages=messages, add_generation_prompt=True)
    context = min(policy.shape.context, CONTEXT)
    cache = CachedPolicy(policy, len(starts), context)
    episodes = [{"start": s, "kind": b["kind"], "goal": b["goal"], "solved": False, "steps": []} for s, b in zip(starts, begun)]
    pending = {i: encode(opening(b["messages"])) for i, b in enumerate(begun)}
    for _ in range(MAX_STEPS):
        # A conversation that nears the context would lose turns in the product; 50 steps stay below it.
        rows = [i for i in pending if cache.lengths[i] + len(pending[i]) + MAX_TOKENS < context]
        if not rows:
            break
        positions = {i: cache.lengths[i] + len(pending[i]) for i in rows}
        logits = cache.read(rows, [pending[i] for i in rows])
        turns = {i: [] for i in rows}
        active = rows
        while active:
            for i, token in zip(active, sample(logits, temperature, generator)):
                turns[i].append(token)
            active = [i for i in active if turns[i][-1] != END and len(turns[i]) < MAX_TOKENS]
            if active:
                logits = cache.read(active, [[turns[i][-1]] for i in active])
        asked = [{"episode": i, "text": tokenizer.decode([t for t in turns[i] if t != END], skip_special_tokens=False),
                  "stop": "eos" if turns[i][-1] == END else "length"} for i in rows]
        pending = {}
        for i, turn, answer in zip(rows, asked, world.ask({"step": asked})):
            content = answer.pop("content")
            terminated = answer.pop("terminated")
            episodes[i]["steps"].append({"text": turn["text"], "position": positions[i], "tokens": len(turns[i]), **answer})
            episodes[i]["solved"] = terminated
            if not terminated:
                close = [turns[i][-1]] if turns[i][-1] == END else [turns[i][-1], END]
                pending[i] = close + encode(f"\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n")
    return episodes


def numbers(text: str) -> list[int]:
    """`0-3,7` as [0, 1, 2, 3, 7]."""
    parts = [p.split("-") for p in text.split(",")]
    return [n for p in parts for n in range(int(p[0]), int(p[-1]) + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="a GGUF LoRA to merge into the model")
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--split", choices=("train", "valid_seen", "valid_unseen"), required=True)
    parser.add_argument("--tasks", type=numbers, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=48)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.tokenizer is None and args.model.suffix != ".gguf":
        raise SystemExit("A checkpoint holds no tokenizer: give --tokenizer tokenizer.json.")
    policy = load_policy(args.model, args.adapter)
    template = read_chat_template(args.model) if args.model.suffix == ".gguf" else chat_template(CHAT_TEMPLATE)
    tokenizer = load_tokenizer(args.tokenizer) if args.tokenizer else read_tokenizer(args.model)
    starts = [{"split": args.split, "index": t} for t in args.tasks]
    world = World()
    began, done, solved = time.monotonic(), 0, 0
    with args.out.open("w") as f:
        for at in range(0, len(starts), args.batch):
            batch = starts[at : at + args.batch]
            draws = 1000 * args.seed + batch[0]["index"]  # a part of a split draws as the whole split would there
            for episode in play(policy, tokenizer, template, world, batch, args.temperature, draws):
                f.write(json.dumps(episode) + "\n")
                done, solved = done + 1, solved + episode["solved"]
            f.flush()
            print(f"{done} of {len(starts)}: {solved} solved, {time.monotonic() - began:.0f} s", flush=True)
    world.close()


if __name__ == "__main__":
    main()
