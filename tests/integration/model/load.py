"""Many clients of `pipectl model serve` over a real engine: clients that come at random, each with its own prompts, parameters and ways of reading, get what each gets alone; so they do beside
clients that are slow, rude or vanish, under limits that are small, with other slots, cuts and devices. Figures are printed.
usage: load.py quick|full DEVICE...; full: 32 clients, and a device whose steps give what an earlier one gave, which is seen"""
import functools
import json
import os
import random
import socket
import sys
import threading
import time

from harness import Harness, patient, share

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
import fake  # noqa: E402

h = Harness()
FULL = sys.argv[1] == "full"
CLIENTS, EACH, MOST = (32, 4, 24) if FULL else (len(share(range(6), 2)), 2, 6)
SEED = 20261127
NAME, TOKENIZER = "model.gguf", h.path("tokenizer.json")
SMALL = ["--layers", "2", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "400", "--context", "256"]
LIMITS = ["--context", "256", "--connections", "200", "--peer-connections", "200", "--peer-requests", "200", "--body-bytes", "20000", "--prompt-tokens", "200", "--prompts", "4", "--choices", "3",
          "--answer-bytes", "400000", "--output-bytes", "2048", "--receive", "3", "--idle", "6", "--stall", "2"]
HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def serve(device, *more):
    s = fake.Server(*LIMITS, *more, program=[h.pipectl, "--home", h.path("home"), "model", "serve", "--model", h.path(NAME), "--tokenizer", TOKENIZER,
                                                       "--family", "qwen2.5", "--backend", device])
    s.ask = functools.partial(s.ask, timeout=patient(280))  # 32 wait for one another
    return s


# ---- what clients ask

def requests(rng):
    """Of one client: path, parameters, whether it reads a stream."""
    out = []
    for _ in range(EACH):
        path = rng.choice(["completions", "completions", "chat/completions", "embeddings"])
        words = "".join(rng.choice("abcdefgh ijk") for _ in range(rng.choice([3, 20, 60]) + rng.randrange(30)))
        if path == "embeddings":
            out.append((path, {"model": NAME, "input": words}, False))
            continue
        p = {"model": NAME, "max_tokens": rng.randrange(1, MOST), "temperature": 0}
        if rng.random() < 0.7:
            p.update(temperature=rng.choice([0.5, 1, 1.5]), seed=rng.randrange(1000))
        for chance, key, value in ((0.3, "top_p", rng.choice([0.5, 0.9])), (0.3, "top_k", rng.randrange(1, 40)), (0.2, "repetition_penalty", 1.25), (0.2, "frequency_penalty", 0.5),
                                   (0.2, "stop", ["e", "the"]), (0.2, "n", rng.randrange(2, 4))):
            if rng.random() < chance:
                p[key] = value
        p.update({"prompt": words} if path == "completions" else {"messages": [{"role": "user", "content": words}]})
        out.append((path, p, rng.random() < 0.5))
    return out


def ask(s, path, p, streams):
    """What is to be the same: texts with how they ended, or features; and how many tokens were made."""
    if streams:
        events = s.stream(path, **p)
        parts = [c for e in events[:-1] for c in e["choices"]] if events[-1] == "[DONE]" else []
        return [("".join(c.get("text") or c.get("delta", {}).get("content") or "" for c in parts if c["index"] == i), [c["finish_reason"] for c in parts if c["index"] == i][-1])
                for i in range(p.get("n", 1))], 0
    status, doc = s.post(path, **p)
    if status != 200:
        return doc, 0
    if path == "embeddings":
        return doc["data"], 0
    return [(c.get("text", c.get("message", {}).get("content")), c["finish_reason"]) for c in doc["choices"]], doc["usage"]["completion_tokens"]


def together(s, work, rng):
    """All at once: answers, and the seconds that each took."""
    got, took = [[None] * EACH for _ in work], []
    waits = [[rng.expovariate(8) for _ in range(EACH)] for _ in work]

    def client(i):
        for k, r in enumerate(work[i]):
            time.sleep(min(waits[i][k], 1))
            began = time.monotonic()
            try:
                got[i][k] = ask(s, *r)[0]
            except Exception as e:
                got[i][k] = repr(e)
            took.append(time.monotonic() - began)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(work))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(patient(300))
    return got, sorted(took)


