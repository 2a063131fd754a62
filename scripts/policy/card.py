"""The model card's numbers, as Markdown: what played episodes say of success and of repetition.

card.py --rows models/household-2m/rows [--into models/household-2m/README.md]

A file `valid_seen-2.jsonl.gz` holds the episodes of seed 2 (rollout.py); a column is the files that differ in the seed alone.
"""

import argparse
import gzip
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

FIFTHS = range(5)
NAME = "card: written by scripts/policy/card.py"
POSITIONS = (0, 512, 1024, 1536, 2048, 4096)
"""Edges of the prompt lengths, in tokens, for the loop rate against position."""


def wilson(won: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927): wilson(6, 20) is 0.145 to 0.519."""
    if n == 0:
        return 0.0, 1.0
    p, d = won / n, 1 + z * z / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (p + z * z / (2 * n) - half) / d, (p + z * z / (2 * n) + half) / d


def repeats(steps: list[dict]) -> list[bool]:
    """For each step, whether the same action met the same state of the world before."""
    seen: set[tuple[str, str]] = set()
    out = []
    for step in steps:
        pair = (step["before"], step["action"])
        out.append(pair in seen)
        seen.add(pair)
    return out


def cycle(steps: list[dict]) -> int | None:
    """The period, 1 to 3, in which the last actions ran three times over; None when they did not."""
    actions = [s["action"] for s in steps]
    for period in (1, 2, 3):
        tail = actions[-3 * period :]
        if len(tail) == 3 * period and all(a == b for a, b in zip(tail, tail[period:])):
            return period
    return None


def fifth(steps: list[dict], which: int) -> list[dict]:
    return [s for i, s in enumerate(steps) if 5 * i // len(steps) == which]


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def number(x: float, digits: int) -> str:
    return "–" if math.isnan(x) else f"{x:.{digits}f}"


def percent(x: float) -> str:
    return "–" if math.isnan(x) else f"{100 * x:.0f} %"


def solved_in_words(episodes: list[dict]) -> str:
    won, n = sum(e["solved"] for e in episodes), len(episodes)
    low, high = wilson(won, n)
    return f"{won} of {n}, {percent(won / n) if n else '–'} ({percent(low)} to {percent(high)})"


def solved_by_seed(episodes: list[dict]) -> str:
    by_seed = defaultdict(list)
    for e in episodes:
        by_seed[e["seed"]].append(e["solved"])
    return ", ".join(f"{sum(won)} of {len(won)}" for _, won in sorted(by_seed.items()))


def repetition(steps: list[dict]) -> float:
    return mean(s["repetition"] for s in steps)


def looped(episodes: list[dict]) -> float:
    """The share of episodes whose mean repetition in the last fifth is above 0.8."""
    return mean(repetition(fifth(e["steps"], 4)) > 0.8 for e in episodes if e["steps"])


def rows(kinds: list[str]) -> list[tuple[str, Callable[[list[dict]], str]]]:
    """A title, and how its cell is computed from a column's episodes."""
    out: list[tuple[str, Callable[[list[dict]], str]]] = [("solved (95 % Wilson interval)", solved_in_words)]
    out.append(("solved by seed", solved_by_seed))
    for kind in kinds:
        out.append((f"`{kind}`", lambda es, k=kind: solved_in_words([e for e in es if e["kind"] == k])))
    out.append(("steps of successes: mean", lambda es: number(mean(len(e["steps"]) for e in es if e["solved"]), 1)))
    for title, wanted in (("successes", True), ("failures", False)):
        part = lambda es, w=wanted: [e for e in es if e["solved"] == w]
        pooled = lambda es, part=part: [s for e in part(es) for s in e["steps"]]
        out.append((f"{title}: repetition in fifths", lambda es, part=part: ", ".join(
            number(mean(repetition(fifth(e["steps"], f)) for e in part(es) if len(e["steps"]) >= 5), 2) for f in FIFTHS)))
        out.append((f"{title}: last fifth above 0.8", lambda es, part=part: percent(looped(part(es)))))
        out.append((f"{title}: steps that answer `Nothing happens.`", lambda es, pooled=pooled: percent(
            mean(s["observation"] == "Nothing happens." for s in pooled(es)))))
        out.append((f"{title}: steps that repeat a (state, action) pair", lambda es, part=part: percent(
            mean(r for e in part(es) for r in repeats(e["steps"])))))
        out.append((f"{title}: end in a cycle of 1, 2, 3 actions", lambda es, part=part: ", ".join(
            percent(mean(cycle(e["steps"]) == p for e in part(es))) for p in (1, 2, 3))))
    for low, high in zip(POSITIONS, POSITIONS[1:]):
        out.append((f"(state, action) repeats at prompts of {low} to {high} tokens", lambda es, a=low, b=high: percent(
            mean(r for e in es for s, r in zip(e["steps"], repeats(e["steps"])) if a <= s["position"] < b))))
    return out


def read(folder: Path) -> dict[str, list[dict]]:
    """The episodes of each column, with their seed."""
    columns = defaultdict(list)
    for path in sorted(folder.glob("*.jsonl.gz")):
        name, seed = re.fullmatch(r"(.+)-(\d+)\.jsonl\.gz", path.name).groups()
        with gzip.open(path, "rt") as lines:
            columns[name] += [{**json.loads(line), "seed": int(seed)} for line in lines]
    return columns


def table(columns: dict[str, list[dict]]) -> str:
    kinds = sorted({e["kind"] for es in columns.values() for e in es})
    cells = [["", *columns]] + [[title, *(cell(es) for es in columns.values())] for title, cell in rows(kinds)]
    return markdown(cells)


def markdown(cells: list[list[str]]) -> str:
    """Rows of cells as a Markdown table, the head first, in columns of equal width."""
    widths = [max(len(r[i]) for r in cells) for i in range(len(cells[0]))]
    line = lambda r: "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths)) + " |"
    return "\n".join([line(cells[0]), "| " + " | ".join("-" * w for w in widths) + " |", *map(line, cells[1:])])


def into_marks(path: Path, name: str, text: str) -> None:
    """Replaces what stands between the comments of that name in a Markdown file; adds them where they are not."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name.partition(':')[0]} -->"
    before, _, rest = (path.read_text() if path.exists() else "").partition(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}" + (rest.partition(end)[2] or "\n"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="a Markdown file whose part between the card's marks is replaced")
    args = parser.parse_args()
    text = table(read(args.rows))
    into_marks(args.into, NAME, text) if args.into else print(text)


if __name__ == "__main__":
    main()
