"""Makes the household adapter for SmolLM2-135M in one command: data, training, GGUF LoRA, loss curve.

.venv/bin/python scripts/policy/make_lora.py --base .cache/models/SmolLM2-135M-Instruct.Q4_1.gguf

About an hour of one core with AVX-512 BF16. Small rooms come first, and there are fewer detours than in the small
policy's data, so that more of each episode is trained: a token costs this base twenty times as much.
"""

import argparse
import json
import shutil
from pathlib import Path

from make import HERE, python, run

SMALL = {"small": 1, "recovery": 0.2, "noise": [[0, 0.85], [0.1, 0.15]], "wander": 0}
MIXED = {"small": 0.4, "recovery": 0.3, "noise": [[0, 0.8], [0.1, 0.2]], "wander": 0}
HELD = {"recovery": 0.3, "noise": [[0, 0.8], [0.1, 0.2]], "wander": 0}
CORPORA = (("small", SMALL, 1200, 21), ("mixed", MIXED, 3000, 22), ("val", HELD, 12, 29))
"""Name, changes to the mix of full rooms, episodes, seed."""
TOKENS = 400_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--tokens", type=float, default=TOKENS)
    parser.add_argument("--out", type=Path, default=Path("models/household-smollm2-lora"))
    parser.add_argument("--work", type=Path, default=Path(".cache/policy/lora"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for name, mix, episodes, seed in CORPORA:
        run("node", HERE / "run.mjs", HERE / "generate.ts", "--episodes", episodes, "--seed", seed, "--mix", json.dumps(mix),
            "--out", args.work / f"{name}.jsonl")
    result = args.work / "result"
    python("train_lora.py", "--base", args.base, "--stage", f"{args.work / 'small.jsonl'}:0.3",
           "--stage", f"{args.work / 'mixed.jsonl'}:1", "--val", args.work / "val.jsonl", "--out", result,
           "--tokens", args.tokens, "--lr", 0.0015, "--row-tokens", 1200, "--step-tokens", 1200)
    args.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(result / "lora.gguf", args.out / "household-smollm2-lora.gguf")
    python("lora_greedy.py", "--base", args.base, "--adapter", args.out / "household-smollm2-lora.gguf",
           "--episodes", args.work / "val.jsonl", "--out", "e2e/fixtures/policy/smollm2-lora.json")
    python("curve.py", "--train", result / "train.csv", "--val", result / "val.csv", "--out", args.out)


if __name__ == "__main__":
    main()
