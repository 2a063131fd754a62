"""Goes on training the run's adapter on its kept update texts, with the same token weights, in the Hugging Face Trainer.
Usage: python replay/train.py BASE OUT"""
import json, sys
from pathlib import Path
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

root, base = Path(__file__).parents[1], Path(sys.argv[1])
where = {"pretrained_model_name_or_path": base.parent, "gguf_file": base.name} if base.suffix == ".gguf" else {"pretrained_model_name_or_path": sys.argv[1]}
weights = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
weights.is_quantized = False  # a GGUF file was dequantised to float32 on loading
model = PeftModel.from_pretrained(weights, root / "adapter", is_trainable=True)
rows = [json.loads(line) for line in (root / "tokens.jsonl").open(encoding="utf-8")]
rows = [{key: row[key] for key in ("input_ids", "labels", "weights")} for row in rows if row["kept"]]

class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **_):
        labels, w = inputs.pop("labels")[:, 1:], inputs.pop("weights")[:, 1:]
        out = model(**inputs)
        ce = torch.nn.functional.cross_entropy(out.logits[:, :-1].transpose(1, 2), labels, reduction="none", ignore_index=-100)
        loss = (w * ce).sum() / w.sum()
        return (loss, out) if return_outputs else loss

def collate(batch):
    def pad(key, value, dtype):  # named, since a row of weights 1 alone would make all weights whole numbers
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(row[key], dtype=dtype) for row in batch], batch_first=True, padding_value=value)
    return {"input_ids": pad("input_ids", 0, torch.long), "labels": pad("labels", -100, torch.long), "weights": pad("weights", 0, torch.float32)}

settings = json.loads((root / "events.jsonl").open(encoding="utf-8").readline())["manifest"]["settings"]
arguments = TrainingArguments(sys.argv[2], learning_rate=settings["learning_rate"], num_train_epochs=1, per_device_train_batch_size=4,
                              remove_unused_columns=False, logging_steps=1, report_to=[], save_strategy="no")
trainer = WeightedTrainer(model, arguments, train_dataset=rows, data_collator=collate)
trainer.train()
trainer.save_state()
model.save_pretrained(sys.argv[2])
