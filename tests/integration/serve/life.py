"""How a server begins and ends: where it listens and where not, what it replaces, who may call on a port, what a first and a second
signal do, and what is left."""
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time

import fake
from harness import Harness, patient

h = Harness()
program = os.environ["SERVE_FAKE"]


def run(*options):
    p = subprocess.run([program, *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patient(30))
    return p.returncode, p.stderr.decode()


# ---- the socket -------------------------------------------------------------------------------------------------------------------
s = fake.Server()
mode = os.stat(s.path).st_mode
h.check("mode 0600", stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode))
code, err = run("--socket", s.path)
h.check("another lives there", code == 3 and "PC6252" in err and s.post("completions", prompt="x")[0] == 200, (code, err))
h.check("it ends", s.stop() == (0, "") and not os.path.exists(s.path))
folder = tempfile.mkdtemp(prefix="pipectl-serve-")
path = os.path.join(folder, "file")
open(path, "w").close()
code, err = run("--socket", path)
h.check("a file in the way", code == 1 and "PC6251" in err and os.path.exists(path), (code, err))
code, err = run("--socket", "/tmp/" + "x" * 120)
h.check("a long path", code == 1 and "PC6251" in err, (code, err))
dead = fake.Server()
dead.process.kill()
dead.process.wait()
h.check("a killed server leaves its file", os.path.exists(dead.path))
p = subprocess.Popen([program, "--socket", dead.path], stdout=subprocess.PIPE)
h.check("and another takes its place", b"listening" in p.stdout.readline())
os.unlink(dead.path)
open(dead.path, "w").close()
p.send_signal(signal.SIGTERM)
h.check("a file that is not its own is left", p.wait(patient(10)) == 0 and os.path.exists(dead.path))

# ---- ports --------------------------------------------------------------------------------------------------------------------------
for address in ("0.0.0.0", "::", "192.168.0.1", "localhost", "127.0.0.2", ""):
    code, err = run("--address", address, "--port", 0)
    h.check(f"not at \"{address}\"", code == 2 and "PC6250" in err, (code, err))
code, err = run("--port", 65536)
h.check("no such port", code == 2 and "PC6250" in err, (code, err))
s = fake.Server(port=True)
status, doc = s.post("completions", prompt="x", max_tokens=4)
h.check("on a port", status == 200 and doc["choices"][0]["text"] == fake.answer(list(b"x"), {}, 4)[0], doc)
listening = {}
for name in ("tcp", "tcp6"):
    with open("/proc/net/" + name) as f:
        for line in list(f)[1:]:
            where, state = line.split()[1], line.split()[3]
            if state == "0A" and int(where.split(":")[1], 16) == s.port:
                listening[name] = where.split(":")[0]
h.check("loopback alone", listening and listening.get("tcp") == "0100007F" and listening.get("tcp6", "0" * 24 + "01000000") == "0" * 24 + "01000000", listening)
code, err = run("--port", s.port)
h.check("the port is taken", code == 3 and "PC6252" in err, (code, err))
for host, want in (("localhost", 200), (f"127.0.0.1:{s.port}", 200), ("[::1]:1", 200), ("LOCALHOST", 200), ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil:80", 403),
                   ("127.0.0.1:x", 403), ("127.0.0.2", 403)):
    got, _, data = s.ask("GET", "/health", headers={"Host": host})
    h.check(f"Host: {host}", got == want and (want == 200 or json.loads(data)["error"]["code"] == "PC6259"), (got, data))
got = s.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
h.check("two Hosts", got.startswith(b"HTTP/1.1 403 ") and b"PC6259" in got, got)
h.check("no Host at all", b" 200 " not in s.raw(b"GET /health HTTP/1.0\r\n\r\n").split(b"\r\n")[0])
h.check("it ends", s.stop() == (0, ""))

# ---- limits of the program ------------------------------------------------------------------------------------------------------------
for option, value in (("--connections", 0), ("--idle", 0), ("--header-bytes", 100), ("--choices", 129)):
    code, err = run("--socket", os.path.join(folder, "s"), option, value)
    h.check(f"{option} {value}", code == 2 and "PC0010" in err and option in err, (code, err))
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
p = subprocess.run(["sh", "-c", f"ulimit -n 100; exec {program} --socket {folder}/s"], stderr=subprocess.PIPE, timeout=patient(30))
h.check("too few files", p.returncode == 2 and b"ulimit" in p.stderr, p.stderr)