def differing(alone, got):
    return [(i, k) for i in range(CLIENTS) for k in range(EACH) if got[i][k] != alone[i][k]]


def same(what, alone, got):
    wrong = differing(alone, got)
    h.check(what, not wrong, f"seed {SEED}: {len(wrong)} of {CLIENTS * EACH} differ, the first: " + (repr((alone[wrong[0][0]][wrong[0][1]], got[wrong[0][0]][wrong[0][1]]))[:600] if wrong else ""))


# ---- who is slow, rude or gone

def body(**p):
    data = json.dumps({"model": NAME, "prompt": "x", **p}).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(data) + data


class Nuisance:
    """Until it is told to end: one of each kind after the other, some of them beside one another."""

    def __init__(self, s, kinds):
        self.s, self.run, self.done, self.refused = s, True, dict.fromkeys(kinds, 0), 0
        self.threads = [threading.Thread(target=self.work, args=(k,)) for k in kinds]
        for t in self.threads:
            t.start()

    def work(self, kind):
        while self.run:
            try:
                getattr(self, kind)()
            except OSError:
                pass  # the server had enough of it
            self.done[kind] += 1
            time.sleep(0.02)

    def send(self, data, read=0.0, timeout=2):
        c = self.s.connect(patient(timeout))
        c.sendall(data)
        time.sleep(read)
        return c

    def rude(self):
        for data in (b"hello\r\n\r\n", bytes(3000), b"GET /" + b"a" * 30000, HEAD + b"Content-Length: -1\r\n\r\n", HEAD + b"Content-Length: 9\r\n\r\n{\"model\":"):
            self.send(data).close()

    def slow(self):
        c, data = self.s.connect(patient(2)), body(max_tokens=3)
        for i in range(40):
            if not self.run:
                break
            c.sendall(data[i:i + 1])
            time.sleep(0.05)
        c.close()

    def deaf(self):
        """A long stream that nobody reads."""
        c = self.s.connect(patient(2))
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        c.sendall(body(prompt="deaf", max_tokens=150, stream=True, logprobs=5, n=2))
        for _ in range(60):
            time.sleep(0.05 if self.run else 0)
        c.close()

    def gone(self):
        for streams in (False, True):
            self.send(body(prompt="gone" * 10, max_tokens=120, stream=streams, n=2), 0.1).close()
        c = self.send(body(prompt="half", max_tokens=120), 0.05)
        c.shutdown(socket.SHUT_WR)
        time.sleep(0.05)
        c.close()

    def greedy(self):
        for data in (HEAD + b"Content-Length: 99999999\r\n\r\n", body(max_tokens=2, prompt="y" * 15000)):
            self.refused += [status for status, _ in self.s.answers(data)] in ([413], [400])

    def end(self, what):
        self.run = False
        for t in self.threads:
            t.join(patient(30))
        h.check(f"{what}: there were some of each kind", all(self.done.values()) and ("greedy" not in self.done or self.refused > 0), f"{self.done} {self.refused}")


def limits(s):
    """Each size that is refused, with its code, and the largest that is not."""
    got = s.answers(body(prompt="y" * 21000))  # refused by its length, before it is read
    h.check("a limit: a body", got and got[0][0] == 413 and b"PC6257" in got[0][1], str(got)[:300])
    for what, p, status, code in (("a prompt of too many tokens", {"prompt": "~" * 230}, 400, None), ("too many prompts", {"prompt": ["a"] * 5}, 400, None), ("too many answers", {"n": 4}, 400, None),
                                  ("bytes of an answer", {"max_tokens": 100, "n": 3, "logprobs": 5, "prompt": ["a"] * 4}, 400, None)):
        got, doc = s.post("completions", **{"model": NAME, "prompt": "x", "max_tokens": 2, "temperature": 0, **p})
        error = doc.get("error", {})
        h.check(f"a limit: {what}", got == status and str(error.get("code", "")).startswith("PC6") and code in (None, error.get("code")), f"{got} {str(doc)[:300]}")
    got, doc = s.post("completions", model=NAME, prompt=["x"] * 4, n=3, max_tokens=2, temperature=0)
    h.check("and as much as is allowed", got == 200 and len(doc["choices"]) == 12, str(doc)[:300])


# ---- all of it

