"""Makes the household policy from nothing, in one command: data, tokenizer, training, GGUF, references, loss curve.

.venv/bin/python scripts/policy/make.py            (from the repository's root; about two hours on two quiet cores)

The length is counted in tokens, so that a busy machine takes longer and does not train less. What is there already is
kept: run it again after an interruption and it goes on from the last checkpoint.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SEED = 1
STAGES = (("small", 9000, 0.2), ("mixed", 14000, 0.5), ("full", 22000, 1.0))
"""Data mix, episodes, and the share of the run until which it is drawn from: small rooms first."""
VALIDATION = ("full", 120)


def run(*command: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def generate(out: Path, mix: str, episodes: int, seed: int) -> None:
    if not out.exists():
        partial = out.with_suffix(".partial")
        run("node", HERE / "run.mjs", HERE / "generate.ts", "--episodes", episodes, "--seed", seed, "--mix", mix, "--out", partial)
        partial.rename(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=float, default=2e7, help="length of the training run")
    parser.add_argument("--minutes", type=float, default=1e9, help="a limit by the clock, if the run should fit one")
    parser.add_argument("--name", default="household-2m")
    parser.add_argument("--work", type=Path, default=Path(".cache/policy/make"))
    args = parser.parse_args()
    work, model = args.work, Path("models") / args.name
    work.mkdir(parents=True, exist_ok=True)
    python = sys.executable
    tokenizer = work / "tokenizer.json"
    for i, (mix, episodes, _) in enumerate(STAGES):
        generate(work / f"{mix}.jsonl", mix, episodes, 10 * SEED + 1 + i)
    generate(work / "val.jsonl", *VALIDATION, 10 * SEED + 9)
    # The mixed file first: the tokenizer is trained on it.
    for part in ("mixed", "small", "full", "val"):
        if not (work / f"{part}.npz").exists():
            run(python, HERE / "prepare.py", "--in", work / f"{part}.jsonl", "--out", work / f"{part}.npz", "--tokenizer", tokenizer)
    checkpoints = work / "run"
    if not (checkpoints / "final.pt").exists():
        stages = [f for mix, _, until in STAGES for f in ("--stage", f"{work / mix}.npz:{until}")]
        resume = ["--resume", checkpoints / "last.pt"] if (checkpoints / "last.pt").exists() else []
        run(python, HERE / "train.py", *stages, "--val", work / "val.npz", "--out", checkpoints, "--seed", SEED,
            "--tokens", args.tokens, "--minutes", args.minutes, "--cooldown", 0.45, *resume)
    run(python, HERE / "export.py", "--checkpoint", checkpoints / "final.pt", "--tokenizer", tokenizer,
        "--episodes", work / "val.jsonl", "--name", args.name, "--out", model, "--greedy", "e2e/fixtures/policy/greedy.json")
    run(python, HERE / "curve.py", "--train", checkpoints / "train.csv", "--val", checkpoints / "val.csv", "--out", model)


if __name__ == "__main__":
    main()