# No descriptor is left for what the HTTP library wants.
def crowd():
    null = os.open("/dev/null", os.O_RDONLY)
    for fd in range(3, 64):
        os.dup2(null, fd)
    for fd in range(64, 256):
        try:
            os.close(fd)
        except OSError:
            pass
    resource.setrlimit(resource.RLIMIT_NOFILE, (65, 65))


p = subprocess.run([program, "--socket", folder + "/s", "--connections", "1"], stderr=subprocess.PIPE, timeout=patient(30), close_fds=False, preexec_fn=crowd)
h.check("the system says no", p.returncode == 1 and b"PC6253" in p.stderr and not os.path.exists(folder + "/s"), (p.returncode, p.stderr))

# ---- signals ----------------------------------------------------------------------------------------------------------------------------
def under_way(s, n, **more):
    """n requests that run; what each got at the end."""
    got = [None] * n

    def ask(i):
        try:
            got[i] = s.ask("POST", "/v1/completions", dict({"model": "fake", "prompt": f"p{i}", "max_tokens": 40, "temperature": 0, "stop": "never"}, **more))
        except Exception as e:
            got[i] = e
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    end = time.monotonic() + patient(20)
    while s.health()["requests"] < n and time.monotonic() < end:
        time.sleep(0.01)
    return got, threads


def finish(threads):
    for t in threads:
        t.join(patient(60))


for number in (signal.SIGTERM, signal.SIGINT):
    s = fake.Server("--endless", 1, "--step-us", 10000, "--drain", 600, "--total", 600, "--idle", 600)
    kept = s.connect()
    kept.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    kept.recv(10000)
    got, threads = under_way(s, 5, max_tokens=400)
    s.process.send_signal(number)
    end = time.monotonic() + patient(10)
    while os.path.exists(s.path) and time.monotonic() < end:
        time.sleep(0.01)
    h.check("nobody new connects", not os.path.exists(s.path))
    kept.sendall(b'POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 29\r\n\r\n{"model":"fake","prompt":"x"}')
    late = kept.recv(10000)
    h.check("who is connected is told", b" 503 " in late and b"PC6270" in late, late)
    code, err = s.stop(0, seconds=patient(60))
    finish(threads)
    h.check("what is under way is answered", code == 0 and all(g[0] == 200 and json.loads(g[2])["choices"][0]["text"] == fake.answer(list(f"p{i}".encode()), {"temperature": 0}, 400, endless=True)[0]
                                                       for i, g in enumerate(got)), (code, err, got))
s = fake.Server("--endless", 1, "--step-us", 10000, "--drain", 1)
got, threads = under_way(s, 3, max_tokens=4000)
began = time.monotonic()
code, err = s.stop()
finish(threads)
h.check("up to a limit", code == 130 and time.monotonic() - began > 0.9 and all(g[0] == 503 and json.loads(g[2])["error"]["code"] == "PC6270" for g in got), (code, err, got))
s = fake.Server("--endless", 1, "--step-us", 10000, "--drain", 600, "--total", 600)
got, threads = under_way(s, 3, max_tokens=4000, stream=True)
code, err = s.stop(signal.SIGTERM, signal.SIGTERM)
finish(threads)
h.check("another signal ends it at once", code == 130 and not os.path.exists(s.path), (code, err))
h.check("streams that are cut off say so", all(b"PC6270" in g[2] and b"[DONE]" not in g[2] for g in got), got)

s = fake.Server("--step-us", 600000000, "--drain", 600, "--total", 600)
got, threads = under_way(s, 1)
code, err = s.stop(signal.SIGTERM, signal.SIGTERM, seconds=patient(60))
finish(threads)
h.check("a step under way is not waited for", code == 130 and got[0][0] == 503, (code, err, got))

# ---- once more, and nothing is left ------------------------------------------------------------------------------------------------------------
for i in range(10):
    s = fake.Server()
    s.post("completions", prompt="x")
    h.check("again", s.stop() == (0, ""))
h.finish()
