"""Makes cases.json and templates.json beside this file, by hand, with Jinja2 3.1.6 (PyPI). The templates are written here, one a family, by what each
family's models are documented to be given, and with the marks that templates of the family have; Jinja runs them as Hugging Face's library
does (trim_blocks, lstrip_blocks, raise_exception). usage: make.py DIR"""
import json
import pathlib
import random
import sys

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

CHATML = """{% for m in messages %}{% if loop.first and m.role != 'system' and DEFAULT %}{{ '<|im_start|>system\\n' + DEFAULT + '<|im_end|>\\n' }}{% endif %}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""
QWEN3 = """{% set found = namespace(last=messages|length - 1, open=true) %}
{% for m in messages[::-1] %}{% if found.open and m.role == 'user' and not (m.content.startswith('<tool_response>') and m.content.endswith('</tool_response>')) %}
{% set found.open = false %}{% set found.last = messages|length - 1 - loop.index0 %}{% endif %}{% endfor %}
{% for m in messages %}{% if m.role != 'assistant' %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% else %}
{% set answer = m.content.split('</think>')[-1].lstrip('\\n') if '</think>' in m.content else m.content %}
{% set thought = m.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') if '</think>' in m.content else '' %}
{{- '<|im_start|>assistant\\n' }}{% if loop.index0 > found.last and (loop.last or thought) %}
{{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + answer.lstrip('\\n') }}{% else %}{{- answer }}{% endif %}{{ '<|im_end|>\\n' }}{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
LLAMA3 = """{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""
LLAMA31 = """{{ bos_token }}{% set rest = messages[1:] if messages[0].role == 'system' else messages %}{{ '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
{{- 'Cutting Knowledge Date: December 2023\\nToday Date: ' + (date_string or '26 Jul 2024') + '\\n\\n' }}{{ messages[0].content | trim if messages[0].role == 'system' else '' }}{{ '<|eot_id|>' }}
{%- for m in rest %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""
TURNS = """{% set system_message = messages[0].content if messages[0].role == 'system' else none %}{% set rest = messages[1:] if messages[0].role == 'system' else messages %}
{% if not rest %}{{ raise_exception('nothing to answer') }}{% endif %}
{% for m in rest %}{% if m.role not in ('user', 'assistant') or (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}"""
MISTRAL_V1 = TURNS + """{{- bos_token }}{% for m in rest %}{% if m.role == 'user' %}{% if loop.first and system_message is not none %}
{{- ' [INST] ' + system_message + '\\n\\n' + m.content + ' [/INST]' }}{% else %}{{ ' [INST] ' + m.content + ' [/INST]' }}{% endif %}
{% else %}{{- ' ' + m.content + eos_token }}{% endif %}{% endfor %}"""
LAST = """{% set asked = namespace(at=0) %}{% for m in rest %}{% if m.role == 'user' %}{% set asked.at = loop.index0 %}{% endif %}{% endfor %}"""
MISTRAL_V3 = TURNS + LAST + """{# [AVAILABLE_TOOLS] #}{{- bos_token }}{% for m in rest %}{% if m.role == 'user' %}
{{- '[INST] ' + (system_message + '\\n\\n' if system_message is not none and loop.index0 == asked.at else '') + m.content + '[/INST]' }}{% else %}{{ ' ' + m.content + eos_token }}{% endif %}{% endfor %}"""
MISTRAL_TEKKEN = MISTRAL_V3.replace("'[INST] '", '"[INST]"').replace("' ' + m.content", "m.content")
GEMMA = """{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}""" + TURNS + """{{- bos_token }}
{%- for m in rest %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\\n' + m.content | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""
GEMMA3 = TURNS + """{% set first_user_prefix = system_message + '\\n\\n' if system_message is not none else '' %}{{- bos_token }}
{%- for m in rest %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\\n' + (first_user_prefix if loop.first else '') + m.content | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""
LLAMA2 = TURNS + """{% for m in rest %}{% set text = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + m.content if loop.first and system_message is not none else m.content %}
{% if m.role == 'user' %}{{- bos_token + '[INST] ' + text.strip() + ' [/INST]' }}{% else %}{{- ' ' + text.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""
PHI3 = """{% for m in messages %}{% if m.role == 'system' %}{{ '<|system|>\\n' + m.content + '<|end|>\\n' }}{% elif m.role == 'user' %}{{ '<|user|>\\n' + m.content + '<|end|>\\n' }}
{%- elif m.role == 'assistant' %}{{ '<|assistant|>\\n' + m.content + '<|end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"""
DEFAULTS = {"qwen2": "You are a helpful assistant.", "qwen2.5": "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."}
TEMPLATES = {"chatml": CHATML, "qwen2": "{% set DEFAULT = '" + DEFAULTS["qwen2"] + "' %}" + CHATML, "qwen2.5": "{% set DEFAULT = '" + DEFAULTS["qwen2.5"] + "' %}" + CHATML,
             "qwen3": QWEN3, "llama3": LLAMA3, "llama3.1": LLAMA31, "mistral-v1": MISTRAL_V1, "mistral-v3": MISTRAL_V3, "mistral-tekken": MISTRAL_TEKKEN,
             "gemma": GEMMA, "gemma3": GEMMA3, "llama2": LLAMA2, "phi3": PHI3}
TOKENS = {"llama3": ("<|begin_of_text|>", ""), "llama3.1": ("<|begin_of_text|>", ""), "gemma": ("<bos>", "<eos>"), "gemma3": ("<bos>", "<eos>"), "phi3": ("<s>", "<|endoftext|>")}
TEXTS = ["Hello", "  padded \n", "", "two\nlines", "\u3000wide\u00a0", "<think>\nwhy\n</think>\n\nbecause", "no open</think>x", "<think>a<think>b</think>c</think>\n\nd",
         "<tool_response>4</tool_response>", "[INST] x [/INST]", "<|im_end|>", "\x1f\u2003t\u200b "]


def render(env, family, messages, prompt, thinking):
    bos, eos = TOKENS.get(family, ("<s>", "</s>"))
    more = {} if thinking else {"enable_thinking": False}
    try:
        return env.from_string(TEMPLATES[family]).render(messages=messages, add_generation_prompt=prompt, bos_token=bos, eos_token=eos, **more)
    except jinja2.TemplateError:
        return None


def raise_exception(text):
    raise jinja2.TemplateError(text)


def main(folder):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    env.globals["raise_exception"] = raise_exception
    r, cases = random.Random(1), []
    for family in TEMPLATES:
        for i in range(24):
            turns = ["user", "assistant"] * 3 if i % 4 else [r.choice(["user", "assistant"]) for _ in range(4)]
            roles = ["system"] * r.randrange(2) + turns[:1 + r.randrange(5)]
            messages = [{"role": role, "content": r.choice(TEXTS)} for role in roles]
            prompt, thinking = bool(r.randrange(2)), family != "qwen3" or bool(r.randrange(2))
            cases.append({"family": family, "messages": messages, "prompt": prompt, "thinking": thinking, "text": render(env, family, messages, prompt, thinking)})
    (folder / "cases.json").write_text("[" + ",\n".join(json.dumps(c) for c in cases) + "]\n")
    (folder / "templates.json").write_text(json.dumps(TEMPLATES, indent=1) + "\n")


main(pathlib.Path(sys.argv[1]))
