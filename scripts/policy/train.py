"""Trains the policy on encoded episodes with a few single-thread processes. Knows batches and schedules, no text.

Each process takes micro-batches of a step from a shared counter, so a busy core slows only itself, and updates its share
of the parameters. A micro-batch's gradient has a place of its own in shared memory and all are added in one order, so
that the weights do not depend on how many processes there are, nor on which was faster.
"""

import argparse
import csv
import json
import math
import os
import time
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
import torch.multiprocessing as mp

from data import CLASSES, Corpus, Sampler, load_corpus, micro_batch, verdicts
from gguf_file import load_policy
from model import Policy, Shape
from optim import AdamW, Muon

KEY_VERBS = ("take", "move", "use", "heat", "cool", "clean")
"""Turns that decide a task and are rare among `go`; `--key-weight` multiplies their loss. `--verdict-weight` does
so where a thought says whether the thing is there."""
SLOTS = 16
"""Places for gradients: the most micro-batches of a step, of which four or five are usual."""
REPORT = ("thought_go", "action_go", "thought_take", "action_take", "thought_move", "action_move", "thought_open",
          "action_open", "thought_use", "action_use", "thought_heat", "action_heat", "thought_cool", "action_cool",
          "thought_clean", "action_clean")


@dataclass(frozen=True)
class Stage:
    """A corpus and the share of the run until which it is drawn from."""

    corpus: Corpus
    until: float


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", action="append", required=True, metavar="FILE.npz:UNTIL",
                        help="a corpus and the share of the run it lasts until; repeat for a curriculum")
    parser.add_argument("--val", type=Path, required=True, help="held-back episodes for the teacher-forced report")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints and CSV files")
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from; its minutes and tokens count")
    parser.add_argument("--init", type=Path, help="a GGUF policy or a checkpoint whose weights to start from; all else is fresh")
    parser.add_argument("--minutes", type=float, default=math.inf, help="length of the run by the clock")
    parser.add_argument("--tokens", type=float, default=math.inf, help="length of the run in tokens; the sooner ends it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--row-tokens", type=int, default=2048, help="padded tokens of a micro-batch")
    parser.add_argument("--step-tokens", type=int, default=8192, help="tokens of an optimiser step")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.004)
    parser.add_argument("--warmup-steps", type=int, default=40)
    parser.add_argument("--cooldown", type=float, default=0.3, help="share of the run in which the rate falls")
    parser.add_argument("--final", type=float, default=0.0, help="the rate's factor at the end of the cooldown")
    parser.add_argument("--key-weight", type=float, default=2.0)
    parser.add_argument("--verdict-weight", type=float, default=8.0)
    parser.add_argument("--save-minutes", type=float, default=5.0)
    for field in fields(Shape):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    return parser.parse_args()


class Shared:
    """Everything the processes share: parameters, gradients, optimiser state, counters."""

    def __init__(self, args: argparse.Namespace, shape: Shape):
        torch.manual_seed(args.seed)
        self.model = Policy(shape).share_memory()
        self.params = list(self.model.parameters())
        self.sizes = [p.numel() for p in self.params]
        self.grads = torch.zeros(SLOTS, sum(self.sizes)).share_memory_()
        self.optimisers = [self._optimisers(rank, args.workers) for rank in range(args.workers)]
        for muon, adam in self.optimisers:
            for tensor in (*muon.state(), *adam.state()):
                tensor.share_memory_()
        # Sums by class over micro-batches: loss, right tokens, tokens, right spans, spans.
        self.sums = torch.zeros(args.workers, len(CLASSES), 5, dtype=torch.float64).share_memory_()
        # Progress 0..1, the rate's factor of the step, and whether to validate after it; written by process 0. Each has
        # its own place: a place written again before every process read it would let them take different branches.
        self.control = torch.zeros(3, dtype=torch.float64).share_memory_()
        self.next = mp.Value("i", 0)
        self.barrier = mp.Barrier(args.workers)

    def _optimisers(self, rank: int, workers: int) -> tuple[Muon, AdamW]:
        names = [n for n, _ in self.model.named_parameters()]
        mine = [i for i in range(len(self.params)) if i % workers == rank]
        matrices = [i for i in mine if names[i].startswith("layers.")]
        rest = [i for i in mine if i not in matrices]
        self.owned = getattr(self, "owned", []) + [(matrices, rest)]
        muon = Muon([(self.params[i].data, self._parts(names[i])) for i in matrices])
        return muon, AdamW([self.params[i].data for i in rest])

    def _parts(self, name: str) -> tuple[int, ...]:
        s = self.model.shape
        kv = s.kv_heads * s.head_dim
        if name.endswith("qkv.weight"):
            return (s.width, kv, kv)
        if name.endswith("gate_up.weight"):
            return (s.hidden, s.hidden)
        return (s.width,)

    def views(self, flat: torch.Tensor) -> list[torch.Tensor]:
        return [g.view_as(p) for g, p in zip(flat.split(self.sizes), self.params)]

    def take(self, count: int) -> int | None:
        """The next micro-batch nobody has taken, or None."""
        with self.next.get_lock():
            index = self.next.value
            self.next.value += 1
        return index if index < count else None


