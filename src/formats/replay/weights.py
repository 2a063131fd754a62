"""Recomputes the n-gram counts and the token weights of every update text exactly, with Python alone."""
import json
from collections import Counter
from run import events, settings

def ngrams(ids):
    n = min(settings["ngram_n"], len(ids))
    return [tuple(ids[i:i + n]) for i in range(len(ids) - n + 1)] if ids else []

accepted, seen, checked, wrong = [], [], 0, 0
for event in events:
    if event["type"] == "step":
        (first, end), sampled = event["observationSpan"], event["generation"]["ids"]
        seen.append({"self": sampled, "env": event["observationIds"][first:end]}.get(settings["text_source"], []))
    if event["type"] == "boundary" and "summary" in event:
        seen[-1] = event["summary"]["ids"]
    if event["type"] == "boundary" and event["ratio"] is not None and (tokens := event["tokens"]):
        ids, history = tokens["ids"], accepted if settings["history"] == "accepted" else seen[:-1]
        before = Counter(gram for text in history for gram in ngrams(text))
        counts = [max((before[gram] for i, gram in enumerate(ngrams(ids)) if i <= j < i + len(gram)), default=0)
                  for j in range(len(ids))]
        weights = [max(settings["w_min"], 1 / (1 + count)) if w else 0 for count, w in zip(counts, tokens["weights"])]
        checked += len(ids)
        drawn = settings["method"] == "random_drop"  # there weights are drawn, not computed
        wrong += (counts != tokens["counts"]) + (weights != tokens["weights"] and not drawn)
        if event["outcome"] in ("updated", "observed"):
            accepted.append(ids)
print(json.dumps({"weights": checked, "wrong": wrong}))
raise SystemExit(wrong > 0)
