"""What happened at the update boundaries of a run, as Markdown: census.py EVENTS.jsonl (of `attt run --method attt`)."""

import json
import statistics
import sys
from collections import Counter
from pathlib import Path


def main() -> None:
    episodes: list[dict] = []
    for line in Path(sys.argv[1]).read_text().splitlines():
        event = json.loads(line)
        if event["type"] == "episode_started":
            episodes.append({"boundaries": Counter(), "ratios": [], "solved": False})
        elif event["type"] == "boundary":
            episodes[-1]["boundaries"][event["outcome"]] += 1
        elif event["type"] == "step" and event["t"] > 1 and event["actionClass"] == "effective":
            episodes[-1]["ratios"].append(event["repetition"])
        elif event["type"] == "episode_ended":
            episodes[-1]["solved"] = event["reason"] == "solved"
    outcomes = sorted({o for e in episodes for o in e["boundaries"]})
    print(f"| episodes | {' | '.join(outcomes)} | median repetition of effective steps |")
    print("| --- |" + " --- |" * (len(outcomes) + 1))
    for title, solved in (("solved", True), ("failed", False)):
        part = [e for e in episodes if e["solved"] == solved]
        counts = sum((e["boundaries"] for e in part), Counter())
        ratios = [r for e in part for r in e["ratios"]]
        cells = [str(counts[o]) for o in outcomes] + [f"{statistics.median(ratios):.2f}" if ratios else "–"]
        print(f"| {len(part)} {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