def run_batch(shared: Shared, rank: int, corpus: Corpus, episodes: np.ndarray,
              weights: tuple[torch.Tensor, float] | None) -> None:
    """One micro-batch forward; backward too where weights are given (by class, and a verdict's factor). Adds to sums."""
    batch = micro_batch(corpus, episodes)
    ids, pick = torch.from_numpy(batch.ids), torch.from_numpy(batch.pick)
    labels, cls = torch.from_numpy(batch.labels), torch.from_numpy(batch.cls.astype(np.int64))
    sums = shared.sums[rank]
    if weights is not None:
        loss = shared.model(ids, pick, labels)
        by_class, factor = weights
        (loss * by_class[cls] * torch.from_numpy(np.where(batch.verdict, np.float32(factor), np.float32(1)))).sum().backward()
        sums[:, 0].index_add_(0, cls, loss.detach().double())
        sums[:, 2].index_add_(0, cls, torch.ones(len(cls), dtype=torch.float64))
        return
    with torch.no_grad():
        logits = shared.model.states(ids, pick) @ shared.model.embed.weight.T
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        right = (logits.argmax(-1) == labels).numpy()
    sums[:, 0].index_add_(0, cls, loss.double())
    sums[:, 1].index_add_(0, cls, torch.from_numpy(right).double())
    sums[:, 2].index_add_(0, cls, torch.ones(len(cls), dtype=torch.float64))
    starts = np.flatnonzero(np.r_[True, (np.diff(batch.pick) != 1) | (np.diff(batch.cls.astype(int)) != 0)])
    whole = torch.from_numpy(np.minimum.reduceat(right, starts)).double()
    sums[:, 3].index_add_(0, cls[starts], whole)
    sums[:, 4].index_add_(0, cls[starts], torch.ones_like(whole))


def rate(args: argparse.Namespace, step: int, progress: float) -> float:
    """Warm-up by steps, then 1, then linear to `--final` over the cooldown."""
    left = min(1.0, max(0.0, 1 - progress) / args.cooldown) if args.cooldown > 0 else 1.0
    return min(1.0, (step + 1) / args.warmup_steps) * (args.final + (1 - args.final) * left)


