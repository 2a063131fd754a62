"""Turns JSONL episodes into one file of token arrays; trains the tokenizer on the first file when it is not there yet."""

import argparse
import json
from itertools import islice
from pathlib import Path

import numpy as np

from data import CLASSES, encode, join, texts_of
from tokenizer import load_tokenizer, train_tokenizer

CHUNK = 2000
"""Episodes encoded at a time, which bounds memory."""
TOKENIZER_EPISODES = 4000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in", dest="sources", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--vocab", type=int, default=1024)
    args = parser.parse_args()
    if not args.tokenizer.exists():
        with args.sources[0].open() as f:
            train_tokenizer(texts_of(list(islice(f, TOKENIZER_EPISODES))), args.vocab).save(str(args.tokenizer))
    tokenizer = load_tokenizer(args.tokenizer)
    parts = []
    for source in args.sources:
        with source.open() as f:
            while lines := list(islice(f, CHUNK)):
                parts.append(encode(lines, tokenizer))
    corpus = join(parts)
    corpus.save(args.out)
    lengths = corpus.lengths()
    trained = np.bincount(corpus.cls[corpus.cls < len(CLASSES)], minlength=len(CLASSES))
    kinds, counts = np.unique(corpus.kinds, return_counts=True)
    print(json.dumps({
        "episodes": len(lengths),
        "tokens": int(lengths.sum()),
        "trained_share": round(float(trained.sum() / lengths.sum()), 4),
        "episode_tokens": {str(q): int(np.percentile(lengths, q)) for q in (5, 50, 95, 100)},
        "kinds": dict(zip(kinds.tolist(), counts.tolist())),
        "trained_tokens": {c: int(n) for c, n in zip(CLASSES, trained)},
    }))


if __name__ == "__main__":
    main()
