"""A language model in a machine of the GPU VM (`vm generate`) beside `generate` on the same device: tokens of a second behind the first, submissions, dispatches and barriers of a token, and what the
regulator takes: bench_vm's executions of as many instances whose layers do next to nothing. All logits are compared to the bit. The model is one layer with seeded weights, as often as is asked, so
that it is written in seconds; its vocabulary is 4,096 tokens.
usage: machine_lm.py PIPECTL BACKEND [LAYERS [TOKENS [SHAPE [TYPE]]]]; 28 layers, 24 tokens, qwen2.5-1.5b and bf16 where they are left out."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time


def run(*command):
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[1:3])}: {done.stderr.decode()[-600:]}")
    return done.stdout, time.monotonic() - began


def repeat(one, many, layers):
    """A folder of a model of one layer as one of so many layers, all alike."""
    os.makedirs(many)
    with open(os.path.join(one, "model.safetensors"), "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        header, data = json.loads(f.read(n)), f.read()
    parts, out, at = [], {}, 0
    for name, t in header.items():
        if name == "__metadata__":
            continue
        a, b = t["data_offsets"]
        for k in range(layers if ".layers.0." in name else 1):
            out[name.replace(".layers.0.", f".layers.{k}.")] = dict(t, data_offsets=[at, at + b - a])
            parts.append((a, b))
            at += b - a
    text = json.dumps(out).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(many, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a, b in parts:
            f.write(memoryview(data)[a:b])
    for name in os.listdir(one):
        if name not in ("model.safetensors", "config.json"):
            shutil.copy(os.path.join(one, name), many)
    with open(os.path.join(one, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    with open(os.path.join(many, "config.json"), "w", encoding="utf-8") as f:
        json.dump(dict(config, num_hidden_layers=layers), f)


def told(name, d, took):
    layer = list(map(int, d.get("advice", {}).get("layer_ns", [])))
    line = (f"{name:9} {d['tokens_per_second']:9.2f} tokens/s, first after {d['first_token_seconds']:.3f} s, {d['submissions']} submissions, "
            f"{d['dispatches_of_a_token']} dispatches a token")
    if "barriers_of_a_token" in d:
        line += f", {d['barriers_of_a_token']} barriers, {int(d['device_ns_of_a_token']) / 1e6:.3f} ms on the device"
    if layer:
        line += f", a layer {min(layer) / 1e3:.0f} to {max(layer) / 1e3:.0f} us"
    print(f"{line}; {took:.1f} s in all", flush=True)


def main():
    pipectl, backend = sys.argv[1:3]
    layers, tokens, shape, kind = sys.argv[3:] + ["28", "24", "qwen2.5-1.5b", "bf16"][len(sys.argv) - 3:]
    with tempfile.TemporaryDirectory() as folder:
        model, one, began = os.path.join(folder, "model"), os.path.join(folder, "one"), time.monotonic()
        run(pipectl, "model", "synth", "--shape", shape, "--type", kind, "--layers", "1", "--vocab", "4096", "--context", "512", "--seed", "1", "--out", one)
        repeat(one, model, int(layers))
        size = os.path.getsize(os.path.join(model, "model.safetensors"))
        print(f"{shape} {kind}, {layers} layers: {size / 2**30:.2f} GiB, made in {time.monotonic() - began:.1f} s", flush=True)
        logits, documents = [], []
        for name, words in (("generate", ["generate", "--chunk", "1"]), ("machine", ["vm", "generate"])):
            path = os.path.join(folder, name)
            text, took = run(pipectl, *words, "--model", model, "--prompt", "A fox.", "--tokens", tokens, "--context", "256", "--ignore-end", "--backend", backend, "--json", "--logits", path)
            documents.append(json.loads(text))
            told(name, documents[-1], took)
            with open(path, "rb") as f:
                logits.append(f.read())
        same = logits[0] == logits[1]
        print(f"logits of {tokens} tokens are the same, to the bit" if same else "OTHER LOGITS", flush=True)
    bench = os.path.join(os.path.dirname(pipectl), "bench_vm")
    if os.path.exists(bench):
        with tempfile.TemporaryDirectory() as home:
            print(run(bench, os.environ.get("PIPECTL_HOME", home), backend, layers)[0].decode().strip())
    sys.exit(0 if same else 1)


main()
