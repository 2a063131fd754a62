"""Makes the LoRA fixtures in e2e/fixtures/adapters with PEFT, and the logits that PEFT gives with each.

Needs torch, transformers, peft, safetensors and gguf. Run from the root of the repository. The base is
e2e/fixtures/engine/tiny.gguf, loaded by transformers in float32. GGUF files are written by gguf-py, with
rows permuted and scales folded here, independently of the program that is tested.
"""

import json
import pathlib
import shutil

import gguf
import numpy as np
import torch
from peft import LoHaConfig, LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

ENGINE = 'e2e/fixtures/engine'
OUT = pathlib.Path('e2e/fixtures/adapters')
IDS = [3, 7, 11, 2, 30]
HEADS, KV_HEADS = 4, 2
GGUF_NAMES = {
    'q_proj': 'attn_q', 'k_proj': 'attn_k', 'v_proj': 'attn_v', 'o_proj': 'attn_output',
    'gate_proj': 'ffn_gate', 'up_proj': 'ffn_up', 'down_proj': 'ffn_down',
}


def base():
    return AutoModelForCausalLM.from_pretrained(ENGINE, gguf_file='tiny.gguf', dtype=torch.float32)


def randomise(model, seed):
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if 'lora_' in name or 'hada' in name:
            parameter.data = 0.3 * torch.randn(parameter.shape, generator=generator)


def logits(model):
    with torch.no_grad():
        return model(torch.tensor([IDS])).logits[0].double().tolist()


def save(name, config, seed, dtype=torch.float32):
    model = get_peft_model(base(), config)
    randomise(model, seed)
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / 'README.md').unlink()
    path = folder / 'adapter_model.safetensors'
    save_file({k: v.to(dtype) for k, v in load_file(path).items()}, path, metadata={'format': 'pt'})
    return folder


def expect(folder):
    model = PeftModel.from_pretrained(base(), folder).eval()
    expected = {'ids': IDS, 'logits': logits(model)}
    (folder / 'expected.json').write_text(json.dumps(expected) + '\n')
    return model


def permute(rows, heads):
    """As llama.cpp's converter reorders the rows of q and k."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def save_gguf(model, path, alpha, dtype=np.float32):
    writer = gguf.GGUFWriter(path, 'llama')
    writer.add_type('adapter')
    writer.add_string('adapter.type', 'lora')
    writer.add_float32('adapter.lora.alpha', alpha)
    for name, module in model.named_modules():
        if not hasattr(module, 'lora_A') or not name.startswith('base_model.model.model.layers.'):
            continue
        _, _, _, _, layer, _, target = name.split('.')
        a = module.lora_A['default'].weight.detach().numpy()
        b = module.lora_B['default'].weight.detach().numpy()
        if target in ('q_proj', 'k_proj'):
            b = permute(b, HEADS if target == 'q_proj' else KV_HEADS)
        folded = module.scaling['default'] * a.shape[0] / alpha
        tensor = f'blk.{layer}.{GGUF_NAMES[target]}.weight'
        writer.add_tensor(f'{tensor}.lora_a', a.astype(dtype))
        writer.add_tensor(f'{tensor}.lora_b', (b * np.float32(folded)).astype(dtype))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    common = {'task_type': 'CAUSAL_LM', 'lora_dropout': 0.0}
    expect(save('list_f16', LoraConfig(r=4, lora_alpha=8, target_modules=['q_proj', 'mlp.up_proj'], **common), 1,
                torch.float16))
    regex = r'.*\.layers\.[01]\.(?:self_attn\.[qv]|mlp\.(?:gate|down))_proj'
    expect(save('regex_bf16', LoraConfig(r=2, lora_alpha=2, target_modules=regex, **common), 2, torch.bfloat16))
    linear = expect(save('all_linear', LoraConfig(r=3, lora_alpha=5, target_modules='all-linear', **common), 3,
                         torch.float16))
    # One alpha of 16 but for v_proj: with it the GGUF's common alpha needs factors 1/4 and 5/16.
    patterns = LoraConfig(
        r=8, lora_alpha=16, target_modules=['q_proj', 'k_proj', 'v_proj', 'down_proj'],
        rank_pattern={'down_proj': 2, r'layers\.1\.self_attn\.q_proj': 4},
        alpha_pattern={'v_proj': 4, r'.*\.0\.mlp\.down_proj': 5}, **common)
    mixed = expect(save('patterns', patterns, 4))
    # The same numbers as the folder's, so the same logits are expected.
    save_gguf(linear, OUT / 'all_linear_f16.gguf', 5.0, np.float16)
    save_gguf(mixed, OUT / 'patterns.gguf', 16.0)
    save('bad_dora', LoraConfig(r=2, target_modules=['q_proj'], use_dora=True, **common), 5)
    save('bad_bias', LoraConfig(r=2, target_modules=['q_proj'], bias='lora_only', **common), 6)
    save('bad_loha', LoHaConfig(r=2, target_modules=['q_proj'], task_type='CAUSAL_LM'), 7)


main()
