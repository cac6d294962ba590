"""kill -9 at random instants of `cas put` and `run`: the store verifies clean, and a rerun gives the same CIDs."""
import os
import signal
import struct
import subprocess
import time

from harness import Harness, Random, patient

SEED = 20261121
ROUNDS = 12


def start(h, args):
    return subprocess.Popen([h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def kill_at(h, args, delay):
    process = start(h, args)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def leftovers(mark):
    left = []
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark in f.read() and int(pid) != os.getpid():
                    left.append(pid)
        except (OSError, ValueError):
            pass
    return left


def main():
    h = Harness()
    random = Random(SEED)
    print(f"seed {SEED}")
    h.env["PIPECTL_TEST_MARK"] = mark = "crash-" + str(os.getpid())
    big = h.write("big.bin", bytes(random.u64() & 255 for _ in range(1 << 16)) * 256)
    edges = h.write("edges.bin", b"".join(struct.pack("<2I", random.below(500), random.below(500)) for _ in range(4000)))
    put = ["cas", "put", big]
    run = ["run", os.path.join(os.environ["PIPELINES"], "rank.pipe.cfg"), "--in", "edges=" + edges, "--backend", "cpu"]
    for name, args in (("put", put), ("run", run)):
        fresh = dict(h.env, PIPECTL_HOME=h.path("whole-" + name))
        begun = time.monotonic()
        want = subprocess.run([h.pipectl, *args], env=fresh, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        whole = time.monotonic() - begun
        h.check(f"{name} once, undisturbed", want.returncode == 0, want.stderr.decode())
        for i in range(ROUNDS):
            kill_at(h, args, whole * (i + random.below(1000) / 1000) / ROUNDS)
            deadline = time.monotonic() + patient(20)
            while leftovers(mark.encode()) and time.monotonic() < deadline:
                time.sleep(0.02)
            h.check(f"{name}, round {i}: no process left", not leftovers(mark.encode()), str(leftovers(mark.encode())))
            status, out, err = h.run("cas", "verify")
            h.check(f"{name}, round {i}: the store is whole", status == 0, out.decode() + err)
        status, out, err = h.run(*args)
        h.check(f"{name}: the same CIDs afterwards", status == 0 and out == want.stdout, out.decode() + err)
    h.finish()


main()
