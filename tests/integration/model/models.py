"""Small models of every family, by the families' public definitions: weights at random, files in both formats, and logits in float64.
Shares nothing with core/model: names, orders of rows and what is computed are written down here once more."""
import json
import math
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tensor"))
from tensor import gguf, safetensors  # noqa: E402

U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9  # of values of GGUF

BASE = dict(layers=2, embd=64, heads=4, kv=2, dim=16, ff=96, vocab=300, context=128, eps=1e-6, base=10000.0, tied=False, bias=False, o_bias=False, qk=False,
            gelu=False, window=0, slides=lambda i: True, experts=0, used=0, norm=True, turned=0, llama3=None, linear=None, yarn=None, dynamic=None, long=None, shared=0, dense=0, ff_dense=0, attn_cap=0.0, cap=0.0, post=False, scale=None, gguf=True)
FAMILIES = {
    "llama": dict(BASE, eps=1e-5, base=500000.0),
    "llama-scaled": dict(BASE, eps=1e-5, base=500000.0, tied=True, llama3=(32.0, 1.0, 4.0, 8192)),
    "llama-biased": dict(BASE, bias=True, o_bias=True, kv=1, linear=2.0),
    "mistral": dict(BASE, eps=1e-5, window=5),
    "mixtral": dict(BASE, eps=1e-5, experts=4, used=2),
    "qwen2": dict(BASE, base=1000000.0, tied=True, bias=True),
    "qwen2-late": dict(BASE, layers=3, base=1000000.0, tied=True, bias=True, window=4, slides=lambda i: i >= 1, gguf=False),  # GGUF has no word for it
    # Factor, original context, beta_fast, beta_slow, and what 0.1 ln factor + 1 is multiplied with besides.
    "qwen2-yarn": dict(BASE, base=1000000.0, tied=True, bias=True, dim=32, yarn=(4.0, 2048, 4.0, 0.25, 1.0)),
    "llama-yarn": dict(BASE, eps=1e-5, yarn=(8.0, 16, 8.0, 0.5, 1.25)),
    "llama-dynamic": dict(BASE, eps=1e-5, dynamic=4.0, gguf=False),  # GGUF has no word for it
    "qwen2moe": dict(BASE, base=1000000.0, bias=True, experts=6, used=2, ff=32, shared=64, norm=False),
    # What is in front without experts, shared experts as one, without a gate.
    "deepseek": dict(BASE, layers=3, kv=4, experts=6, used=3, ff=32, shared=64, norm=False, dense=1, ff_dense=80),
    "deepseek-normed": dict(BASE, experts=4, used=2, ff=32, shared=32, norm=True),
    "phi3": dict(BASE, eps=1e-5, kv=4, dim=24, window=5),
    # The context that it was trained with, what is said of attention's factor, and whether a pipeline of 16 positions is longer.
    "phi3-long": dict(BASE, eps=1e-5, dim=32, tied=True, window=200, long=(8, None, True)),
    "phi3-near": dict(BASE, eps=1e-5, dim=32, long=(64, 1.25, False)),
    # Three quarters of a head turned, as Phi 4 mini has it, and half of one.
    "phi3-part": dict(BASE, eps=1e-5, dim=32, tied=True, turned=24, long=(8, None, True)),
    "phi3-half": dict(BASE, eps=1e-5, kv=4, turned=8),
    "phi3-yarn": dict(BASE, eps=1e-5, dim=32, turned=12, yarn=(4.0, 2048, 4.0, 0.25, 1.0)),
    "llama-long": dict(BASE, eps=1e-5, long=(4, None, True)),
    "qwen3": dict(BASE, base=1000000.0, dim=32, qk=True),
    "qwen3moe": dict(BASE, base=1000000.0, dim=32, qk=True, experts=18, used=3, ff=32),
    "gemma": dict(BASE, kv=1, dim=32, tied=True, gelu=True),
    "gemma2": dict(BASE, layers=3, dim=32, tied=True, gelu=True, window=4, slides=lambda i: i % 2 == 0, attn_cap=50.0, cap=30.0, post=True),
}


