"""One update text of the run under a model: the log-probabilities, cross entropies and loss of its trained tokens."""
import torch
from run import settings

class Text:
    def __init__(self, event):
        tokens = event["tokens"]
        first = len(tokens["context"])  # what is only read before the text
        self.trained = [j for j, weight in enumerate(tokens["weights"]) if weight > 0]
        self.ids = torch.tensor([tokens["context"] + tokens["ids"]])
        self.rows = [first + j - 1 for j in self.trained]  # a position predicts the token after it
        self.labels = torch.tensor([tokens["ids"][j] for j in self.trained])
        self.weights = torch.tensor([tokens["weights"][j] for j in self.trained])
        self.mean_weight = event["meanWeight"]  # over all tokens that might be trained, the dropped ones too

    def logprobs(self, model):
        """Over the whole vocabulary, [trained tokens, V]."""
        return model(self.ids).logits[0, self.rows].log_softmax(-1)

    def cross_entropies(self, model):
        return -self.logprobs(model).gather(1, self.labels[:, None])[:, 0]

    def loss(self, cross_entropies):
        by_weights = (self.weights * cross_entropies).sum() / self.weights.sum()
        return by_weights if settings["loss_normalisation"] == "weights" else self.mean_weight * by_weights

    def kl(self, now, start):
        return (now.exp() * (now - start)).sum(-1).mean()
