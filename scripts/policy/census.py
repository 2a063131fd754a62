"""What happens at the update boundaries of `attt run --method attt` at its defaults, as Markdown, split by success.

census.py --rows FILE.jsonl.gz [--into README.md]                        (the table)
census.py --rows FILE.jsonl.gz --model FILE.gguf [--last 139] ...        (plays first what the rows lack of valid_seen)

Ten tasks are played at a time and then stand in the rows, so that it goes on there after an interruption.
"""

import argparse
import gzip
import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from card import into_marks, markdown, percent
from make import HERE, TASKS, run

CHUNK, SEED = 10, 1
NAME = "census: written by scripts/policy/census.py"


def compact(events: Iterable[dict]) -> list[dict]:
    """A row an episode that ended: task, whether it was solved, boundaries, r_k of the steps that changed the world."""
    rows: list[dict] = []
    row: dict = {}
    for event in events:
        if event["type"] == "episode_started":
            row = {"task": event["task"]["index"], "boundaries": [], "healthy": [], "solved": False, "steps": 0}
        elif event["type"] == "boundary":
            kept = ("t", "trigger", "outcome", "ratio", "novelty", "kl", "klInContext", "restored")
            row["boundaries"].append({k: event[k] for k in kept})
        elif event["type"] == "step":
            row["steps"] = event["t"]
            if event["t"] > 1 and event["actionClass"] == "effective":
                row["healthy"].append(round(event["repetition"], 4))
        elif event["type"] == "episode_ended":
            if event["error"] is not None:
                raise SystemExit(f"Task {row['task']} ended with an error, which says nothing about the policy: {event['error']}")
            row["solved"] = event["reason"] == "solved"
            rows.append(row)
    return rows


def middle(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f}" if values else "–"


def column(rows: list[dict], named: list[str]) -> list[tuple[str, str]]:
    """A title and its cell; `named` are the outcomes to count."""
    boundaries = [b for r in rows for b in r["boundaries"]]
    outcomes = Counter(b["outcome"] for b in boundaries)
    cells = [("episodes", str(len(rows))), ("update boundaries", str(len(boundaries)))]
    cells += [(f"`{o}`", f"{outcomes[o]} ({percent(outcomes[o] / max(1, len(boundaries)))})") for o in named]
    healthy = [r for row in rows for r in row["healthy"]]
    kl = [b["kl"] for b in boundaries if b["outcome"] == "updated" and b["kl"] is not None]
    return cells + [
        ("episodes with a rollback", percent(sum(any(b["restored"] for b in r["boundaries"]) for r in rows) / max(1, len(rows)))),
        ("updates an episode: mean", f"{outcomes['updated'] / max(1, len(rows)):.1f}"),
        ("r_k of steps that changed the world: median", f"{middle(healthy)} of {len(healthy)}"),
        ("r_k of boundaries: median", middle([b["ratio"] for b in boundaries if b["ratio"] is not None])),
        ("KL of updates: median, largest", f"{middle(kl, 4)}, {max(kl, default=0):.4f}"),
    ]


def table(rows: list[dict]) -> str:
    named = sorted({b["outcome"] for r in rows for b in r["boundaries"]})
    won, lost = [r for r in rows if r["solved"]], [r for r in rows if not r["solved"]]
    columns = [column(part, named) for part in (won, lost, rows)]
    lines = [[title, *(cells[i][1] for cells in columns)] for i, (title, _) in enumerate(columns[0])]
    return markdown([["", "solved", "failed", "all"], *lines])


def read(path: Path) -> list[dict]:
    if not path.exists():
        return []
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def write(path: Path, rows: list[dict]) -> None:
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        out.write("".join(json.dumps(row) + "\n" for row in sorted(rows, key=lambda row: row["task"])).encode())


def play(model: Path, tasks: list[int]) -> list[dict]:
    with tempfile.TemporaryDirectory() as out:
        run("node", HERE.parent / "attt.mjs", "run", "--model", model, "--env", "household", "--split", "valid_seen",
            "--tasks", ",".join(map(str, tasks)), "--method", "attt", "--seed", SEED, "--out", out)
        with (Path(out) / "events.jsonl").open() as events:
            return compact(map(json.loads, events))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--last", type=int, default=TASKS["valid_seen"] - 1)
    parser.add_argument("--into", type=Path)
    args = parser.parse_args()
    rows = read(args.rows)
    if args.model:
        there = {row["task"] for row in rows}
        missing = [task for task in range(args.last + 1) if task not in there]
        for at in range(0, len(missing), CHUNK):
            rows += play(args.model, missing[at : at + CHUNK])
            write(args.rows, rows)
    text = table(rows)
    into_marks(args.into, NAME, text) if args.into else print(text)


if __name__ == "__main__":
    main()