def family(name):
    return name.split("-")[0]


def weights(name, seed=1):
    """By role: one array, or one a layer; of experts [experts, rows, columns]. Rows of q and k in the order of halves, norms whole."""
    c, rng = FAMILIES[name], np.random.default_rng(seed)
    def matrix(*shape):
        return (rng.standard_normal(shape) / math.sqrt(shape[-1])).astype(np.float32)
    def norm(n):
        return (1 + np.rint(400 * rng.standard_normal(n)) / 4096).astype(np.float32)  # 1 can be taken off and put on without a rounding
    q, kv = c["heads"] * c["dim"], c["kv"] * c["dim"]
    out = {"tok_embd": matrix(c["vocab"], c["embd"]), "output_norm": norm(c["embd"]), "layers": []}
    if not c["tied"]:
        out["output"] = matrix(c["vocab"], c["embd"])
    for number in range(c["layers"]):
        w = {"attn_norm": norm(c["embd"]), "q": matrix(q, c["embd"]), "k": matrix(kv, c["embd"]), "v": matrix(kv, c["embd"]), "o": matrix(c["embd"], q),
             "ffn_norm": norm(c["embd"])}
        if c["bias"]:
            w.update({k + "_bias": (0.3 * rng.standard_normal(n)).astype(np.float32) for k, n in (("q", q), ("k", kv), ("v", kv))})
        if c["o_bias"]:
            w["o_bias"] = (0.3 * rng.standard_normal(c["embd"])).astype(np.float32)
        if c["qk"]:
            w.update(q_norm=norm(c["dim"]), k_norm=norm(c["dim"]))
        if c["post"]:
            w.update(post_attn_norm=norm(c["embd"]), post_ffn_norm=norm(c["embd"]))
        if c["experts"] and number < c["dense"]:
            w.update(gate=matrix(c["ff_dense"], c["embd"]), up=matrix(c["ff_dense"], c["embd"]), down=matrix(c["embd"], c["ff_dense"]))
        elif c["experts"]:
            w.update(router=matrix(c["experts"], c["embd"]), gate=matrix(c["experts"], c["ff"], c["embd"]), up=matrix(c["experts"], c["ff"], c["embd"]),
                     down=matrix(c["experts"], c["embd"], c["ff"]))
            if c["shared"]:
                w.update(**({} if family(name) == "deepseek" else {"shared_router": matrix(c["embd"]) * 4}), shared_gate=matrix(c["shared"], c["embd"]), shared_up=matrix(c["shared"], c["embd"]),
                         shared_down=matrix(c["embd"], c["shared"]))
        else:
            w.update(gate=matrix(c["ff"], c["embd"]), up=matrix(c["ff"], c["embd"]), down=matrix(c["embd"], c["ff"]))
        out["layers"].append(w)
    return out


# ---- logits, in float64 ----

