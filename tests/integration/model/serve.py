"""`pipectl model serve` with a real engine on the reference: what `generate` gives, whoever else asks; streams, chats, embeddings; every limit given; an end that leaves nothing.
usage: serve.py"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from harness import Harness, patient

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
import fake  # noqa: E402

h = Harness()
MODEL, TOKENIZER = h.path("model.gguf"), h.path("tokenizer.json")
SMALL = ["--layers", "2", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "400", "--context", "256"]
ASKED = ["--model", MODEL, "--tokenizer", TOKENIZER, "--family", "qwen2.5", "--context", "256", "--backend", "cpu"]
LIMITS = ["--connections", "64", "--peer-connections", "64", "--requests", "64", "--peer-requests", "64", "--header-bytes", "8192", "--body-bytes", "65536", "--bodies-bytes", "1048576",
          "--prompt-tokens", "4096", "--prompts", "8", "--choices", "4", "--answer-bytes", "65536", "--output-bytes", "65536", "--step-tokens", "64", "--idle", "60", "--receive", "60",
          "--total", "600", "--stall", "60", "--drain", "20", "--metrics", "5"]


def program():
    return [h.pipectl, "--home", h.path("home"), "model", "serve", *ASKED, "--slots", "4", "--chunk", "16", *LIMITS]


def generated(prompt, n, *more):
    status, out, err = h.run("generate", *ASKED, "--prompt", prompt, "--tokens", str(n), "--json", *more)
    h.check("generate", status == 0, err)
    return json.loads(out)["sequences"][0]["text"]


def answers(s, work):
    """What all get who ask at once."""
    got = [None] * len(work)

    def client(i):
        try:
            got[i] = s.post("completions", model="model.gguf", **work[i])
        except Exception as e:
            got[i] = repr(e)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(work))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(patient(200))
    return [g[1]["choices"][0]["text"] if isinstance(g, tuple) and g[0] == 200 else g for g in got]


def requests(rng):
    out = []
    for _ in range(12):
        p = {"prompt": "".join(rng.choice("abc defg") for _ in range(rng.choice([3, 20, 60]))), "max_tokens": rng.randrange(2, 10)}
        if rng.random() < 0.6:
            p.update(temperature=0.9, seed=rng.randrange(100))
        if rng.random() < 0.3:
            p.update(frequency_penalty=0.5)
        out.append(p)
    return out


def main():
    status, _, err = h.run("tokenizer", "train", "--tokens", "400", "--kind", "bpe", "--family", "qwen2", "--token", "<|endoftext|>", "--token", "<|im_start|>", "--token", "<|im_end|>",
                           "--out", TOKENIZER, "/usr/share/common-licenses/GPL-3")
    h.check("a tokenizer", status == 0, err)
    status, _, err = h.run("model", "synth", "--shape", "qwen2.5-0.5b", "--seed", "1", *SMALL, "--out", MODEL)
    h.check("a model", status == 0, err)
    chat = generated("How are you?", 5, "--chat", "--system", "Be brief.", "--min-p", "0.01")
    s = fake.Server(program=program())
    status, _, data = s.ask("GET", "/v1/models")
    h.check("models", status == 200 and json.loads(data)["data"][0]["id"] == "model.gguf", data)
    text = generated("the licence", 6)
    status, doc = s.post("completions", model="model.gguf", prompt="the licence", max_tokens=6, temperature=0)
    h.check("a completion is what generate gives", status == 200 and doc["choices"][0]["text"] == text, f"{doc} {text!r}")
    events = s.stream("completions", model="model.gguf", prompt="the licence", max_tokens=6, temperature=0)
    h.check("and so is a stream", "".join(c["text"] for e in events[:-1] for c in e["choices"]) == text and events[-1] == "[DONE]", str(events)[:400])
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How are you?"}]
    status, doc = s.post("chat/completions", model="model.gguf", messages=messages, max_tokens=5, temperature=0, min_p=0.01)
    h.check("a chat", status == 200 and doc["choices"][0]["message"]["content"] == chat, f"{doc} {chat!r}")
    status, doc = s.post("completions", model="model.gguf", prompt="the", max_tokens=3, temperature=0, logprobs=2)
    logprobs = doc["choices"][0]["logprobs"] if status == 200 else None
    h.check("logprobs fall", logprobs is not None and all(x < 0 for x in logprobs["token_logprobs"]) and len(logprobs["top_logprobs"][0]) == 2, str(doc)[:400])
    status, one = s.post("embeddings", model="model.gguf", input="the licence")
    _, two = s.post("embeddings", model="model.gguf", input=["other", "the licence"])
    h.check("embeddings", status == 200 and len(one["data"][0]["embedding"]) == 64 and two["data"][1]["embedding"] == one["data"][0]["embedding"], str(one)[:300])
    status, doc = s.post("completions", model="model.gguf", prompt="x" * 2000, max_tokens=3)
    h.check("a prompt that is too long", status == 400, f"{status} {doc}")
    work = requests(random.Random(5))
    alone = [answers(s, [w])[0] for w in work]
    together = answers(s, work)
    h.check("who asks together gets what each gets alone", alone == together and all(isinstance(a, str) for a in alone), f"{alone} {together}"[:1500])
    s.process.send_signal(signal.SIGTERM)
    h.check("it ends, and leaves no socket", s.process.wait(patient(60)) == 0 and not os.path.exists(s.path), str(s.process.returncode))
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    # A tokenizer that comes when it is given: until then the model is not loaded, and who connects waits for the answer.
    late = h.path("late.json")
    os.mkfifo(late)
    p = subprocess.Popen([h.pipectl, "--home", h.path("home"), "model", "serve", *[late if a == TOKENIZER else a for a in ASKED], "--port", str(port)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    client, until = None, time.monotonic() + patient(60)
    while client is None and p.poll() is None and time.monotonic() < until:
        try:
            client = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)
    if not h.check("it listens before there is a model", client is not None):
        p.kill()
        h.finish()
    client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    with open(TOKENIZER, "rb") as f, open(late, "wb") as to:
        to.write(f.read())
    line = p.stderr.readline().decode()
    while line and "listening" not in line:
        line = p.stderr.readline().decode()
    h.check("on a port", str(port) in line, line)
    client.settimeout(patient(60))
    h.check("who came before the model is answered", client.makefile("rb").readline().startswith(b"HTTP/1.1 200 OK"), "")
    client.close()
    p.send_signal(signal.SIGTERM)
    h.check("it ends well there, too", p.wait(patient(60)) == 0, str(p.returncode))
    for args, word in ((["--socket", h.path("s"), "--port", "1"], "PC0010"), (["--port", "70000"], "PC6250"), (["--port", str(port), "--slots", "0"], "PC6290")):
        status, _, err = h.run("model", "serve", *ASKED, *args)
        h.check(f"refused: {args[-2:]}", status != 0 and word in err, err[:400])
    # Where it listens is looked at before the model is: of two things that are wrong, that one is told.
    nothing = ["model", "serve", "--model", h.path("no model")]
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    for args, code in ((["--socket", h.path("no folder/s")], "PC6251"), (["--port", str(taken.getsockname()[1])], "PC6252"),
                       (["--socket", h.path("s"), "--connections", "0"], "PC0010")):
        status, _, err = h.run(*nothing, *args)
        h.check(f"before the model: {args[-2:]}", status != 0 and code in err and "no model" not in err, err[:400])
    taken.close()
    status, _, err = h.run(*nothing, "--socket", h.path("s"))
    h.check("a model that is not there leaves no socket", status != 0 and "no model" in err and "listening" not in err and not os.path.exists(h.path("s")), err[:400])
    other = [a if a != "qwen2.5" else "llama3" for a in ASKED]
    status, _, err = h.run("model", "serve", *other, "--socket", h.path("s"))
    h.check("a family whose tokens are not there", status == 3 and "PC7023" in err and "<|begin_of_text|>" in err and "listening" not in err, f"{status} {err[:400]}")
    h.finish()


main()
