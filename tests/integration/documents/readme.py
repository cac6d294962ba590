"""README.md as a newcomer reads it: every line of its blocks, pasted in order into one shell, works, and leaves what it says. The two
lines that install packages and build are not run here; .ci/run and tools/quickstart are. usage: readme.py SOURCE"""
import os
import re
import struct
import subprocess
import sys

from harness import Harness

SOURCE = sys.argv[1]
NOT_RUN = ["tools/quickstart", "tools/check"]


def blocks(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return re.findall(r"^```\w*\n(.*?)^```$", f.read(), re.M | re.S)


def lines(block):
    """Commands without their remarks, continued lines joined."""
    out = []
    for line in block.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        if line:
            out.append(line)
    return out


def graph(h):
    with open(os.path.join(SOURCE, "pipelines/data/edges.u32"), "rb") as f:
        h.check("the graph is what pipelines/README.md says", f.read() == b"".join(struct.pack("<2I", i % 97, (i * i + 1) % 97) for i in range(500)))


def spent(shell):
    """Seconds of the processor of all that a shell has waited for."""
    with open(f"/proc/{shell.pid}/stat", encoding="latin-1") as f:
        return sum(int(n) for n in f.read().rpartition(")")[2].split()[13:15]) / os.sysconf("SC_CLK_TCK")


def main():
    h = Harness()
    graph(h)
    # A tree like the repository's with a build in it; what the commands write stays here.
    root = h.path("tree")
    os.makedirs(os.path.join(root, "build/release"))
    os.symlink(os.path.dirname(os.path.realpath(h.pipectl)), os.path.join(root, "build/release/bin"))
    for part in ("conf", "certs", "pipelines", "tests"):
        os.symlink(os.path.join(SOURCE, part), os.path.join(root, part))
    commands = [line for block in blocks("README.md") for line in lines(block)]
    h.check("README.md has commands", len(commands) > 20, str(commands))
    h.check("those that are not run", [c for c in commands if c in NOT_RUN] == NOT_RUN, str(commands[:3]))
    shell = subprocess.Popen(["bash"], cwd=root, env=dict(h.env, PATH=os.environ["PATH"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    for command in (c for c in commands if c not in NOT_RUN):
        before = spent(shell)
        shell.stdin.write(f"{command}\necho \"== $?\"\n".encode())
        shell.stdin.flush()
        said = b""
        while not re.search(rb"== \d+\n$", said):
            line = shell.stdout.readline()
            if not line:
                break
            said += line
        h.check(command, said.endswith(b"== 0\n"), said.decode("utf-8", "replace")[-2000:])
        print(f"{spent(shell) - before:6.1f} s  {command}", flush=True)
    shell.stdin.close()
    shell.wait()
    for name, want in (("scaled", lambda i: 5 * i), ("by7", lambda i: 7 * i)):
        with open(os.path.join(root, f"demo/{name}.u32"), "rb") as f:
            h.check_bytes(name, f.read(), struct.pack("<1024I", *(want(i) for i in range(1024))), 4)
    for path, n in (("ranks.u64", 97 * 8), ("price.f32", 8)):
        h.check(path, os.path.getsize(os.path.join(root, "demo", path)) == n, path)
    for path in ("audit/index.html", "natives/index.html", "proof/certificate.cfg", "rank.receipt"):
        h.check(path, os.path.getsize(os.path.join(root, "demo", path)) > 0, path)
    h.finish()


main()
