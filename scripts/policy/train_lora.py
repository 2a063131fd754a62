"""Fine-tunes a LoRA on a larger llama file with the expert's episodes, on one core. Knows schedules and files.

train_lora.py --base FILE.gguf --stage FILE.jsonl:UNTIL ... --val FILE.jsonl --out FOLDER --minutes 50

The conversation is what the product sends to that file: its chat template, with the system text that the template adds.
"""

import argparse
import csv
import json
import time
from pathlib import Path

import jinja2
import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from data import CLASSES, Corpus, MicroBatch, Sampler, encode, micro_batch
from gguf_file import load_policy, read_chat_template, read_gains, read_tokenizer
from lora import adapt, write_lora
from optim import AdamW
from train import KEY_VERBS, SLOTS

COLUMNS = ("step", "minutes", "tokens", "rate", "grad_norm", "tokens_per_s", "loss", "thought", "action")
CLIP = 1.0
"""Largest norm of a step's gradient."""


def read_corpus(path: Path, tokenizer: Tokenizer, template: jinja2.Template) -> Corpus:
    """Episodes with the system turn that the template adds, and proof that the pieces' ids are the whole text's ids."""
    render = template.render
    bare = [{"role": "user", "content": "?"}]
    head = render(messages=bare).split("<|im_start|>user")[0]
    system = [{"role": "system", "content": head.removeprefix("<|im_start|>system\n").removesuffix("<|im_end|>\n")}] if head else []
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    for e in episodes:
        e["turns"] = system + e["turns"]
    corpus = encode([json.dumps(e) for e in episodes], tokenizer)
    whole = tokenizer.encode(render(messages=episodes[0]["turns"]), add_special_tokens=False).ids
    first = corpus.ids[: corpus.offsets[1]].tolist()
    if whole[: len(first)] != first:
        raise SystemExit(f"{path}: encoding turn by turn gives other ids than the chat template's text; neither may be trained.")
    return corpus


def picked_losses(policy, head: torch.Tensor, batch: MicroBatch) -> torch.Tensor:
    """Cross entropy [N] of the trained tokens, nats."""
    states = policy.states(torch.from_numpy(batch.ids), torch.from_numpy(batch.pick))
    logits = F.linear(states.bfloat16(), head).float()
    return F.cross_entropy(logits, torch.from_numpy(batch.labels), reduction="none")


def means(sums: np.ndarray) -> list[str]:
    """Mean loss of all trained tokens, of thoughts, of actions, from rows of (sum, count) by class."""
    return [f"{part[:, 0].sum() / max(1, part[:, 1].sum()):.4f}" for part in (sums, sums[0::2], sums[1::2])]


def add(sums: np.ndarray, losses: torch.Tensor, cls: np.ndarray) -> None:
    np.add.at(sums, cls, np.stack([losses.detach().numpy(), np.ones(len(cls))], axis=-1))


@torch.no_grad()
def validate(policy, head: torch.Tensor, corpus: Corpus) -> list[str]:
    sums = np.zeros((len(CLASSES), 2))
    for episode in range(len(corpus.kinds)):
        batch = micro_batch(corpus, np.array([episode]))
        add(sums, picked_losses(policy, head, batch), batch.cls)
    return means(sums)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--stage", action="append", required=True, metavar="FILE.jsonl:UNTIL")
    parser.add_argument("--val", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=1e9, help="length by the clock; the sooner of the two ends the run")
    parser.add_argument("--tokens", type=float, default=1e12, help="length in tokens")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--alpha", type=float, default=16)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--warmup-steps", type=int, default=10)
    parser.add_argument("--step-tokens", type=int, default=2048)
    parser.add_argument("--row-tokens", type=int, default=2048)
    parser.add_argument("--key-weight", type=float, default=2.0)
    parser.add_argument("--report-minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    tokenizer, template = read_tokenizer(args.base), read_chat_template(args.base)
    stages = [(read_corpus(Path(p), tokenizer, template), float(until)) for p, _, until in (s.rpartition(":") for s in args.stage)]
    val = read_corpus(args.val, tokenizer, template)
    policy = load_policy(args.base)
    params = adapt(policy, read_gains(args.base), args.rank, args.alpha)
    head = policy.embed.weight.bfloat16()
    print(f"{sum(p.numel() for p in params)} trained parameters; {[len(c.kinds) for c, _ in stages]} episodes", flush=True)
    adam = AdamW([p.data for p in params])
    samplers = [Sampler(c, args.seed + i, args.row_tokens, args.step_tokens, SLOTS) for i, (c, _) in enumerate(stages)]
    weight = np.array([args.key_weight if c.split("_")[1] in KEY_VERBS else 1.0 for c in CLASSES], np.float32)
    args.out.mkdir(parents=True, exist_ok=True)
    adapter = args.out / "lora.gguf"
    with (args.out / "train.csv").open("w") as train, (args.out / "val.csv").open("w") as held:
        rows, val_rows = csv.writer(train), csv.writer(held)
        rows.writerow(COLUMNS)
        val_rows.writerow(("step", "minutes", "tokens", "loss", "thought", "action"))
        began = time.monotonic()
        minutes = lambda: (time.monotonic() - began) / 60
        sums, step, tokens, marked, reported = np.zeros((len(CLASSES), 2)), 0, 0, (0.0, 0), 0.0
        while (progress := max(minutes() / args.minutes, tokens / args.tokens)) < 1:
            which = next((i for i, (_, until) in enumerate(stages) if progress < until), len(stages) - 1)
            corpus, groups = stages[which][0], samplers[which].step()
            batches = [micro_batch(corpus, g) for g in groups]
            total = sum(float(weight[b.cls].sum()) for b in batches)
            for batch in batches:
                losses = picked_losses(policy, head, batch)
                (losses * torch.from_numpy(weight[batch.cls])).sum().div(total).backward()
                add(sums, losses, batch.cls)
            norm = float(torch.nn.utils.clip_grad_norm_(params, CLIP))
            rate = args.lr * min(1.0, (step + 1) / args.warmup_steps) * (1 - progress)
            adam.step([p.grad for p in params], rate)
            for p in params:
                p.grad = None
            step, tokens = step + 1, tokens + sum(int(corpus.lengths()[g].sum()) for g in groups)
            if minutes() - marked[0] > 0.5:
                speed = (tokens - marked[1]) / (minutes() - marked[0]) / 60
                row = [step, f"{minutes():.2f}", tokens, f"{rate:.5f}", f"{norm:.3f}", f"{speed:.0f}", *means(sums)]
                rows.writerow(row)
                train.flush()
                print(*row, flush=True)
                marked, sums = (minutes(), tokens), np.zeros((len(CLASSES), 2))
            if minutes() - reported > args.report_minutes:
                write_lora(adapter, policy, args.alpha, "household-lora")
                val_rows.writerow([step, f"{minutes():.2f}", tokens, *validate(policy, head, val)])
                held.flush()
                reported = minutes()
        write_lora(adapter, policy, args.alpha, "household-lora")
        row = [step, f"{minutes():.2f}", tokens, *validate(policy, head, val)]
        val_rows.writerow(row)
        print("val", *row)


if __name__ == "__main__":
    main()
