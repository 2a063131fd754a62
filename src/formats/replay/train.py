"""Goes on training the run's adapter on its kept update texts, with the same token weights, in the Hugging Face Trainer.
Usage: python replay/train.py BASE OUT"""
import sys
import torch
from transformers import Trainer, TrainingArguments
from run import json_lines, load_model, settings

# The type is named: a row of weights 1 alone would make all weights whole numbers.
COLUMNS = {"input_ids": (torch.long, 0), "labels": (torch.long, -100), "weights": (torch.float32, 0)}

def collate(rows):
    padded = lambda tensors, fill: torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=fill)
    return {key: padded([torch.tensor(row[key], dtype=dtype) for row in rows], fill) for key, (dtype, fill) in COLUMNS.items()}

class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **_):
        labels, w = inputs.pop("labels")[:, 1:], inputs.pop("weights")[:, 1:]
        out = model(**inputs)
        ce = torch.nn.functional.cross_entropy(out.logits[:, :-1].transpose(1, 2), labels, reduction="none", ignore_index=-100)
        loss = (w * ce).sum() / w.sum()
        return (loss, out) if return_outputs else loss

options = TrainingArguments(sys.argv[2], learning_rate=settings["learning_rate"], num_train_epochs=1, save_strategy="no",
                            per_device_train_batch_size=4, remove_unused_columns=False, logging_steps=1, report_to=[])
rows = [row for row in json_lines("tokens.jsonl") if row["kept"]]
trainer = WeightedTrainer(load_model(sys.argv[1], "adapter"), options, train_dataset=rows, data_collator=collate)
trainer.train()
trainer.save_state()
trainer.model.save_pretrained(sys.argv[2])
