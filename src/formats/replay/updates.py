"""Trains the run's updates again with PyTorch, from the adapter of the episode's start, rollbacks included."""
import copy
import torch
from run import events, settings
from texts import Text

def updates(model):
    """(boundary, its text, cross entropies before each step and after the last), the model as trained there."""
    params = [p for p in model.parameters() if p.requires_grad]
    adam, start = torch.optim.Adam(params, lr=settings["learning_rate"]), [p.detach().clone() for p in params]
    fresh = copy.deepcopy(adam.state_dict())
    for event in events:
        if event["type"] == "boundary" and event["losses"]:
            before, moments = [p.detach().clone() for p in params], copy.deepcopy(adam.state_dict())
            text = Text(event)
            found = [text.cross_entropies(model)]
            for _ in event["losses"][1:]:
                adam.zero_grad()
                text.loss(found[-1]).backward()
                if settings["max_grad_norm"] > 0:
                    torch.nn.utils.clip_grad_norm_(params, settings["max_grad_norm"])
                adam.step()
                found.append(text.cross_entropies(model))
            yield event, text, found
        restored, discarded = event.get("restored"), event.get("outcome") == "discarded_check"
        if restored or discarded:
            for p, value in zip(params, start if restored else before):
                p.data.copy_(value)
            adam.load_state_dict(fresh if restored else moments)
