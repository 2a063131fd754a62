"""Recomputes every repetition ratio, n-gram count and token weight of the run exactly, with Python alone."""
import json, re, unicodedata
from collections import Counter
from pathlib import Path

events = [json.loads(line) for line in (Path(__file__).parents[1] / "events.jsonl").open(encoding="utf-8")]
settings = events[0]["manifest"]["settings"]
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

def words(text):
    kept = "".join(c if unicodedata.category(c) in {"Nd", "Mn", "Mc", "Me"} or unicodedata.category(c)[0] == "L" else " "
                   for c in unicodedata.normalize("NFKC", text).lower())
    found = set()
    for part in re.findall(f"[{UNSPACED}]+|[^{UNSPACED} ]+", kept):
        pairs = re.match(f"[{UNSPACED}]", part) and len(part) > 1
        found.update(part[i:i + 2] for i in range(len(part) - 1)) if pairs else found.add(part)
    return found

def ngrams(ids):
    n = min(settings["ngram_n"], len(ids))
    return [tuple(ids[i:i + n]) for i in range(len(ids) - n + 1)] if n else []

accepted, seen, checked, wrong = [], [], Counter(), Counter()
for event in events:
    if event["type"] == "step":
        (a, b), gen = event["observationSpan"], event["generation"]["ids"]
        seen.append({"self": gen, "env": event["observationIds"][a:b]}.get(settings["text_source"], []))
    if event["type"] == "boundary" and "summary" in event:
        seen[-1] = event["summary"]["ids"]
    if event["type"] != "boundary" or event["ratio"] is None:
        continue
    mine, tokens = words(event["text"]), event["tokens"]
    ratio = max((len(mine & w) / len(mine | w) for w, _ in accepted), default=0)
    checked["ratios"] += 1; wrong["ratios"] += ratio != event["ratio"]
    if tokens and settings["method"] != "random_drop":  # whose weights are drawn, not computed
        history = [ids for _, ids in accepted] if settings["history"] == "accepted" else seen[:-1]
        counts, ids = Counter(g for text in history for g in ngrams(text)), tokens["ids"]
        f = [max((counts[g] for i, g in enumerate(ngrams(ids)) if i <= j < i + len(g)), default=0) for j in range(len(ids))]
        w = [max(settings["w_min"], 1 / (1 + x)) if kept else 0 for x, kept in zip(f, tokens["weights"])]
        checked["weights"] += len(w); wrong["counts"] += f != tokens["counts"]; wrong["weights"] += w != tokens["weights"]
    if event["outcome"] in ("updated", "observed"):
        accepted.append((mine, tokens["ids"] if tokens else []))
print(json.dumps({"ratios": checked["ratios"], "weights": checked["weights"], "wrong": dict(wrong)}))
raise SystemExit(any(wrong.values()))
