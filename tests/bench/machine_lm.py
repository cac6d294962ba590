"""A language model in a machine of the GPU VM (`vm generate`) beside `generate` on the same device: tokens of a second behind the first, submissions, dispatches and barriers of a token, and what the
regulator takes: bench_vm's executions of as many instances whose layers do next to nothing. Logits of the first token are compared to the bit. The model has seeded weights.
usage: machine_lm.py PIPECTL BACKEND [LAYERS [TOKENS [SHAPE [TYPE]]]]; 28 layers, 24 tokens, qwen2.5-1.5b and bf16 where they are left out."""
import json
import os
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


def main():
    pipectl, backend = sys.argv[1:3]
    layers, tokens, shape, kind = (sys.argv[3:] + ["28", "24", "qwen2.5-1.5b", "bf16"][len(sys.argv) - 3:])[:4]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.gguf")
        _, took = run(pipectl, "model", "synth", "--shape", shape, "--type", kind, "--layers", layers, "--context", "512", "--seed", "1", "--out", model)
        print(f"{shape} {kind}, {layers} layers: {os.path.getsize(model) / 2**30:.2f} GiB, written in {took:.1f} s", flush=True)
        documents = {}
        for name, words in (("generate", ["generate", "--chunk", "8"]), ("machine", ["vm", "generate"])):
            logits = os.path.join(folder, name + ".bin")
            run(pipectl, *words, "--model", model, "--prompt", "A fox.", "--tokens", "1", "--context", "256", "--ignore-end", "--backend", backend, "--logits", logits)
            text, took = run(pipectl, *words, "--model", model, "--prompt", "A fox.", "--tokens", tokens, "--context", "256", "--ignore-end", "--backend", backend, "--json")
            documents[name] = d = json.loads(text)
            layer = d.get("advice", {}).get("layer_ns", [])
            print(f"{name:16} {d['tokens_per_second']:9.2f} tokens/s, first after {d['first_token_seconds']:.3f} s, {d['submissions']} submissions, "
                  f"{d['dispatches_of_a_token']} dispatches a token" + (f", {d['barriers_of_a_token']} barriers, {int(d['device_ns_of_a_token']) / 1e6:.3f} ms on the device" if "barriers_of_a_token" in d else "") +
                  (f", layers {min(map(int, layer)) / 1e3:.0f} to {max(map(int, layer)) / 1e3:.0f} us" if layer else "") + f"; {took:.1f} s in all", flush=True)
        same = documents["generate"]["sequences"][0]["tokens"] == documents["machine"]["sequences"][0]["tokens"]
        with open(os.path.join(folder, "generate.bin"), "rb") as a, open(os.path.join(folder, "machine.bin"), "rb") as b:
            same = same and a.read() == b.read()
        print("the same tokens, and the first one's logits to the bit" if same else "OTHER TOKENS OR LOGITS", flush=True)
    bench = os.path.join(os.path.dirname(pipectl), "bench_vm")
    if os.path.exists(bench):
        with tempfile.TemporaryDirectory() as home:
            text, _ = run(bench, os.environ.get("PIPECTL_HOME", home), backend, layers)
            print(text.decode().strip())
    sys.exit(0 if same else 1)


main()
