"""Makes the household policy from nothing, in one command: data, tokenizer, training, GGUF, references, card.

.venv/bin/python scripts/policy/make.py                  (from the repository's root; about two hours on two quiet cores)
.venv/bin/python scripts/policy/make.py --scale 0.005    (every stage at that share of its size, into the work folder)

Its file is the one that ships. Lengths are counted in tokens, so that a
busy machine takes longer and does not train less, and equal flags give equal files whatever the number of processes.
What is there already is kept: run it again after an interruption and it goes on from the last checkpoint.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
NAME = "household-2m"
SEED = 1
CORPORA = {"mixed": (10_000, 1), "small": (4_000, 2), "full": (12_000, 3), "late": (2_400, 7)}
"""Episodes and seed (after SEED's digit) of each mix. The tokenizer is trained on the first."""
VALIDATION = 120
LEAST_EPISODES, LEAST_STEP = 10, 1024
"""Of a corpus, however small the scale (the references take ten episodes), and of an optimiser step, in tokens."""
TASKS = {"valid_seen": 140, "valid_unseen": 134}
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Leg:
    """Tokens and settings of one leg; `stages` are data mixes, each with the share of the leg until which it lasts."""

    name: str
    tokens: float
    rate: float
    stages: tuple[tuple[str, float], ...]
    cooldown: float = 0.0
    final: float = 0.0
    step_tokens: int = 8192
    verdict_weight: float = 1.0


FULL, MIXED, HALVES, LATE = (("full", 1.0),), (("mixed", 1.0),), (("mixed", 0.5), ("full", 1.0)), (("late", 1.0),)
LEGS = (
    Leg("1", 8.20e6, 0.02, (("small", 0.13), ("mixed", 0.36), ("full", 1.0)), cooldown=0.55),
    Leg("2", 1.65e6, 0.01, FULL),
    Leg("3", 1.80e6, 0.015, FULL),
    Leg("4", 2.19e6, 0.02, MIXED),
    Leg("5", 1.50e6, 0.02, MIXED),
    Leg("5b", 2.05e6, 0.016, HALVES, cooldown=1, final=0.45, step_tokens=4096),
    Leg("5c", 0.35e6, 0.0072, HALVES, cooldown=1, final=0.8, step_tokens=4096, verdict_weight=8),
    Leg("6", 1.87e6, 0.016, LATE, cooldown=0.75, step_tokens=4096, verdict_weight=6),
)


def run(*command: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def python(name: str, *flags: object) -> None:
    """A Python file of this folder."""
    run(sys.executable, HERE / name, *flags)


def corpus(work: Path, name: str, mix: str, episodes: int, seed: int) -> None:
    """Episodes of a mix as JSONL and as token arrays; the tokenizer too, where there is none yet."""
    lines, arrays = work / f"{name}.jsonl", work / f"{name}.npz"
    if not lines.exists():
        partial = lines.with_suffix(".partial")
        run("node", HERE / "run.mjs", HERE / "generate.ts", "--episodes", episodes, "--seed", seed, "--mix", mix, "--out", partial)
        partial.rename(lines)
    if not arrays.exists():
        python("prepare.py", "--in", lines, "--out", arrays, "--tokenizer", work / "tokenizer.json")


def train(work: Path, leg: Leg, seed: int, scale: float, init: Path | None) -> Path:
    """The leg's last checkpoint; goes on from an earlier one of the same leg where there is one."""
    out = work / f"leg-{leg.name}"
    if not (out / "final.pt").exists():
        start = ["--resume", out / "last.pt"] if (out / "last.pt").exists() else ["--init", init] if init else []
        stages = [f for mix, until in leg.stages for f in ("--stage", f"{work / mix}.npz:{until}")]
        python("train.py", "--out", out, *stages, "--val", work / "val.npz", "--seed", seed, "--tokens", leg.tokens * scale,
               "--muon-lr", leg.rate, "--adam-lr", leg.rate / 5, "--cooldown", leg.cooldown, "--final", leg.final,
               "--step-tokens", max(LEAST_STEP, round(leg.step_tokens * scale)), "--verdict-weight", leg.verdict_weight,
               "--warmup-steps", 40 if init is None else 10, *start)
    return out / "final.pt"


def pack(plain: Path, packed: Path) -> None:
    packed.parent.mkdir(parents=True, exist_ok=True)
    with plain.open("rb") as lines, gzip.GzipFile(packed, "wb", mtime=0) as out:
        shutil.copyfileobj(lines, out)


def evaluate(work: Path, model: Path, scale: float) -> None:
    """Plays the frozen tasks with each seed, and once with training at its defaults; writes the card's tables."""
    seeds = SEEDS if scale == 1 else SEEDS[:1]
    games = [("q8_0", split, seed, f"{split}-{seed}") for split in TASKS for seed in seeds]
    games.append(("q4_0", "valid_seen", 1, "valid_seen-q4_0-1"))
    shutil.rmtree(model / "rows", ignore_errors=True)
    for quant, split, seed, name in games:
        rows, last = work / f"{name}.jsonl", max(1, round(TASKS[split] * scale)) - 1
        if not rows.exists():
            partial = rows.with_suffix(".partial")
            python("rollout.py", "--model", model / f"{NAME}-{quant}.gguf", "--split", split, "--tasks", f"0-{last}",
                   "--seed", seed, "--out", partial)
            partial.rename(rows)
        pack(rows, model / "rows" / f"{name}.jsonl.gz")
    python("card.py", "--rows", model / "rows", "--into", model / "README.md")
    census = work / "census.jsonl.gz"
    python("census.py", "--rows", census, "--model", model / f"{NAME}-q8_0.gguf",
           "--last", max(1, round(TASKS["valid_seen"] * scale)) - 1, "--into", model / "README.md")
    shutil.copy(census, model / census.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of episodes, tokens and tasks")
    parser.add_argument("--work", type=Path, default=Path(".cache/policy/make"))
    args = parser.parse_args()
    work, whole = args.work / f"{args.scale:g}", args.scale == 1
    model = Path("models") / NAME if whole else work / NAME
    greedy = Path("e2e/fixtures/policy/greedy.json") if whole else work / "greedy.json"
    work.mkdir(parents=True, exist_ok=True)
    model.mkdir(parents=True, exist_ok=True)
    at_scale = lambda n: max(LEAST_EPISODES, round(n * args.scale))
    for mix, (episodes, seed) in CORPORA.items():
        corpus(work, mix, mix, at_scale(episodes), 10 * SEED + seed)
    corpus(work, "val", "full", at_scale(VALIDATION), 10 * SEED + 9)
    last = None
    for i, leg in enumerate(LEGS):
        last = train(work, leg, SEED + i, args.scale, last)
    python("export.py", "--checkpoint", last, "--tokenizer", work / "tokenizer.json", "--episodes", work / "val.jsonl",
           "--name", NAME, "--out", model, "--greedy", greedy)
    curves = [work / f"leg-{leg.name}" for leg in LEGS]
    python("curve.py", "--train", *(c / "train.csv" for c in curves), "--val", *(c / "val.csv" for c in curves), "--out", model)
    evaluate(work, model, args.scale)


if __name__ == "__main__":
    main()
