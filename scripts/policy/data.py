"""Episodes as token arrays, and batches of them. Knows the chat layout and which tokens are trained; no network."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from tokenizer import SPECIALS

VERBS = ("go", "take", "move", "open", "close", "use", "heat", "cool", "clean", "examine", "look", "inventory", "other")
CLASSES = tuple(f"{part}_{verb}" for verb in VERBS for part in ("thought", "action"))
"""A trained token's class: the part of the turn it is in, and the verb of the turn's action."""
UNTRAINED = 255
START, END = 1, 2


def verb_class(content: str) -> int:
    """The index of the verb of a turn `Thought: ...\\nAction: VERB ...`."""
    words = content.rpartition("\nAction:")[2].split()
    verb = words[0] if words else "other"
    return VERBS.index(verb) if verb in VERBS else VERBS.index("other")


@dataclass(frozen=True)
class Corpus:
    """Episodes end to end: ids [N] uint16, cls [N] uint8 (of the token itself), offsets [E + 1], kind of each."""

    ids: np.ndarray
    cls: np.ndarray
    offsets: np.ndarray
    kinds: np.ndarray

    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def save(self, path: Path) -> None:
        np.savez(path, ids=self.ids, cls=self.cls, offsets=self.offsets, kinds=self.kinds)


def load_corpus(path: Path) -> Corpus:
    with np.load(path) as f:
        return Corpus(f["ids"], f["cls"], f["offsets"], f["kinds"])


def encode(lines: list[str], tokenizer: Tokenizer) -> Corpus:
    """Encodes JSONL episodes as `<|im_start|>role\\ncontent<|im_end|>\\n` turns, cut after the last trained turn.

    Trained are a target turn's content and its `<|im_end|>`, exactly what the policy samples after the prompt
    `<|im_start|>assistant\\n`.
    """
    pieces: list[str] = []
    plan: list[tuple[str, list[dict]]] = []
    for line in lines:
        episode = json.loads(line)
        turns = episode["turns"]
        last = max((i for i, t in enumerate(turns) if t.get("target")), default=-1)
        if last < 0:
            continue
        plan.append((episode["kind"], turns[: last + 1]))
        for turn in turns[: last + 1]:
            if turn["role"] == "assistant":
                thought, cut, action = turn["content"].rpartition("\nAction:")
                pieces += [thought, cut + action]
            else:
                pieces += [f"{turn['role']}\n{turn['content']}", ""]
    encoded = iter([e.ids for e in tokenizer.encode_batch(pieces, add_special_tokens=False)])
    reply = tokenizer.encode("assistant\n", add_special_tokens=False).ids
    newline = tokenizer.encode("\n", add_special_tokens=False).ids
    ids: list[int] = []
    cls: list[int] = []
    offsets, kinds = [0], []
    for kind, turns in plan:
        for turn in turns:
            first, second = next(encoded), next(encoded)
            head = [START, *(reply if turn["role"] == "assistant" else [])]
            ids += [*head, *first, *second, END, *newline]
            cls += [UNTRAINED] * len(head)
            if turn["role"] == "assistant" and turn["target"]:
                verb = 2 * verb_class(turn["content"])
                cls += [verb] * len(first) + [verb + 1] * (len(second) + 1)
            else:
                cls += [UNTRAINED] * (len(first) + len(second) + 1)
            cls += [UNTRAINED] * len(newline)
        offsets.append(len(ids))
        kinds.append(kind)
    return Corpus(np.array(ids, np.uint16), np.array(cls, np.uint8), np.array(offsets, np.int64), np.array(kinds))


def join(parts: list[Corpus]) -> Corpus:
    """Corpora one after another."""
    starts = np.cumsum([0, *(len(p.ids) for p in parts)])
    offsets = [np.zeros(1, np.int64), *(p.offsets[1:] + s for p, s in zip(parts, starts))]
    return Corpus(
        np.concatenate([p.ids for p in parts]),
        np.concatenate([p.cls for p in parts]),
        np.concatenate(offsets),
        np.concatenate([p.kinds for p in parts]),
    )


def texts_of(lines: list[str]):
    """Every turn's text, for training a tokenizer."""
    for line in lines:
        for turn in json.loads(line)["turns"]:
            yield f"{turn['role']}\n{turn['content']}"