def work(rank: int, args: argparse.Namespace, shared: Shared, stages: list[Stage], val: Corpus, start: dict) -> None:
    """One process: the whole run. Process 0 also keeps the clock, the files and the reports."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # gradients behind matrices that start at 0 are denormal, and those are slow
    slots = [shared.views(slot) for slot in shared.grads]
    muon, adam = shared.optimisers[rank]
    matrices, rest = shared.owned[rank]
    samplers = [Sampler(s.corpus, args.seed + 7919 * i, args.row_tokens, args.step_tokens, SLOTS) for i, s in enumerate(stages)]
    val_groups = Sampler(val, 0, args.row_tokens, 1 << 60, 1 << 30, pool=1 << 30)
    val_groups._refill()
    book = Book(args, shared, start) if rank == 0 else None
    counts = [*start["counts"], *[0] * len(stages)][: len(stages)]
    for sampler, count in zip(samplers, counts):
        for _ in range(count):
            sampler.step()
    step = start["step"]
    class_weight = torch.tensor([args.key_weight if c.split("_")[1] in KEY_VERBS else 1.0 for c in CLASSES])
    while True:
        if book:
            shared.next.value = 0
            shared.control[0] = book.progress()
            shared.control[1] = rate(args, step, book.progress())
        shared.barrier.wait()
        progress, factor, _ = shared.control.tolist()
        if progress >= 1:
            break
        which = next((i for i, s in enumerate(stages) if progress < s.until), len(stages) - 1)
        groups = samplers[which].step()
        counts[which] += 1
        corpus = stages[which].corpus
        total = sum(episode_weight(corpus, class_weight, args.verdict_weight, g) for g in groups)
        while (index := shared.take(len(groups))) is not None:
            for p, view in zip(shared.params, slots[index]):
                p.grad = view.zero_()
            run_batch(shared, rank, corpus, groups[index], (class_weight / total, args.verdict_weight))
        shared.barrier.wait()
        grads = shared.views(shared.grads[: len(groups)].sum(0))
        norm = math.sqrt(sum(float(g.square().sum()) for g in grads))
        if math.isfinite(norm):
            muon.step([grads[i] for i in matrices], args.muon_lr * factor)
            adam.step([grads[i] for i in rest], args.adam_lr * factor)
        shared.barrier.wait()
        step += 1
        if book:
            book.stepped(step, counts, which, sum(int(corpus.lengths()[g].sum()) for g in groups), factor, norm)
            shared.control[2] = float(book.due())
            shared.next.value = 0
        shared.barrier.wait()
        if shared.control[2] > 0:
            validate(shared, rank, val, val_groups.waiting)
            if book:
                book.validated()
            shared.barrier.wait()
    if book:
        shared.next.value = 0
    shared.barrier.wait()
    validate(shared, rank, val, val_groups.waiting)
    if book:
        book.validated()
        book.save("final.pt")


def episode_weight(corpus: Corpus, class_weight: torch.Tensor, verdict_weight: float, episodes: np.ndarray) -> float:
    """The summed loss weight of a micro-batch's trained tokens."""
    total, by_class = 0.0, class_weight.numpy()
    for e in episodes:
        cls = corpus.cls[corpus.offsets[e] + 1 : corpus.offsets[e + 1]]
        trained = cls < len(CLASSES)
        factor = np.where(verdicts(cls), verdict_weight, 1.0)[trained]
        total += float((by_class[cls[trained]] * factor).sum())
    return total


def validate(shared: Shared, rank: int, val: Corpus, groups: list[np.ndarray]) -> None:
    shared.sums[rank].zero_()
    shared.barrier.wait()
    while (index := shared.take(len(groups))) is not None:
        run_batch(shared, rank, val, groups[index], None)
    shared.barrier.wait()


LOGGED_SHARE = 0.01
"""Of a run, between two rows of train.csv: a short run has rows too."""


