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
from peft import LoraConfig, PeftModel
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


def own_scales(model, scratch, ids, row):
    """An adapter of PEFT's whose scales no common alpha gives, through a GGUF and back."""
    torch.manual_seed(5)
    layer = 'model.layers.{}.self_attn.{}'.format
    model.add_adapter('own', LoraConfig(
        r=3, lora_alpha=4, use_rslora=True, target_modules=['q_proj', 'v_proj'], init_lora_weights=False,
        rank_pattern={layer(2, 'q_proj'): 8}, alpha_pattern={layer(1, 'v_proj'): 0, layer(4, 'q_proj'): 7.5}))
    model.save_pretrained(scratch, selected_adapters=['own'])
    folder, lora, back = scratch / 'own', scratch / 'own.gguf', scratch / 'back'
    attt('adapter', 'convert', folder, '--model', MODELS / FILE, '--out', lora)
    attt('adapter', 'convert', lora, '--model', MODELS / FILE, '--out', back)
    reader = gguf.GGUFReader(lora)
    scales, alpha = (reader.fields[key].contents() for key in ('attt.lora.scales', 'adapter.lora.alpha'))
    row('Rank-stabilised scales of three kinds and one of 0: what gguf-py reads of the GGUF LoRA',
        f'{len(scales)} scales, alpha {alpha:.4f}, {len(reader.tensors)} matrices',
        f'60 scales, alpha {4 * 3**0.5:.4f}, 120 matrices',
        sorted(set(scales))[0] == 0 and len(scales) == 60 and abs(alpha - 4 * 3**0.5) < 1e-6 and len(reader.tensors) == 120)
    before, after = (load_file(one / 'adapter_model.safetensors') for one in (folder, back))
    differing = sum(not np.array_equal(values.view(np.uint32), after.pop(key).view(np.uint32))
                    for key, values in before.items()) + len(after)
    row('The same from PEFT to GGUF and back: matrices that differ in any bit', str(differing), '0', differing == 0)
    model.set_adapter('own')
    theirs = their_logits(model, ids)
    model.load_adapter(back, 'back')
    model.set_adapter('back')
    distance = np.abs(their_logits(model, ids) - theirs).max()
    row('Logits of PEFT with what came back, largest difference', f'{distance:.2e}', '1e-3', distance < 1e-3)
    distance = np.abs(our_logits(ids, '--adapter', lora) - theirs).max()
    row('Ours with the GGUF LoRA, largest difference to PEFT', f'{distance:.2e}', '0.02', distance < 0.02)
    # As llama.cpp applies it: B by alpha / rank, whatever the file says beside.
    parts = {tensor.name: tensor.data.astype(np.float64) for tensor in reader.tensors}
    silent = alpha / 3 * parts['blk.1.attn_v.weight.lora_b'] @ parts['blk.1.attn_v.weight.lora_a']
    row('What a reader of alpha alone adds where the scale is 0, largest value', f'{np.abs(silent).max():.1e}',
        'less than 1e-15', np.abs(silent).max() < 1e-15)


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
        own_scales(model, pathlib.Path(scratch), ids[:PREFIX], row)
    about = (f'`attt train` on {FILE} (rank 8, alpha 16, q and v, 2 Adam steps of {CASE}) with `--backend wasm`; '
             'the same GGUF loaded by transformers in float32.')
    print(json.dumps({'title': 'An adapter trained here on SmolLM2-135M', 'about': about, 'rows': rows}))


main()