@dataclass(frozen=True)
class MicroBatch:
    """Right-padded ids [B, T]; flat positions, their labels, classes, and whether they are a verdict [N]."""

    ids: np.ndarray
    pick: np.ndarray
    labels: np.ndarray
    cls: np.ndarray
    verdict: np.ndarray


def verdicts(cls: np.ndarray) -> np.ndarray:
    """Where a trained thought says what was seen: `here` or the number in `Thought: Check fork here: No` and `Check fork 1`.

    That is the fifth token where the name is one token. In other thoughts it is some token as good as another.
    """
    trained = cls != UNTRAINED
    starts = np.flatnonzero(trained & ~np.r_[False, trained[:-1]]) + 4
    mask = np.zeros(len(cls), bool)
    mask[starts[starts < len(cls)]] = True
    return mask


def micro_batch(corpus: Corpus, episodes: np.ndarray, pad: int = SPECIALS.index("<|endoftext|>")) -> MicroBatch:
    """Lays episodes side by side; a label is the token after its position. Inputs stop before the last trained token."""
    spans = [(corpus.offsets[e], corpus.offsets[e + 1]) for e in episodes]
    width = max(b - a for a, b in spans) - 1
    ids = np.full((len(spans), width), pad, np.int64)
    cls = np.full((len(spans), width), UNTRAINED, np.uint8)
    labels = np.zeros((len(spans), width), np.int64)
    for row, (a, b) in enumerate(spans):
        n = b - a - 1
        ids[row, :n] = corpus.ids[a : b - 1]
        labels[row, :n] = corpus.ids[a + 1 : b]
        cls[row, :n] = corpus.cls[a + 1 : b]
    pick = np.flatnonzero(cls.ravel() != UNTRAINED)
    return MicroBatch(ids, pick, labels.ravel()[pick], cls.ravel()[pick], verdicts(cls.ravel())[pick])


class Sampler:
    """Steps of micro-batches in a fixed order from a seed: pools of episodes, sorted by length, then shuffled.

    Sorting within a pool keeps padding small; no episode comes twice before all have come once.
    """

    def __init__(self, corpus: Corpus, seed: int, row_tokens: int, step_tokens: int, most: int, pool: int = 384):
        self.corpus, self.seed, self.pool = corpus, seed, pool
        self.row_tokens, self.step_tokens, self.most = row_tokens, step_tokens, most
        self.pools_per_pass = -(-len(corpus.kinds) // pool)
        self.pools = 0
        self.waiting: list[np.ndarray] = []

    def _refill(self) -> None:
        passes, index = divmod(self.pools, self.pools_per_pass)
        order = np.random.default_rng((self.seed, passes)).permutation(len(self.corpus.kinds))
        chosen = order[index * self.pool : (index + 1) * self.pool]
        lengths = self.corpus.lengths()[chosen]
        groups: list[list[int]] = [[]]
        for e in chosen[np.argsort(lengths, kind="stable")]:
            width = int(self.corpus.offsets[e + 1] - self.corpus.offsets[e])
            if groups[-1] and width * (len(groups[-1]) + 1) > self.row_tokens:
                groups.append([])
            groups[-1].append(int(e))
        shuffled = np.random.default_rng((self.seed, passes, index)).permutation(len(groups))
        self.waiting += [np.array(groups[g]) for g in shuffled]
        self.pools += 1

    def step(self) -> list[np.ndarray]:
        """The episodes of each micro-batch of one optimiser step, no more than `most` of them."""
        taken: list[np.ndarray] = []
        tokens = 0
        lengths = self.corpus.lengths()
        while tokens < self.step_tokens and len(taken) < self.most:
            if not self.waiting:
                self._refill()
            group = self.waiting.pop()
            tokens += int(lengths[group].sum())
            taken.append(group)
        return taken
