"""Decode of a language model on a processor's cores beside what those cores read from memory, in one run by turns: tokens a second times the bytes of the weights, as a part of that bandwidth. The peer reads 256 MiB a
core with one process a core (NumPy's bitwise or of all words). Processor seconds stand beside seconds, for what else runs takes from both: those of a token are the difference of two lengths.
`first` asks for the first token instead, in a home that is made for it and then once more in that home; beside it what opening took, by which all files are read and named, and what is left of the process.
usage: cpu_model.py decode|first PIPECTL BACKEND MODEL [TOKENS [TRIES]]; a model: pipectl model synth --shape qwen3-0.6b --type q8_0 --seed 1 --context 1024 --out model.gguf"""
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time

PEER_BYTES = 1 << 28


def read_memory(barrier, out):
    import numpy as np
    x = np.ones(PEER_BYTES // 8, np.uint64)
    took, used = [], []
    for _ in range(4):
        barrier.wait()
        began, before = time.monotonic(), time.process_time()
        np.bitwise_or.reduce(x)
        took.append(time.monotonic() - began)
        used.append(time.process_time() - before)
    out.put((min(took), min(used)))


def bandwidth():
    """Bytes a second of all cores together, by the clock and by processor time: the best of four turns of the slowest."""
    cores = len(os.sched_getaffinity(0))
    barrier, out = multiprocessing.Barrier(cores), multiprocessing.Queue()
    peers = [multiprocessing.Process(target=read_memory, args=(barrier, out)) for _ in range(cores)]
    for p in peers:
        p.start()
    found = [out.get() for _ in peers]
    for p in peers:
        p.join()
    return [cores * PEER_BYTES / max(f[i] for f in found) for i in range(2)]


def processor_seconds():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def generate(pipectl, backend, model, tokens):
    began, used = time.monotonic(), processor_seconds()
    done = subprocess.run([pipectl, "generate", "--model", model, "--prompt", "A fox.", "--tokens", str(tokens), "--context", "256", "--ignore-end", "--backend", backend, "--json"], capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode()[-800:])
    return json.loads(done.stdout), time.monotonic() - began, processor_seconds() - used


def decode(pipectl, backend, model, tokens, tries):
    generate(pipectl, backend, model, 2)
    print("  tokens/s  GB/s of weights  GB/s read  of it | by processor time: ms a token  GB/s of weights  GB/s read  of it")
    for _ in range(tries):
        before = bandwidth()
        _, _, few = generate(pipectl, backend, model, 2)
        document, _, many = generate(pipectl, backend, model, tokens)
        peer = [(a + b) / 2 for a, b in zip(before, bandwidth())]
        size, cores = int(document["weight_bytes"]), len(os.sched_getaffinity(0))
        rate = int(document["decode"]["tokens"]) / document["decode"]["seconds"]
        used = (many - few) / (tokens - 2)
        by_time = size * cores / used
        line = {"model": os.path.basename(model), "backend": backend, "cores": cores, "load": os.getloadavg()[0], "weight_bytes": size, "tokens_per_second": rate, "read_bytes_per_second": peer[0],
                "of_bandwidth": rate * size / peer[0], "processor_seconds_a_token": used, "read_bytes_per_second_by_processor_time": peer[1], "of_bandwidth_by_processor_time": by_time / peer[1]}
        print(f"{rate:10.2f} {rate * size / 1e9:16.2f} {peer[0] / 1e9:10.2f} {line['of_bandwidth']:6.2f} | {1e3 * used:30.1f} {by_time / 1e9:16.2f} {peer[1] / 1e9:10.2f} {line['of_bandwidth_by_processor_time']:6.2f}   load {line['load']:.0f}")
        print(json.dumps(line), flush=True)


def first(pipectl, backend, model):
    with tempfile.TemporaryDirectory() as home:
        os.environ["PIPECTL_HOME"] = home
        for what in ("a fresh home", "once more"):
            document, took, used = generate(pipectl, backend, model, 1)
            line = {"what": what, "backend": backend, "first_token_seconds": document["first_token_seconds"], "load_seconds": took - document["first_token_seconds"], "seconds": took, "processor_seconds": used, "build_seconds": document["build_seconds"], "load": os.getloadavg()[0]}
            print(f"{what:13} opened in {line['load_seconds']:.1f} s, first token {line['first_token_seconds']:.1f} s behind that, {took:.1f} s in all, {used:.1f} s of a processor, load {line['load']:.0f}")
            print(json.dumps(line), flush=True)


def main():
    what, pipectl, backend, model = sys.argv[1:5]
    if what == "first":
        first(pipectl, backend, model)
        return
    decode(pipectl, backend, model, int((sys.argv[5:] or [16])[0]), int((sys.argv[6:] or [3])[0]))


if __name__ == "__main__":
    main()
