"""Makes the household policy from nothing, in one command: data, tokenizer, training, GGUF, references, loss curve.

.venv/bin/python scripts/policy/make.py            (from the repository's root; about two hours on two quiet cores)

Two legs: the first learns from the expert's episodes; then the policy plays, the expert goes on from where it strayed
(DAgger), and the second leg learns from that and from more of the expert's episodes while its rate falls to 0. Lengths
are counted in tokens, so that a busy machine takes longer and does not train less. What is there already is kept: run
it again after an interruption and it goes on from the last checkpoint.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SEED = 1
FIRST = (("small", 6000, 0.3), ("mixed", 12000, 1.0))
"""Data mix, episodes, and the share of the first leg until which it is drawn from: small rooms first."""
SECOND = ("full", 6000)
VALIDATION = ("full", 120)
SHARES = (0.7, 0.3)
"""Of the run's tokens, by leg."""
ROLLOUTS = 256
"""Fresh scenes that the policy of the first leg plays; each gives up to CUTS episodes of the expert."""
CUTS = 3


def run(*command: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def script(name: str, *flags: object) -> None:
    """A TypeScript file of this folder."""
    run("node", HERE / "run.mjs", HERE / name, *flags)


def generate(out: Path, mix: str, episodes: int, seed: int) -> None:
    if not out.exists():
        partial = out.with_suffix(".partial")
        script("generate.ts", "--episodes", episodes, "--seed", seed, "--mix", mix, "--out", partial)
        partial.rename(out)


def prepare(tokenizer: Path, out: Path, *sources: Path) -> None:
    if not out.exists():
        run(sys.executable, HERE / "prepare.py", "--in", *sources, "--out", out, "--tokenizer", tokenizer)


def train(out: Path, *flags: object) -> None:
    """A leg; goes on from its last checkpoint where there is one."""
    if not (out / "final.pt").exists():
        resume = ["--resume", out / "last.pt"] if (out / "last.pt").exists() else []
        run(sys.executable, HERE / "train.py", "--out", out, *flags, *resume)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=float, default=2e7, help="length of both legs together")
    parser.add_argument("--name", default="household-2m")
    parser.add_argument("--work", type=Path, default=Path(".cache/policy/make"))
    args = parser.parse_args()
    work, model, python = args.work, Path("models") / args.name, sys.executable
    work.mkdir(parents=True, exist_ok=True)
    tokenizer, val, first, second = work / "tokenizer.json", work / "val.npz", work / "first", work / "second"
    for i, (mix, episodes) in enumerate([*((m, n) for m, n, _ in FIRST), SECOND]):
        generate(work / f"{mix}.jsonl", mix, episodes, 10 * SEED + 1 + i)
    generate(work / "val.jsonl", *VALIDATION, 10 * SEED + 9)
    # The mixed file first: the tokenizer is trained on it.
    for part in ("mixed", "small", "val"):
        prepare(tokenizer, work / f"{part}.npz", work / f"{part}.jsonl")
    stages = [f for mix, _, until in FIRST for f in ("--stage", f"{work / mix}.npz:{until}")]
    train(first, *stages, "--val", val, "--seed", SEED, "--tokens", SHARES[0] * args.tokens, "--minutes", 1e9, "--cooldown", 0)
    rollouts, takeovers = work / "rollouts.jsonl", work / "takeovers.jsonl"
    if not takeovers.exists():
        start = SEED * 100_000
        run(python, HERE / "rollout.py", "--model", first / "final.pt", "--tokenizer", tokenizer,
            "--seeds", f"{start}-{start + ROLLOUTS - 1}", "--out", rollouts)
        script("takeover.ts", "--rollouts", rollouts, "--cuts", CUTS, "--out", takeovers)
    prepare(tokenizer, work / "second.npz", work / f"{SECOND[0]}.jsonl", takeovers)
    train(second, "--init", first / "final.pt", "--stage", f"{work / 'second.npz'}:1", "--val", val, "--seed", SEED + 1,
          "--tokens", SHARES[1] * args.tokens, "--minutes", 1e9, "--cooldown", 1, "--warmup-steps", 10)
    run(python, HERE / "export.py", "--checkpoint", second / "final.pt", "--tokenizer", tokenizer,
        "--episodes", work / "val.jsonl", "--name", args.name, "--out", model, "--greedy", "e2e/fixtures/policy/greedy.json")
    run(python, HERE / "curve.py", "--train", first / "train.csv", second / "train.csv",
        "--val", first / "val.csv", second / "val.csv", "--out", model)


if __name__ == "__main__":
    main()