def figures(what, took, seconds, tokens):
    n = len(took)
    print(f"{what}: {n} requests, {tokens} tokens in {seconds:.2f} s: {n / seconds:.1f} requests/s, {tokens / seconds:.0f} tokens/s; an answer after {took[n // 2]:.3f} s (median), "
          f"{took[min(n - 1, n * 95 // 100)]:.3f} s (95 of 100), {took[-1]:.3f} s at most", flush=True)


def ended(what, s):
    h.check(f"{what}: nobody is left", s.idle(patient(20)), str(s.health()))
    status, err = s.stop(seconds=patient(60))
    h.check(f"{what}: it ends well", status == 0 and "error" not in err, f"{status} {err[-600:]}")


def whole(device, work):
    """The answers that each gets alone."""
    rng = random.Random(SEED + 1)
    s = serve(device, "--slots", "8", "--chunk", "16", "--step-tokens", "64")
    began, took, alone, tokens = time.monotonic(), [], [], 0
    for client in work:
        alone.append([])
        for path, p, _ in client:
            at = time.monotonic()
            answer, n = ask(s, path, p, False)
            took.append(time.monotonic() - at)
            alone[-1].append(answer)
            tokens += n
    figures(f"{device}, one after the other", sorted(took), time.monotonic() - began, tokens)
    h.check(f"{device}: there are answers", all(isinstance(a, list) and a for c in alone for a in c), str(alone)[:400])
    h.check(f"{device}: and they are of many kinds", len({json.dumps(a) for c in alone for a in c}) > CLIENTS * EACH * 0.7)
    threads, files = s.threads(), s.files()
    began = time.monotonic()
    got, took = together(s, work, rng)
    figures(f"{device}, {CLIENTS} clients", took, time.monotonic() - began, tokens)
    same(f"{device}: {CLIENTS} clients get what each gets alone", alone, got)
    memory = s.memory()
    for kinds in (["rude", "slow", "deaf", "gone", "greedy"], ["deaf", "gone"])[:2 if FULL else 1]:
        what = f"{device}, beside who is {', '.join(kinds)}"
        n = Nuisance(s, kinds)
        began = time.monotonic()
        got, took = together(s, work, rng)
        n.end(what)
        figures(what, took, time.monotonic() - began, tokens)
        same(f"{what}: the same answers", alone, got)
        h.check(f"{what}: their places are free again", s.idle(patient(20)), str(s.health()))
    limits(s)
    # A pipeline that is built later has files of its own; connections, of which there were hundreds, leave none.
    h.check(f"{device}: threads, files and memory are bounded", s.threads() == threads and s.files() <= files + 24 and s.memory() < memory + 40000,
            f"{s.threads()} {threads}, {s.files()} {files}, {s.memory()} KiB, {memory} before")
    ended(device, s)
    return alone


def main():
    status, _, err = h.run("tokenizer", "train", "--tokens", "400", "--kind", "bpe", "--family", "qwen2", "--token", "<|endoftext|>", "--token", "<|im_start|>", "--token", "<|im_end|>",
                           "--out", TOKENIZER, "/usr/share/common-licenses/GPL-3")
    h.check("a tokenizer", status == 0, err)
    status, _, err = h.run("model", "synth", "--shape", "qwen2.5-0.5b", "--seed", "1", *SMALL, "--out", h.path(NAME))
    h.check("a model", status == 0, err)
    rng = random.Random(SEED)
    work = [requests(rng) for _ in range(CLIENTS)]
    alone = None
    for device in sys.argv[2:]:
        here = whole(device, work)
        h.check(f"{device}: answers are those of any device", alone in (None, here))
        alone = here
    # What the server is told about batches changes no answer.
    for what, options in (("one slot", ["--slots", "1"]), ("32 slots, whole prompts", ["--slots", "32", "--chunk", "200"]), ("steps of 8 tokens", ["--slots", "4", "--chunk", "5", "--step-tokens", "8"]))[:3 if FULL else 1]:
        s = serve(sys.argv[-1], *options)
        same(what, alone, together(s, work, rng)[0])
        ended(what, s)
    if FULL:
        s = serve("mock:wrap=cpu+late-stale", "--slots", "4")
        wrong = differing(alone, together(s, work, rng)[0])
        h.check("a device that gives in a step what it gave in the first is seen", len(wrong) > 0)
        print(f"a device whose later steps give what the first gave: {len(wrong)} of {CLIENTS * EACH} answers differ", flush=True)
        s.stop(seconds=patient(60))
    h.finish()


main()
