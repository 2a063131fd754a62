"""Trains the run's updates again with PyTorch, transformers and PEFT, and compares every loss, cross entropy and KL.
Usage: python replay/losses.py BASE, the GGUF file the run used or its Hugging Face id."""
import copy, json, sys
from pathlib import Path
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

root, base = Path(__file__).parents[1], Path(sys.argv[1])
events = [json.loads(line) for line in (root / "events.jsonl").open(encoding="utf-8")]
settings = events[0]["manifest"]["settings"]
if extra := [key for key in ("kl_penalty", "ewc_strength", "replay_texts") if settings.get(key)]:
    raise SystemExit(f"This run adds {', '.join(extra)} to its loss; this script recomputes the plain token-weighted one.")
where = {"pretrained_model_name_or_path": base.parent, "gguf_file": base.name} if base.suffix == ".gguf" else {"pretrained_model_name_or_path": sys.argv[1]}
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32), root / "adapter-start", is_trainable=True).eval()
params = [p for p in model.parameters() if p.requires_grad]
start, worst = [p.detach().clone() for p in params], {}

def set_to(values):
    for p, value in zip(params, values): p.data.copy_(value)
    return torch.optim.Adam(params, lr=settings["learning_rate"])

def compare(what, found, expected, floor):  # floor: |expected| below it counts as it; None: differences in nats
    errors = [abs(f - e) / (max(abs(e), floor) if floor else 1) for f, e in zip(found, expected) if e is not None]
    worst[what] = max(worst.get(what, 0), *errors)

adam = set_to(start)
for event in events:
    if event["type"] == "boundary" and event["losses"]:
        tokens = event["tokens"]
        ids, weights = tokens["context"] + tokens["ids"], [0] * len(tokens["context"]) + tokens["weights"]
        rows = [j - 1 for j, w in enumerate(weights) if w > 0]
        w, labels = torch.tensor([weights[j + 1] for j in rows]), torch.tensor([ids[j + 1] for j in rows])
        logp = lambda: model(torch.tensor([ids])).logits[0, rows].log_softmax(-1)
        ce = lambda: -logp().gather(1, labels[:, None])[:, 0]
        loss = lambda c: (w * c).sum() / (w.sum() if settings["loss_normalisation"] == "weights" else len(rows))
        before, moments = [p.detach().clone() for p in params], copy.deepcopy(adam.state_dict())
        ces = [ce()]
        for _ in event["losses"][1:]:
            adam.zero_grad(); loss(ces[-1]).backward()
            if settings["max_grad_norm"] > 0: torch.nn.utils.clip_grad_norm_(params, settings["max_grad_norm"])
            adam.step(); ces.append(ce())
        compare("loss", [loss(c).item() for c in ces], event["losses"], 1e-3)
        kept = [j + 1 - len(tokens["context"]) for j in rows]
        compare("ce_before", ces[0].tolist(), [tokens["ceBefore"][j] for j in kept], None)
        compare("ce_after", ces[-1].tolist(), [tokens["ceAfter"][j] for j in kept], None)
        if event["kl"] is not None:
            with torch.no_grad():
                now, trained = logp(), [p.detach().clone() for p in params]
                for p, value in zip(params, start): p.data.copy_(value)
                compare("kl", [(now.exp() * (now - logp())).sum(-1).mean().item()], [event["kl"]], 1e-3)
                for p, value in zip(params, trained): p.data.copy_(value)
        if event["outcome"] == "discarded_check":
            adam = set_to(before)
            adam.load_state_dict(moments)
    if event.get("restored"): adam = set_to(start)
limits = {"loss": 1e-3, "kl": 1e-3, "ce_before": 0.02, "ce_after": 0.02}  # relative for means; nats for one token, as for a logit
print(json.dumps({what: {"largest_error": error, "limit": limits[what]} for what, error in worst.items()}))
raise SystemExit(any(error > limits[what] for what, error in worst.items()))
