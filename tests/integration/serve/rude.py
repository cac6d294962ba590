"""Clients that are slow, rude or gone hurt nobody: what each gets, what becomes of its sequence, and that another client beside them is
answered all the time, in time. Limits: bodies, headers, connections, requests, time. An engine that fails or runs out of room."""
import concurrent.futures
import json
import signal
import socket
import sys
import threading
import time

import fake
from harness import Harness, patient

h = Harness()
HEAD = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def request(body, head=HEAD, more=""):
    body = body if isinstance(body, bytes) else json.dumps(dict({"model": "fake"}, **body)).encode()
    return (head + more + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


RECEIVE_S = 4  # how long a request may come


class Witness:
    """Somebody else, who asks all the time: how long the longest answer took, and whether all were right."""

    def __init__(self, s):
        self.s, self.slowest, self.n, self.wrong, self.run = s, 0, 0, 0, True
        self.want = fake.answer(list(b"witness"), {}, 20, endless=True)[:2]
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while self.run:
            began = time.monotonic()
            c, sent = self.s.connect(), began + RECEIVE_S
            try:
                c.sendall(request({"prompt": "witness", "max_tokens": 20}))
                sent = time.monotonic()
                status, doc = self.s.answers(b"", on=c)[0]
                doc = json.loads(doc)
                self.wrong += status != 200 or (doc["choices"][0]["text"], doc["choices"][0]["finish_reason"]) != self.want
            except Exception:
                # On a busy machine it may be this client that took too long over its request.
                self.wrong += sent - began < RECEIVE_S / 2
            c.close()
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.n += 1
            time.sleep(0.02)

    def end(self, name):
        until = time.monotonic() + patient(20)
        while self.n < 4 and time.monotonic() < until:
            time.sleep(0.02)
        self.run = False
        self.thread.join()
        h.check(f"{name}: somebody else is served", self.n > 3 and self.wrong == 0 and self.slowest < patient(2), (self.n, self.wrong, self.slowest))


def code_of(raw):
    return raw.split(b"\r\n")[0].decode("latin1"), raw.partition(b"\r\n\r\n")[2]


s = fake.Server("--endless", 1, "--step-us", 500, "--receive", RECEIVE_S, "--idle", 6, "--stall", 2, "--output-bytes", 4096, "--body-bytes", 20000, "--peer-connections", 200, "--slots", 4,
                "--context", 100000, "--total", 600, log=True)
plain = request({"prompt": "x", "max_tokens": 3})
threads = s.threads()  # a sanitizer may have one of its own
w = Witness(s)
# ---- rude: what is no HTTP, or too much of it -----------------------------------------------------------------------------------------
rude = (("no HTTP", b"hello\r\n\r\n"), ("TLS", bytes.fromhex("160301020001000001fc0303") + bytes(500)), ("zeros", bytes(50000)), ("one long line", b"GET /" + b"a" * 100000),
        ("endless headers", HEAD.encode() + b"".join(b"X-%d: y\r\n" % i for i in range(20000))), ("one long header", HEAD.encode() + b"X: " + b"y" * 100000),
        ("a negative length", HEAD.encode() + b"Content-Length: -1\r\n\r\n"), ("a length of letters", HEAD.encode() + b"Content-Length: 1x\r\n\r\n{"),
        ("a length beyond 64 bits", HEAD.encode() + b"Content-Length: 99999999999999999999999\r\n\r\n"), ("HTTP/3.0", b"GET /health HTTP/3.0\r\nHost: x\r\n\r\n"),
        ("no host", b"GET /health HTTP/1.1\r\n\r\n"), ("a bare LF", b"GET /health HTTP/1.1\nHost: x\n\n"), ("two lengths", HEAD.encode() + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"),
        ("an empty request", b"\r\n\r\n"), ("a method of bytes", b"\xff\xfe /health HTTP/1.1\r\nHost: x\r\n\r\n"))


def all_at_once(cases, sent=lambda case: case[1]):
    """Each case, and what the server said to it: some connections it closes only after its time."""
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        return list(zip(cases, pool.map(lambda case: s.raw(sent(case)), cases)))


for (name, _), got in all_at_once(rude):
    h.check(f"rude: {name}", b"200 OK" not in got or name in ("a bare LF", "no host", "HTTP/3.0"), got[:200])
for (name, _, status, code), got in all_at_once((
        ("a body too large", request(b"{" + b" " * 30000), "413", "PC6257"), ("a huge one announced", (HEAD + "Content-Length: 999999999999\r\n\r\n").encode(), "413", "PC6257"),
        ("chunks", (HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").encode(), "411", "PC6258"), ("no length", HEAD.encode() + b"\r\n", "411", "PC6258"))):
    line, body = code_of(got)
    h.check(f"rude: {name}", status in line and json.loads(body)["error"]["code"] == code, (line, body))
# What two who read it might end at two places, and what brings a second request in its body: refused, and nothing behind it is answered.
behind = request({"prompt": "smuggled", "max_tokens": 1})
one = json.dumps({"model": "fake", "prompt": "a", "max_tokens": 2}).encode()
for (name, _, status, code), got in all_at_once((
        ("two lengths", HEAD.encode() + b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(one), len(one) + len(behind)) + one + behind, "411", "PC6258"),
        ("two lengths, the other way round", HEAD.encode() + b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(one) + len(behind), len(one)) + one + behind, "411", "PC6258"),
        ("the same length twice", HEAD.encode() + b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(one), len(one)) + one + behind, "411", "PC6258"),
        ("two lengths in one header", HEAD.encode() + b"Content-Length: %d, %d\r\n\r\n" % (len(one), len(one)) + one + behind, "411", "PC6258"),
        ("a length and chunks", HEAD.encode() + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (len(one) + 9) + one + behind, "411", "PC6258"),
        ("chunks in a folded line", HEAD.encode() + b"Content-Length: %d\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" % len(one) + one + behind, "411", "PC6258"),
        ("a length with a sign", HEAD.encode() + b"Content-Length: +%d\r\n\r\n" % len(one) + one + behind, "411", "PC6258"),
        ("chunks for a document", b"GET /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + behind, "411", "PC6258"),
        ("a body without end for a document", b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n" + behind, "411", "PC6258"))):
    line, body = code_of(got)
    if status in line:
        body = json.loads(body)["error"]["code"] if body.count(b'"error"') == 1 else body
    h.check(f"smuggled: {name}", (status in line and body == code or b" 400 " in line.encode()) and b" 200 " not in got, got[:400])
got = s.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
h.check("a small body for a document is passed over", got.startswith(b"HTTP/1.1 200 ") and got.count(b"HTTP/1.1") == 1, got)
deep = [("arrays", b"[" * 9000), ("objects", b'{"a":' * 3000), ("whole arrays", b"[" * 5000 + b"]" * 5000), ("a prompt of arrays", b'{"model":"fake","prompt":' + b"[" * 40 + b"]" * 40 + b"}"),
        ("names", b"{" + b",".join(b'"n%d":1' % i for i in range(1500)) + b"}"),
        ("one name over and over", b"{" + b",".join([b'"a":1'] * 2500) + b"}")]
for (name, _), got in all_at_once(deep, lambda case: request(case[1])):
    line, body = code_of(got)
    h.check(f"JSON of many {name}", " 400 " in line and json.loads(body)["error"]["code"] in ("PC6260", "PC6264", "PC6261", "PC6262"), (line, body))
burst = s.connect(patient(20))
burst.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 300 + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
got = b""
while more := burst.recv(65536):
    got += more
burst.close()
h.check("300 requests in one breath are answered in turn", got.count(b"HTTP/1.1 200 OK") == 301, got.count(b"HTTP/1.1"))
two = s.answers(request({"prompt": "a", "max_tokens": 2}) + request({"prompt": "b", "max_tokens": 2}), 2)
h.check("two requests at once", [status for status, _ in two] == [200, 200], two)
w.end("rude")

# ---- slow: bit by bit, or not at all ----------------------------------------------------------------------------------------------------
w = Witness(s)
socks = [s.connect() for _ in range(60)]
for i in range(50):
    for c in socks:
        try:
            c.sendall(plain[i:i + 1])
        except OSError:
            pass
    time.sleep(0.08)
closed = 0
for c in socks:
    c.settimeout(patient(10))
    try:
        closed += b"200 OK" not in c.recv(65536)
    except ConnectionError:
        closed += 1
    except TimeoutError:
        pass
    c.close()
h.check("bit by bit: 60 are closed", closed == 60, closed)
c = s.connect(patient(10))
c.sendall((HEAD + "Content-Length: 100\r\n\r\n{").encode())
got = b""
while more := c.recv(65536):
    got += more
h.check("half a body is not waited for", b" 200 " not in got, got)
c.close()
w.end("slow")

# A reader of a stream that does not read: it is paused, its place given to others, ended after --stall; memory stays.
w = Witness(s)
had = s.memory()
readers = []
for i in range(8):
    c = s.connect()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.sendall(request({"prompt": f"reader {i}", "max_tokens": 90000, "stream": True, "logprobs": 5, "temperature": 0.5}))
    readers.append(c)
time.sleep(3)
h.check("slow readers: bounded", s.memory() < had + 20000, (had, s.memory()))
w.end("slow readers")
h.check("slow readers are ended", s.idle(patient(15)), s.health())
for c in readers:
    c.close()
# One that reads slowly, but reads, gets all of it.
c = s.connect()
c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
c.sendall(request({"prompt": "patience", "max_tokens": 400, "stream": True, "logprobs": 5}, more="Connection: close\r\n"))
got = b""
c.settimeout(patient(30))
while True:
    more = c.recv(20000)
    if not more:
        break
    got += more
    time.sleep(0.02)
c.close()
raw, data = got.partition(b"\r\n\r\n")[2], b""
while raw:  # chunks
    n, _, raw = raw.partition(b"\r\n")
    data, raw = data + raw[:int(n, 16)], raw[int(n, 16) + 2:]
events = [e[6:] for e in data.decode().split("\n\n")[:-1]]
text = "".join(json.loads(e)["choices"][0]["text"] for e in events[:-1])
h.check("a slow reader gets all", events[-1] == "[DONE]" and text == fake.answer(list(b"patience"), {}, 400, endless=True)[0], (events[-1:], len(text)))

# ---- gone: before, while and after ---------------------------------------------------------------------------------------------------------
w = Witness(s)
for streams in (False, True):
    for wait in (0, 0.05, 0.3):
        socks = []
        for i in range(20):
            c = s.connect()
            c.sendall(request({"prompt": "gone" * 20, "max_tokens": 90000, "stream": streams, "stop": "never ever"}))
            socks.append(c)
        time.sleep(wait)
        for c in socks:
            c.close()
        h.check(f"gone after {wait} s{', of streams' if streams else ''}: released", s.idle(), s.health())
for i in range(20):
    c = s.connect()
    c.sendall(plain[:len(plain) * i // 20])
    c.close()
w.end("gone")
c = s.connect()
c.sendall(request({"prompt": "x", "max_tokens": 90000}))
time.sleep(0.2)
c.shutdown(socket.SHUT_WR)
h.check("a closed half is gone, too", s.idle(), s.health())
c.close()
h.check("threads and files are as at first", s.threads() == threads and s.files() < 16, (s.threads(), threads, s.files()))
h.check("it ends well", s.stop() == (0, ""))
lines = [json.loads(line) for line in open(s.log)]
said = [x["fields"] for x in lines if x["message"] in ("answered", "a client is gone")]
h.check("the log: answers", sum(x["http"] == "200" and x["path"] == "/v1/completions" and int(x["prompt_tokens"]) > 0 and int(x["completion_tokens"]) > 0 for x in said) > 20)
h.check("the log: refusals", any(x["http"] == "413" and x["code"] == "PC6257" for x in said))
h.check("the log: who was gone", sum(x["http"] == "0" or x.get("code") == "PC0004" for x in said) > 20)
h.check("the log: a stalled stream", any(x.get("code") == "PC6275" for x in said), [x for x in said if "code" in x][-5:])

# ---- limits of how many ---------------------------------------------------------------------------------------------------------------------
s = fake.Server("--endless", 1, "--connections", 5, "--step-us", 20000, "--requests", 3, "--peer-requests", 2, "--peer-connections", 4, "--context", 100000)
socks = [s.connect() for _ in range(4)]


def refused(what, connection, status, code):
    """Ask until it is refused: those before it may be seen only a moment later."""
    end = time.monotonic() + patient(20)
    while (got := s.answers(plain, on=connection)) and got[0][0] == 200 and time.monotonic() < end:
        time.sleep(0.02)
    h.check(what, got and got[0][0] == status and json.loads(got[0][1])["error"]["code"] == code, got)


line, body = code_of(s.raw(b""))
h.check("too many connections of one", "503" in line and json.loads(body)["error"]["code"] == "PC6274", (line, body))
for c in socks[:2]:
    c.sendall(request({"prompt": "x", "max_tokens": 20000}))
refused("too many requests of one", socks[2], 429, "PC6269")
for c in socks:
    c.close()
h.check("their places are free again", s.idle() and s.post("completions", prompt="x", max_tokens=2)[0] == 200)
s.stop()
s = fake.Server("--connections", 3, "--peer-connections", 9, "--endless", 1, "--step-us", 20000, "--requests", 1, "--peer-requests", 9, "--context", 100000)
socks = [s.connect() for _ in range(3)]
line, body = code_of(s.raw(b""))
h.check("too many connections", "503" in line and json.loads(body)["error"]["code"] == "PC6274", (line, body))
socks[0].sendall(request({"prompt": "x", "max_tokens": 20000}))
refused("too many requests", socks[1], 503, "PC6268")
for c in socks:
    c.close()
s.stop()
s = fake.Server("--bodies-bytes", 2000, "--body-bytes", 1500, "--receive", 600)
c = s.connect()
c.sendall((HEAD + "Content-Length: 1400\r\n\r\n{").encode())
plain = request(b'{"model":"fake","max_tokens":2,"prompt":"' + b"x" * 900 + b'"}')
refused("all bodies together", None, 503, "PC6268")
c.close()
s.stop()

s = fake.Server("--idle", 1, "--receive", 60, "--header-bytes", 4096, "--prompt-tokens", 10, "--prompts", 2, "--choices", 2, "--answer-bytes", 2000)
c = s.connect(patient(10))
began = time.monotonic()
s.answers(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", on=c)
h.check("a silent connection is closed", c.recv(10) == b"" and time.monotonic() - began > 0.9, time.monotonic() - began)
big = b"X: " + b"y" * 6000 + b"\r\n"
h.check("more headers than allowed", b" 200 " not in s.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n" + big + b"\r\n"))
for name, body, code in (("prompt tokens", {"prompt": "x" * 11}, "PC6266"), ("prompts", {"prompt": ["x"] * 3}, "PC6264"), ("choices", {"prompt": "x", "n": 3}, "PC6264"),
                         ("answers", {"prompt": "x", "max_tokens": 40}, "PC6267"), ("answers of logprobs", {"prompt": "x", "max_tokens": 2, "logprobs": 1}, "PC6267")):
    got, doc = s.post("completions", **body)
    h.check(f"a limit of {name}", got == 400 and doc["error"]["code"] == code, doc)
h.check("within them", s.post("completions", prompt=["x" * 10, "y"], n=2, max_tokens=5)[0] == 200)
s.stop()
s = fake.Server()
h.check("as many headers as are usual", b" 200 " in s.raw(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + big + b"\r\n"))
s.stop()

# ---- turns: one client with a long queue does not hold up another --------------------------------------------------------------------------------
HOG = """
import sys, socket, time
sys.path.insert(0, sys.argv[2])
import json
for i in range(40):
    c = socket.socket(socket.AF_UNIX)
    c.connect(sys.argv[1])
    body = json.dumps({"model": "fake", "prompt": "hog %d" % i, "max_tokens": 2000, "stop": "never"}).encode()
    c.sendall(b"POST /v1/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
    globals()["c%d" % i] = c
print("ready", flush=True)
time.sleep(600)
"""
import subprocess
s = fake.Server("--endless", 1, "--slots", 2, "--step-us", 1000, "--step-tokens", 64)
hog = subprocess.Popen([sys.executable, "-c", HOG, s.path, "."], stdout=subprocess.PIPE)
hog.stdout.readline()
end = time.monotonic() + patient(20)
while s.health()["waiting"] < 38 and time.monotonic() < end:
    time.sleep(0.02)
before = s.health()["waiting"]
status, doc = s.post("completions", prompt="y" * 300, max_tokens=20)
waiting = s.health()["waiting"]
h.check("another client has its turn", status == 200 and before > 20 and waiting > 0, (before, waiting))
hog.kill()
hog.wait()
h.check("the hog's places are free", s.idle(), s.health())
s.stop()

# ---- an engine that fails ---------------------------------------------------------------------------------------------------------------------------
s = fake.Server("--endless", 1, "--pool", 200, log=True)
for name, body, status, code in (("a row fails", {"prompt": "a\x07b"}, 500, "PC6272"), ("a token that is none", {"prompt": "a\x06b"}, 500, "PC6272"),
                                 ("no room even alone", {"prompt": "x" * 180, "max_tokens": 50, "stop": "never", "temperature": 0}, 503, "PC6273"), ("fits", {"prompt": "x" * 100, "max_tokens": 50}, 200, None)):
    got, doc = s.post("completions", **body)
    h.check(name, got == status and doc.get("error", {}).get("code") == code, doc)
events = s.stream("completions", prompt="x" * 190, max_tokens=50, temperature=0, stop="never")
h.check("a stream that breaks says so", events[-1] != "[DONE]" and events[-1].get("error", {}).get("code") == "PC6273", events[-2:])
h.check("and the server goes on", s.post("completions", prompt="x")[0] == 200 and s.idle())
s.stop()
s = fake.Server("--fail-every", 7, "--metrics", 1, log=True)
got = [s.post("completions", prompt="x", max_tokens=5)[0] for _ in range(20)]
h.check("steps that fail", set(got) == {200, 500}, got)
s.stop()
h.check("the log has the engine's words", any(x["level"] == "error" and "fails on order" in x["message"] for x in map(json.loads, open(s.log))))
s = fake.Server("--endless", 1, "--step-us", 200000, "--total", 1)
got, doc = s.post("completions", prompt="x", max_tokens=100)
h.check("an answer that takes too long", got == 504 and doc["error"]["code"] == "PC6271", doc)
s.stop()
h.finish()
