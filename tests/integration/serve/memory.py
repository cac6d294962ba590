"""What the server holds: 1,000 connections that say nothing, that begin a request, that have half a body, and that wait for an answer; then
10,000 requests over 16 connections, of which every fourth is a stream. Prints a table; fails where memory grows with what has gone by."""
import json
import resource
import socket
import threading
import time

import fake
from harness import Harness, patient

N, REQUESTS, CLIENTS = 1000, 10000, 16
h = Harness()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
s = fake.Server("--connections", 1200, "--peer-connections", 1200, "--requests", 1200, "--peer-requests", 1200, "--endless", 1, "--idle", 600, "--receive", 600, "--slots", 16,
                "--bodies-bytes", 64 << 20)
HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"model": "fake", "prompt": "y" * 2000, "max_tokens": 30, "stop": "never"}).encode()
figures = []


def figure(name):
    time.sleep(0.3)
    figures.append((name, s.memory(), s.threads(), s.files()))


figure("at first")
socks = [s.connect() for _ in range(N)]
figure("1,000 connections, silent")
for c in socks:
    c.sendall(HEAD)
figure("with half a head each")
for c in socks:
    c.sendall(b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY[:1500])
figure("with half a body each")
began = time.monotonic()
for c in socks:
    c.sendall(BODY[1500:])
end = time.monotonic() + patient(20)
while s.health()["requests"] < N and time.monotonic() < end:
    time.sleep(0.02)
figure("all requests under way")
right = 0
want = fake.answer(list(b"y" * 2000), {"stop": "never"}, 30, endless=True)[0]
for c in socks:
    c.settimeout(patient(60))
    got = b""
    while b"\r\n\r\n" not in got or b"}\n" not in got:
        got += c.recv(65536)
    right += json.loads(got.partition(b"\r\n\r\n")[2])["choices"][0]["text"] == want
    c.close()
h.check("1,000 at once are answered", right == N, right)
print(f"1,000 requests at once: {time.monotonic() - began:.1f} s")
h.check("they are gone", s.idle(patient(10)), s.health())
figure("after them")


def work(i, out):
    import http.client
    c = http.client.HTTPConnection("localhost", timeout=300)
    for k in range(REQUESTS // CLIENTS):
        body = {"model": "fake", "prompt": f"{i} {k}", "max_tokens": 8, "stream": k % 4 == 0}
        status, _, data = s.ask("POST", "/v1/completions", body, keep=c)
        out[i] += status == 200 and (data.endswith(b"[DONE]\n\n") if k % 4 == 0 else json.loads(data)["usage"]["completion_tokens"] == 8)
    c.close()


def many(what):
    out = [0] * CLIENTS
    began = time.monotonic()
    threads = [threading.Thread(target=work, args=(i, out)) for i in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    h.check(what, sum(out) == REQUESTS // CLIENTS * CLIENTS, out)
    print(f"{what}: {sum(out) / (time.monotonic() - began):.0f} a second")


many("10,000 requests")
figure("after 10,000 requests")
many("10,000 more")
figure("after 20,000 requests")
print(f"{'':28} {'KiB':>8} {'threads':>8} {'files':>6}")
for name, kib, threads, files in figures:
    print(f"{name:28} {kib:8} {threads:8} {files:6}")
at = {name: kib for name, kib, _, _ in figures}
h.check("a connection takes less than its limits", at["with half a body each"] - at["at first"] < N * 40, at)
h.check("requests under way", at["all requests under way"] - at["at first"] < N * 80, at)
with open(f"/proc/{s.process.pid}/maps") as f:
    sanitized = any(x in f.read() for x in ("libasan", "libtsan"))
if not sanitized:  # a sanitizer keeps what is freed
    h.check("nothing stays of a request", at["after 20,000 requests"] - at["after 10,000 requests"] < 2000, at)
h.check("nothing stays open", figures[-1][2] == figures[0][2] and figures[-1][3] <= figures[0][3], figures[-1])
h.check("it ends well", s.stop() == (0, ""))
h.finish()
