"""Compares every loss, cross entropy and KL of the run with PyTorch, transformers and PEFT: python replay/losses.py BASE"""
import json, sys
import torch
from run import load_model, root, settings
from updates import updates

if extra := [key for key in ("kl_penalty", "ewc_strength", "replay_texts") if settings.get(key)]:
    raise SystemExit(f"This run adds {', '.join(extra)} to its loss; this script recomputes the plain token-weighted one.")
model = load_model(sys.argv[1], "adapter-start")
model.load_adapter(root / "adapter-start", "start")  # stays as it is
limits = {"loss": 1e-3, "kl": 1e-3, "ce_before": 0.02, "ce_after": 0.02}  # relative for means; nats for one token
errors = {what: [] for what in limits}
for event, text, found in updates(model):
    relative = lambda value, expected: abs(value - expected) / max(abs(expected), 1e-3)
    errors["loss"] += [relative(text.loss(ce).item(), loss) for ce, loss in zip(found, event["losses"])]
    for what, key, ce in (("ce_before", "ceBefore", found[0]), ("ce_after", "ceAfter", found[-1])):
        errors[what] += [abs(value - event["tokens"][key][j]) for value, j in zip(ce.tolist(), text.trained)]
    if event["kl"] is not None:
        with torch.no_grad():
            now = text.logprobs(model)
            model.set_adapter("start")
            errors["kl"].append(relative(text.kl(now, text.logprobs(model)).item(), event["kl"]))
            model.set_adapter("default")
worst = {what: {"largest_error": max(found), "limit": limits[what]} for what, found in errors.items() if found}
print(json.dumps(worst))
raise SystemExit(any(found["largest_error"] > found["limit"] for found in worst.values()))