def rms(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w.astype(np.float64)


def turned(c):
    """Features of a head that are turned, the first ones."""
    return c["turned"] or c["dim"]


def inverse_frequencies(c):
    f = c["base"] ** (-np.arange(0, turned(c), 2) / turned(c))
    if c["linear"]:
        return f / c["linear"]
    if c["long"]:
        return f / factors(c)[0 if c["long"][2] else 1].astype(np.float64)
    if c["yarn"]:
        factor, original, fast, slow, _ = c["yarn"]
        def pair(turns):
            return turned(c) * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(c["base"]))
        low, high = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), turned(c) - 1)
        ramp = np.clip((np.arange(turned(c) // 2) - low) / max(high - low, 0.001), 0, 1)
        return f / factor * ramp + f * (1 - ramp)
    if c["llama3"]:
        factor, low, high, original = c["llama3"]
        wave = 2 * np.pi / f
        smooth = (original / wave - low) / (high - low)
        middle = (1 - smooth) * f / factor + smooth * f
        return np.where(wave < original / high, f, np.where(wave > original / low, f / factor, middle))
    return f


def factors(c):
    """Of longrope: long ones, which grow from pair to pair, and short ones near 1."""
    i = np.arange(turned(c) // 2)
    return (1 + 0.07 * i + i * i / 5).astype(np.float32), (1 + 0.03 * i).astype(np.float32)


def magnitude(c):
    """Of yarn and longrope, as f32 has it."""
    if c["long"]:
        original, said, _ = c["long"]
        return float(np.float32(said or math.sqrt(1 + math.log(c["context"] / original) / math.log(original))))
    if not c["yarn"]:
        return 1.0
    return float(np.float32(c["yarn"][4] * (0.1 * math.log(c["yarn"][0]) + 1)))


def turn(x, c):
    """x: [t, heads, dim], pairs are i and i + n/2 of the first n."""
    angle = np.arange(len(x))[:, None] * inverse_frequencies(c)
    cos, sin = magnitude(c) * np.cos(angle)[:, None], magnitude(c) * np.sin(angle)[:, None]
    n = turned(c)
    a, b = x[..., :n // 2], x[..., n // 2:n]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., n:]], -1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def act(c, x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))) if c["gelu"] else x / (1 + np.exp(-x))


def feed_forward(c, w, x):
    if "router" not in w:
        return (act(c, x @ w["gate"].T.astype(np.float64)) * (x @ w["up"].T.astype(np.float64))) @ w["down"].T.astype(np.float64)
    p = softmax(x @ w["router"].T.astype(np.float64))
    out = np.zeros_like(x)
    for t, row in enumerate(p):
        best = np.argsort(-row, kind="stable")[:c["used"]]
        share = row[best] / (row[best].sum() if c["norm"] else 1)
        for e, s in zip(best, share):
            g, u, d = (w[k][e].astype(np.float64) for k in ("gate", "up", "down"))
            out[t] += s * (d @ (act(c, g @ x[t]) * (u @ x[t])))
    if c["shared"]:
        g, u, d = (w["shared_" + k].astype(np.float64) for k in ("gate", "up", "down"))
        weight = 1 / (1 + np.exp(-(x @ w["shared_router"].astype(np.float64)))) if "shared_router" in w else np.ones(len(x))
        out += ((act(c, x @ g.T) * (x @ u.T)) @ d.T) * weight[:, None]
    return out


def attention(c, w, x, layer):
    def product(k):
        y = x @ w[k].T.astype(np.float64)
        return y + w[k + "_bias"] if k + "_bias" in w else y
    t = len(x)
    q, k, v = product("q").reshape(t, c["heads"], -1), product("k").reshape(t, c["kv"], -1), product("v").reshape(t, c["kv"], -1)
    if c["qk"]:
        q, k = rms(q, w["q_norm"], c["eps"]), rms(k, w["k_norm"], c["eps"])
    q, k = turn(q, c), turn(k, c)
    k, v = (np.repeat(a, c["heads"] // c["kv"], 1) for a in (k, v))
    s = np.einsum("ihd,jhd->hij", q, k) * (c["scale"] or c["dim"] ** -0.5)
    if c["attn_cap"]:
        s = c["attn_cap"] * np.tanh(s / c["attn_cap"])
    i, j = np.arange(t)[:, None], np.arange(t)
    seen = j <= i
    if c["window"] and c["slides"](layer):
        seen &= j > i - c["window"]
    y = np.einsum("hij,jhd->ihd", softmax(np.where(seen, s, -np.inf)), v).reshape(t, -1) @ w["o"].T.astype(np.float64)
    return y + w["o_bias"] if c["o_bias"] else y


def logits(name, w, tokens):
    """[tokens, vocab], every token seeing those before it."""
    c = FAMILIES[name]
    x = w["tok_embd"].astype(np.float64)[np.asarray(tokens)]
    if c["gelu"]:
        x = x * math.sqrt(c["embd"])
    for layer, l in enumerate(w["layers"]):
        y = attention(c, l, rms(x, l["attn_norm"], c["eps"]), layer)
        x = x + (rms(y, l["post_attn_norm"], c["eps"]) if c["post"] else y)
        y = feed_forward(c, l, rms(x, l["ffn_norm"], c["eps"]))
        x = x + (rms(y, l["post_ffn_norm"], c["eps"]) if c["post"] else y)
    y = rms(x, w["output_norm"], c["eps"]) @ w["tok_embd" if c["tied"] else "output"].T.astype(np.float64)
    return c["cap"] * np.tanh(y / c["cap"]) if c["cap"] else y


# ---- weights from a seed (SEMANTICS.md 19.3) ----

def philox(counter, key):
    """Blocks of many counters, [n, 4] of uint64 holding words."""
    a, b, c, d = (counter[:, i].copy() for i in range(4))
    k, l = key
    half, mask = np.uint64(32), np.uint64(0xffffffff)
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (q >> half) ^ b ^ np.uint64(k), q & mask, (p >> half) ^ d ^ np.uint64(l), p & mask
        k, l = (k + 0x9E3779B9) & 0xffffffff, (l + 0xBB67AE85) & 0xffffffff
    return np.stack([a, b, c, d], -1)


def uniform(seed, stream, layer, shape):
    """Elements from -1 to 1 of a tensor, by their places."""
    n = int(np.prod(shape))
    blocks = np.zeros(((n + 3) // 4, 4), np.uint64)
    blocks[:, 0] = np.arange(len(blocks))
    blocks[:, 2], blocks[:, 3] = stream, layer
    word = philox(blocks, (seed & 0xffffffff, seed >> 32)).reshape(-1)[:n]
    return ((2 * (word >> np.uint64(9)).astype(np.int64) + 1 - 2 ** 23) / 2 ** 23).astype(np.float32).reshape(shape)


# ---- files ----

def neighbours(a, dim):
    """Rows of heads from halves to neighbours, as llama.cpp's conversion has it."""
    return a.reshape(-1, 2, dim // 2, *a.shape[1:]).swapaxes(1, 2).reshape(a.shape)


def divisors(c):
    return (c["base"] ** (-np.arange(0, turned(c), 2) / turned(c)) / inverse_frequencies(c)).astype(np.float32)


GGUF_NAMES = {"qkv": "attn_qkv.weight", "gate_up": "ffn_up.weight", "attn_norm": "attn_norm.weight", "q": "attn_q.weight", "k": "attn_k.weight", "v": "attn_v.weight", "o": "attn_output.weight",
              "q_bias": "attn_q.bias", "k_bias": "attn_k.bias", "v_bias": "attn_v.bias", "o_bias": "attn_output.bias", "q_norm": "attn_q_norm.weight",
              "k_norm": "attn_k_norm.weight", "ffn_norm": "ffn_norm.weight", "gate": "ffn_gate.weight", "up": "ffn_up.weight", "down": "ffn_down.weight",
              "router": "ffn_gate_inp.weight", "shared_router": "ffn_gate_inp_shexp.weight", "shared_gate": "ffn_gate_shexp.weight",
              "shared_up": "ffn_up_shexp.weight", "shared_down": "ffn_down_shexp.weight", "post_attn_norm": "post_attention_norm.weight", "post_ffn_norm": "post_ffw_norm.weight"}


def fused(name, layer):
    """phi3 has q, k and v in one tensor, and gate and up, one's rows behind the other's."""
    if family(name) != "phi3":
        return layer
    out = {k: a for k, a in layer.items() if k not in ("q", "k", "v", "gate", "up")}
    return {**out, "qkv": np.concatenate([layer[k] for k in "qkv"]), "gate_up": np.concatenate([layer["gate"], layer["up"]])}


def gguf_tensors(name, w):
    """Name -> array, in the file's order."""
    c = FAMILIES[name]
    out = {"token_embd.weight": w["tok_embd"]}
    if c["llama3"]:
        out["rope_freqs.weight"] = divisors(c)
    if c["long"]:
        out["rope_factors_long.weight"], out["rope_factors_short.weight"] = factors(c)
    for i, l in enumerate(w["layers"]):
        for k, a in fused(name, l).items():
            if family(name) in ("llama", "mistral", "mixtral", "deepseek") and k in ("q", "k", "q_bias", "k_bias"):
                a = neighbours(a, c["dim"])
            file = GGUF_NAMES[k].replace(".weight", "_exps.weight") if a.ndim == 3 else GGUF_NAMES[k]
            out[f"blk.{i}.{file}"] = a
    out["output_norm.weight"] = w["output_norm"]
    if "output" in w:
        out["output.weight"] = w["output"]
    return out


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def gguf_keys(name):
    """Key -> (type, bytes)."""
    c = FAMILIES[name]
    arch = "llama" if family(name) in ("llama", "mistral", "mixtral") else family(name)
    out = {"general.architecture": (STRING, text(arch)), "general.name": (STRING, text("a test"))}
    def u32(k, v):
        out[f"{arch}.{k}"] = (U32, struct.pack("<I", v))
    def f32(k, v):
        out[f"{arch}.{k}"] = (F32, struct.pack("<f", v))
    for k, v in (("block_count", "layers"), ("embedding_length", "embd"), ("context_length", "context"), ("attention.head_count", "heads"),
                 ("attention.head_count_kv", "kv"), ("attention.key_length", "dim"), ("attention.value_length", "dim")):
        u32(k, c[v])
    u32("feed_forward_length", c["ff_dense"] or c["ff"])
    f32("attention.layer_norm_rms_epsilon", c["eps"])
    if c["turned"]:
        u32("rope.dimension_count", c["turned"])
    f32("rope.freq_base", c["base"])
    if c["experts"]:
        u32("expert_count", c["experts"])
        u32("expert_used_count", c["used"])
        u32("expert_feed_forward_length", c["ff"])
        if arch == "deepseek":
            u32("expert_shared_count", c["shared"] // c["ff"])
            u32("leading_dense_block_count", c["dense"])
            f32("expert_weights_scale", 1)
            out[f"{arch}.expert_weights_norm"] = (BOOL, bytes([c["norm"]]))
        elif c["shared"]:
            u32("expert_shared_feed_forward_length", c["shared"])
    if c["window"]:
        u32("attention.sliding_window", c["window"])
    if c["linear"]:
        out[f"{arch}.rope.scaling.type"] = (STRING, text("linear"))
        f32("rope.scaling.factor", c["linear"])
    if c["yarn"]:
        factor, original, fast, slow, attention = c["yarn"]
        out[f"{arch}.rope.scaling.type"] = (STRING, text("yarn"))
        f32("rope.scaling.factor", factor)
        u32("rope.scaling.original_context_length", original)
        f32("rope.scaling.yarn_beta_fast", fast)
        f32("rope.scaling.yarn_beta_slow", slow)
        if attention != 1:
            f32("rope.scaling.yarn_attn_factor", attention)
    if c["long"]:
        u32("rope.scaling.original_context_length", c["long"][0])
        f32("rope.scaling.attn_factor", magnitude(c))
    if c["cap"]:
        f32("attn_logit_softcapping", c["attn_cap"])
        f32("final_logit_softcapping", c["cap"])
    return out


def tokenizer_keys(n):
    # Each byte as GPT-2 writes it: what is printed is itself, the others are counted from 256 on.
    printed = {*range(33, 127), *range(161, 173), *range(174, 256)}
    tokens = [*map(chr, sorted(printed)), *(chr(256 + i) for i in range(256 - len(printed))), "t1", *(f"t{i}" for i in range(257, n))]
    return {"tokenizer.ggml.model": (STRING, text("gpt2")), "tokenizer.ggml.pre": (STRING, text("qwen2")),
            "tokenizer.ggml.tokens": (ARRAY, struct.pack("<IQ", STRING, n) + b"".join(map(text, tokens))),
            "tokenizer.ggml.token_type": (ARRAY, struct.pack("<IQ", 5, n) + struct.pack(f"<{n}i", *[1] * n)),
            "tokenizer.ggml.merges": (ARRAY, struct.pack("<IQ", STRING, 1) + text("t 1")),
            "tokenizer.ggml.eos_token_id": (U32, struct.pack("<I", n - 1))}


def write_gguf(path, tensors, keys):
    data = gguf({k: (0, tuple(reversed(a.shape)), a.tobytes()) for k, a in tensors.items()}, [(k, t, raw) for k, (t, raw) in keys.items()])
    with open(path, "wb") as f:
        f.write(data)
    return path


HF_NAMES = {"qkv": "self_attn.qkv_proj.weight", "gate_up": "mlp.gate_up_proj.weight", "attn_norm": "input_layernorm.weight", "q": "self_attn.q_proj.weight", "k": "self_attn.k_proj.weight", "v": "self_attn.v_proj.weight",
            "o": "self_attn.o_proj.weight", "q_bias": "self_attn.q_proj.bias", "k_bias": "self_attn.k_proj.bias", "v_bias": "self_attn.v_proj.bias",
            "o_bias": "self_attn.o_proj.bias", "q_norm": "self_attn.q_norm.weight", "k_norm": "self_attn.k_norm.weight",
            "ffn_norm": "post_attention_layernorm.weight", "gate": "mlp.gate_proj.weight", "up": "mlp.up_proj.weight", "down": "mlp.down_proj.weight",
            "router": "mlp.gate.weight", "shared_router": "mlp.shared_expert_gate.weight", "shared_gate": "mlp.shared_expert.gate_proj.weight",
            "shared_up": "mlp.shared_expert.up_proj.weight", "shared_down": "mlp.shared_expert.down_proj.weight"}


def hf_tensors(name, w):
    c = FAMILIES[name]
    def stored(k, a):  # Gemma's norms are 1 + what is stored
        return a - np.float32(1) if c["gelu"] and k.endswith("norm") else a
    names = dict(HF_NAMES)
    if family(name) == "gemma2":
        names.update(ffn_norm="pre_feedforward_layernorm.weight", post_attn_norm="post_attention_layernorm.weight", post_ffn_norm="post_feedforward_layernorm.weight")
    if family(name) == "mixtral":
        names["router"] = "block_sparse_moe.gate.weight"
    if family(name) == "deepseek":
        names.update({f"shared_{k}": f"mlp.shared_experts.{k}_proj.weight" for k in ("gate", "up", "down")})
    out = {"model.embed_tokens.weight": w["tok_embd"], "model.norm.weight": stored("norm", w["output_norm"])}
    if "output" in w:
        out["lm_head.weight"] = w["output"]
    for i, l in enumerate(w["layers"]):
        for k, a in fused(name, l).items():
            if a.ndim < 3:
                out[f"model.layers.{i}.{names[k]}"] = a[None] if k == "shared_router" else stored(k, a)
                continue
            for e, expert in enumerate(a):
                part = {"gate": "w1", "up": "w3", "down": "w2"}[k] if family(name) == "mixtral" else k + "_proj"
                block = "block_sparse_moe" if family(name) == "mixtral" else "mlp"
                out[f"model.layers.{i}.{block}.experts.{e}.{part}.weight"] = expert
    return out


def config(name):
    c, kind = FAMILIES[name], family(name)
    out = {"architectures": ["X"], "model_type": {"qwen3moe": "qwen3_moe", "qwen2moe": "qwen2_moe"}.get(kind, kind), "hidden_size": c["embd"], "num_hidden_layers": c["layers"],
           "num_attention_heads": c["heads"], "num_key_value_heads": c["kv"], "head_dim": c["dim"], "intermediate_size": c["ff_dense"] or c["ff"], "vocab_size": c["vocab"],
           "max_position_embeddings": c["context"], "rms_norm_eps": c["eps"], "rope_theta": c["base"], "tie_word_embeddings": c["tied"],
           "hidden_act": "gelu_pytorch_tanh" if c["gelu"] else "silu", "torch_dtype": "float32", "use_cache": True}
    if kind == "llama":
        out["attention_bias"] = c["bias"]
        if c["llama3"]:
            f, low, high, original = c["llama3"]
            out["rope_scaling"] = {"rope_type": "llama3", "factor": f, "low_freq_factor": low, "high_freq_factor": high, "original_max_position_embeddings": original}
        if c["linear"]:
            out["rope_scaling"] = {"type": "linear", "factor": c["linear"]}
    if c["yarn"]:
        factor, original, fast, slow, attention = c["yarn"]
        out["rope_scaling"] = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original, "beta_fast": fast, "beta_slow": slow,
                               **({"attention_factor": magnitude(c)} if attention != 1 else {})}
    if c["long"]:
        original, said, _ = c["long"]
        long, short = ([float(x) for x in v] for v in factors(c))
        out["rope_scaling"] = {"type": "longrope", "long_factor": long, "short_factor": short, **({"attention_factor": said} if said else {})}
        out["original_max_position_embeddings"] = original
    if c["turned"]:
        out["partial_rotary_factor"] = c["turned"] / c["dim"]
    if c["dynamic"]:
        out["rope_scaling"] = {"type": "dynamic", "factor": c["dynamic"]}
    if c["window"] and kind == "qwen2":
        out.update(sliding_window=c["window"], use_sliding_window=True, max_window_layers=1)
    if kind == "phi3":
        out.update(embd_pdrop=0.0, resid_pdrop=0.0, attention_bias=False, original_max_position_embeddings=c["long"][0] if c["long"] else c["context"])
        if not c["long"] and not c["yarn"]:
            out["rope_scaling"] = None
    if kind == "deepseek":
        out.update(n_routed_experts=c["experts"], n_shared_experts=c["shared"] // c["ff"], num_experts_per_tok=c["used"], moe_intermediate_size=c["ff"], first_k_dense_replace=c["dense"],
                   moe_layer_freq=1, norm_topk_prob=c["norm"], scoring_func="softmax", aux_loss_alpha=0.001, seq_aux=True, pretraining_tp=1, attention_bias=False, rope_scaling=None)
    if kind in ("mistral", "mixtral", "phi3"):
        out["sliding_window"] = c["window"] or None
    if kind == "mixtral":
        out.update(num_local_experts=c["experts"], num_experts_per_tok=c["used"])
    if kind == "qwen2moe":
        out.update(num_experts=c["experts"], num_experts_per_tok=c["used"], moe_intermediate_size=c["ff"], shared_expert_intermediate_size=c["shared"], norm_topk_prob=c["norm"],
                   decoder_sparse_step=1, mlp_only_layers=[], use_sliding_window=False, qkv_bias=True)
    if kind == "qwen3moe":
        out.update(num_experts=c["experts"], num_experts_per_tok=c["used"], moe_intermediate_size=c["ff"], norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[])
        out["intermediate_size"] = 6144  # of layers without experts, of which there are none
    if kind == "gemma2":
        out.update(sliding_window=c["window"], attn_logit_softcapping=c["attn_cap"], final_logit_softcapping=c["cap"], query_pre_attn_scalar=c["dim"],
                   hidden_activation="gelu_pytorch_tanh")
    return out


def raw(a, dtype):
    if dtype == "F32":
        return a.astype(np.float32).tobytes()
    if dtype == "F16":
        return a.astype(np.float16).tobytes()
    bits = a.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16).tobytes()  # to bf16, ties to even


def write_hf(folder, tensors, settings, shards=1, dtype="F32"):
    os.makedirs(folder, exist_ok=True)
    names = list(tensors)
    files = {}
    for s in range(shards):
        part = names[s::shards]
        file = "model.safetensors" if shards == 1 else f"model-{s + 1:05}-of-{shards:05}.safetensors"
        files.update(dict.fromkeys(part, file))
        with open(os.path.join(folder, file), "wb") as f:
            f.write(safetensors({k: (dtype, list(tensors[k].shape), raw(tensors[k], dtype)) for k in part}, meta={"format": "pt"}))
    if shards > 1:
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
            json.dump({"metadata": {"total_size": 0}, "weight_map": files}, f)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(settings, f)
    return folder
