"""An adapter trained here on SmolLM2, read by PEFT, gguf-py and transformers.

Prints its result as JSON in the last line; scripts/verify-python.mjs runs it.
"""

import json
import pathlib
import tempfile

import gguf
import numpy as np
import torch
from attt import attt, logits
from peft import PeftModel
from safetensors.numpy import load_file
from transformers import AutoModelForCausalLM

MODELS = pathlib.Path('.cache/models')
FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf'
CASE = 'e2e/fixtures/engine/smollm2_training.json'
#: Positions whose logits are all compared; 49,152 numbers each.
PREFIX = 24
HEADS = {'attn_q': 9, 'attn_k': 3}
HF_NAMES = {'attn_q': 'q_proj', 'attn_v': 'v_proj'}


def our_logits(ids, *args):
    return logits(MODELS / FILE, ids, *args)


def their_logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double().numpy()


def load(folder, file):
    return AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()


def unpermute(rows, heads):
    """GGUF's row order to Hugging Face's: the inverse of llama.cpp's permute."""
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def gguf_differences(path, weights):
    """How many matrices of the GGUF differ in any bit from the folder's, once their rows are reordered."""
    differing = 0
    for tensor in gguf.GGUFReader(path).tensors:
        block, part, _, side = tensor.name.removeprefix('blk.').split('.')
        values = tensor.data
        if side == 'lora_b' and part in HEADS:
            values = unpermute(values, HEADS[part])
        key = f'base_model.model.model.layers.{block}.self_attn.{HF_NAMES[part]}.lora_{side[-1].upper()}.weight'
        differing += not np.array_equal(values.view(np.uint32), weights.pop(key).view(np.uint32))
    return differing + len(weights)


def merge_cost(lora, merged):
    """Norms of the adapter's change, and of what the merged file's numbers are off by."""
    tensors = {tensor.name: tensor for path in (MODELS / FILE, lora) for tensor in gguf.GGUFReader(path).tensors}
    alpha = gguf.GGUFReader(lora).fields['adapter.lora.alpha'].contents()
    change, error = 0.0, 0.0
    for tensor in gguf.GGUFReader(merged).tensors:
        if f'{tensor.name}.lora_a' not in tensors:
            continue
        a, b = (tensors[f'{tensor.name}.lora_{side}'].data.astype(np.float64) for side in 'ab')
        delta = alpha / a.shape[0] * b @ a
        base = tensors[tensor.name]
        whole = gguf.quants.dequantize(base.data, base.tensor_type).astype(np.float64) + delta
        change += np.sum(delta**2)
        error += np.sum((tensor.data.astype(np.float64) - whole) ** 2)
    return np.sqrt(change), np.sqrt(error)


def main():
    ids = json.loads(pathlib.Path(CASE).read_text())['ids']
    rows = []

    def row(what, found, limit, ok):
        rows.append({'what': what, 'found': found, 'limit': limit, 'ok': bool(ok)})

    with tempfile.TemporaryDirectory() as scratch:
        folder, lora, merged = (pathlib.Path(scratch) / name for name in ('adapter', 'adapter.gguf', 'merged.gguf'))
        attt('train', '--model', MODELS / FILE, '--case', CASE, '--save-adapter', folder)
        on = our_logits(ids[:PREFIX], '--adapter', folder)
        on_last = our_logits(ids, '--last', '--adapter', folder)
        off = our_logits(ids[:PREFIX])
        attt('adapter', 'convert', folder, '--model', MODELS / FILE, '--out', lora)
        cost = attt('adapter', 'merge', folder, '--model', MODELS / FILE, '--out', merged, '--type', 'F16')

        base = load(MODELS, FILE)
        distance = np.abs(their_logits(base, ids[:PREFIX]) - off).max()
        row(f'Base alone, logits of {PREFIX} positions, largest difference to transformers', f'{distance:.2e}',
            '0.02', distance < 0.02)
        model = PeftModel.from_pretrained(base, folder).eval()
        theirs = their_logits(model, ids)
        distance = np.abs(theirs[:PREFIX] - on).max()
        row(f'With the adapter in PEFT, logits of {PREFIX} positions, largest difference', f'{distance:.2e}',
            '0.02', distance < 0.02)
        distance = np.abs(theirs[-1:] - on_last).max()
        row(f'The same after all {len(ids)} ids, last position', f'{distance:.2e}', '0.02', distance < 0.02)
        moved = np.abs(on - off).max()
        row('How far the adapter moves a logit at most (a control: it must not be idle)', f'{moved:.2f}',
            'more than 0.2', moved > 0.2)
        differing = gguf_differences(lora, load_file(folder / 'adapter_model.safetensors'))
        row('Matrices of the GGUF LoRA, read by gguf-py, that differ from the PEFT folder in any bit',
            str(differing), '0', differing == 0)
        distance = np.abs(their_logits(load(merged.parent, merged.name), ids) - theirs).max()
        row('Base and adapter merged in F16, read by transformers, largest difference to PEFT', f'{distance:.2e}',
            '0.1', distance < 0.1)
        change, error = merge_cost(lora, merged)
        row('Size of the change as `attt adapter merge` reports it, relative to NumPy over gguf-py',
            f"{cost['change']:.5f} and {change:.5f}", '1e-3 relative', abs(cost['change'] / change - 1) < 1e-3)
        row('What float16 lost of it, by the same two', f"{cost['error']:.5f} and {error:.5f}", '1e-3 relative',
            abs(cost['error'] / error - 1) < 1e-3)
    about = (f'`attt train` on {FILE} (rank 8, alpha 16, q and v, 2 Adam steps of {CASE}) with `--backend wasm`; '
             'the same GGUF loaded by transformers in float32.')
    print(json.dumps({'title': 'An adapter trained here on SmolLM2-135M', 'about': about, 'rows': rows}))


main()