class Book:
    """The clock, the CSV files and the checkpoints of a run."""

    def __init__(self, args: argparse.Namespace, shared: Shared, start: dict):
        self.args, self.shared = args, shared
        self.base_minutes, self.tokens = start["minutes"], start["tokens"]
        self.began = time.monotonic()
        self.step, self.counts = start["step"], list(start["counts"])
        self.saved, self.logged = self.minutes(), self.progress()
        self.kept_stable = False
        self.mark = (self.minutes(), self.tokens)
        args.out.mkdir(parents=True, exist_ok=True)
        self.train_csv = args.out / "train.csv"
        self.val_csv = args.out / "val.csv"
        if not (args.resume and self.val_csv.exists()):
            self._row(self.train_csv, "w", ["step", "minutes", "tokens", "stage", "rate", "grad_norm", "tokens_per_s",
                                            "loss", "thought", "action", *REPORT])
            self._row(self.val_csv, "w", ["step", "minutes", "tokens", "loss", "thought", "action",
                                          *(f"{c}_{m}" for c in REPORT for m in ("loss", "exact"))])

    def minutes(self) -> float:
        return self.base_minutes + (time.monotonic() - self.began) / 60

    def progress(self) -> float:
        return max(self.minutes() / self.args.minutes, self.tokens / self.args.tokens)

    def stepped(self, step: int, counts: list[int], stage: int, tokens: int, factor: float, norm: float) -> None:
        self.step, self.counts, self.tokens = step, list(counts), self.tokens + tokens
        if not self.kept_stable and self.progress() >= 1 - self.args.cooldown:
            self.save("stable.pt")
            self.kept_stable = True
        if self.progress() - self.logged < LOGGED_SHARE:
            return
        self.logged = self.progress()
        sums = self.shared.sums.sum(0)
        self.shared.sums.zero_()
        speed = (self.tokens - self.mark[1]) / (self.minutes() - self.mark[0]) / 60
        self.mark = (self.minutes(), self.tokens)
        row = [step, f"{self.minutes():.2f}", self.tokens, stage, f"{factor:.3f}", f"{norm:.3f}", f"{speed:.0f}",
               *summary(sums), *(ratio(sums[CLASSES.index(c), 0], sums[CLASSES.index(c), 2]) for c in REPORT)]
        self._row(self.train_csv, "a", row)
        print(" ".join(str(v) for v in row[:10]), flush=True)

    def due(self) -> bool:
        if self.minutes() - self.saved < self.args.save_minutes:
            return False
        self.saved = self.minutes()
        self.save("last.pt")
        return True

    def validated(self) -> None:
        sums = self.shared.sums.sum(0)
        cells = []
        for c in REPORT:
            row = sums[CLASSES.index(c)]
            cells += [ratio(row[0], row[2]), ratio(row[3], row[4])]
        row = [self.step, f"{self.minutes():.2f}", self.tokens, *summary(sums), *cells]
        self._row(self.val_csv, "a", row)
        named = {c: f"{cells[2 * i]}/{cells[2 * i + 1]}" for i, c in enumerate(REPORT)}
        print("val", *row[:6], json.dumps(named), flush=True)
        self.shared.sums.zero_()

    def save(self, name: str) -> None:
        state = {
            "shape": self.shared.model.shape.as_dict(), "model": self.shared.model.state_dict(),
            "optimisers": [(m.state(), a.state()) for m, a in self.shared.optimisers],
            "minutes": self.minutes(), "tokens": self.tokens, "step": self.step, "counts": self.counts,
            "settings": {k: str(v) for k, v in vars(self.args).items()},
        }
        partial = self.args.out / f"{name}.partial"
        torch.save(state, partial)
        os.replace(partial, self.args.out / name)

    @staticmethod
    def _row(path: Path, mode: str, row: list) -> None:
        with path.open(mode, newline="") as f:
            csv.writer(f).writerow(row)


def ratio(a: torch.Tensor, b: torch.Tensor) -> str:
    return f"{float(a / b):.4f}" if b > 0 else ""


def summary(sums: torch.Tensor) -> list[str]:
    """Mean loss of all trained tokens, of thoughts, of actions."""
    return [ratio(part[:, 0].sum(), part[:, 2].sum()) for part in (sums, sums[0::2], sums[1::2])]


def main() -> None:
    args = parse_arguments()
    torch.set_num_threads(1)
    stages = []
    for text in args.stage:
        path, _, until = text.rpartition(":")
        stages.append(Stage(load_corpus(Path(path)), float(until)))
    start = {"minutes": 0.0, "tokens": 0, "step": 0, "counts": []}
    saved = torch.load(args.resume, weights_only=False) if args.resume else None
    first = load_policy(args.init) if args.init and not saved else None
    asked = Shape(**{f.name: getattr(args, f.name) for f in fields(Shape)})
    shared = Shared(args, Shape(**saved["shape"]) if saved else first.shape if first else asked)
    shape = shared.model.shape
    if first:
        shared.model.load_state_dict(first.state_dict())
    if saved:
        shared.model.load_state_dict(saved["model"])
        for (muon, adam), (m, a) in zip(shared.optimisers, saved["optimisers"], strict=True):
            for tensor, value in zip((*muon.state(), *adam.state()), (*m, *a), strict=True):
                tensor.copy_(value)
        start = {key: saved[key] for key in start}
    val = load_corpus(args.val)
    print(f"{sum(shared.sizes)} parameters; {json.dumps(shape.as_dict())}", flush=True)
    context = mp.get_context("fork")
    others = [context.Process(daemon=True, target=work, args=(rank, args, shared, stages, val, start)) for rank in range(1, args.workers)]
    for process in others:
        process.start()
    try:
        work(0, args, shared, stages, val, start)
    finally:
        for process in others:
            process.join(timeout=30)
            if process.is_alive():
                process.terminate()


if __name__ == "__main__":
    main()
