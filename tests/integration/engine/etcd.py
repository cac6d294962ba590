"""etcd members of a test's own, each a process that is killed and comes back with its data. Where the machine allows it (`unshare`, `ip`)
the test runs in a network namespace and each member in one of its own behind a bridge, so that a cut is one of the network;
elsewhere a member that is cut off is one that is stopped."""
import atexit
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from harness import patient

TRY = "ip link set lo up && ip link add bridge0 type bridge && ip link add v0 type veth peer name v1 && unshare -n true"


def apart(flags="-rn", also="true"):
    """Run this program again in namespaces of its own, if there can be such and `also` works there."""
    if "ENGINE_APART" in os.environ:
        return
    can = shutil.which("unshare") and shutil.which("ip") and subprocess.run(["unshare", flags, "sh", "-c", TRY + " && " + also], capture_output=True).returncode == 0
    os.environ["ENGINE_APART"] = "1" if can else "0"
    if can:
        os.execvp("unshare", ["unshare", flags, sys.executable, "-B", *sys.argv])


def own_address():
    """Of the loopback, this process's alone: a port that was free a moment ago may be somebody else's by now."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16) % 128}.{pid >> 8 & 255}.{pid & 255}"


def b64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Member:
    def __init__(self, harness, number, is_apart, more=()):
        self.more = more
        self.h, self.name, self.number, self.is_apart = harness, f"m{number}", number, is_apart
        self.data, self.process = harness.path("etcd-" + self.name), None
        # Below the ports that the system gives to connections.
        self.host, self.client = (f"10.9.0.{number + 1}", 2379) if is_apart else (own_address(), 21379 + 2 * number)
        self.peer = self.client + 1

    def start(self, cluster):
        self.log = open(self.h.path(self.name + ".etcd.log"), "ab")
        words = ["etcd", "--name", self.name, "--data-dir", self.data, "--initial-cluster", cluster, "--heartbeat-interval", "100",
                 "--election-timeout", "1000", *self.more]
        for what, port in (("client", self.client), ("peer", self.peer)):
            words += [f"--listen-{what}-urls", f"http://{self.host}:{port}",
                      "--advertise-client-urls" if what == "client" else "--initial-advertise-peer-urls", f"http://{self.host}:{port}"]
        if self.is_apart:
            # It begins when its network is there.
            words = ["unshare", "-n", "sh", "-c", 'read go && ip link set lo up && exec "$@"', "sh", *words]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)
        atexit.register(lambda p=self.process: p.poll() is None and p.kill())
        if self.is_apart:
            own = os.readlink("/proc/self/ns/net")
            while os.readlink(f"/proc/{self.process.pid}/ns/net") == own:
                time.sleep(0.01)
            subprocess.run(["ip", "link", "del", self.name], capture_output=True)
            ip("link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", str(self.process.pid))
            ip("link", "set", self.name, "master", "bridge0", "up")
            for more in (["addr", "add", self.host + "/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
                subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", "ip", *more], check=True, capture_output=True)
        self.process.stdin.write(b"go\n")
        self.process.stdin.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def cut(self):
        if self.is_apart:
            ip("link", "set", self.name, "down")
        else:
            self.process.send_signal(signal.SIGSTOP)

    def join(self):
        if self.is_apart:
            ip("link", "set", self.name, "up")
        else:
            self.process.send_signal(signal.SIGCONT)


class Cluster:
    def __init__(self, harness, n=3, more=()):
        self.is_apart = os.environ.get("ENGINE_APART") == "1"
        if self.is_apart:
            ip("link", "set", "lo", "up")
            ip("link", "add", "bridge0", "type", "bridge")
            ip("addr", "add", "10.9.0.254/24", "dev", "bridge0")
            ip("link", "set", "bridge0", "up")
        self.members = [Member(harness, i, self.is_apart, more) for i in range(n)]
        self.names = ",".join(f"{m.name}=http://{m.host}:{m.peer}" for m in self.members)
        for m in self.members:
            m.start(self.names)
        self.wait()

    @property
    def url(self):
        return "etcd://" + ",".join(f"{m.host}:{m.client}" for m in self.members)

    def ask(self, path, question, timeout=3):
        """From any member that answers: the next one is asked where one takes long, and a single one may."""
        timeout = timeout if len(self.members) > 1 else patient(20)
        for m in self.members:
            try:
                request = urllib.request.Request(f"http://{m.host}:{m.client}{path}", json.dumps(question).encode())
                with urllib.request.urlopen(request, timeout=timeout) as answer:
                    return json.load(answer)
            except OSError:
                continue
        raise OSError("no member answers")

    def wait(self, seconds=60):
        end = time.monotonic() + patient(seconds)
        while True:
            try:
                return self.ask("/v3/kv/range", {"key": b64("x")}, timeout=2)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def rows(self, prefix):
        """{key behind the prefix: value}, in the order of keys."""
        for left in range(4, -1, -1):
            try:
                answer = self.ask("/v3/kv/range", {"key": b64(prefix), "range_end": b64(prefix[:-1] + chr(ord(prefix[-1]) + 1))})
                break
            except OSError:  # on a busy machine members lose their leader, and find another
                if left == 0:
                    raise
        return {base64.b64decode(r["key"]).decode()[len(prefix):]: base64.b64decode(r.get("value", "")) for r in answer.get("kvs", [])}

    def last(self, prefix):
        """What stands behind the prefix in the greatest key that has it; None where none has."""
        kvs = self.ask("/v3/kv/range", {"key": b64(prefix), "range_end": b64(prefix[:-1] + chr(ord(prefix[-1]) + 1)), "limit": "1", "keys_only": True,
                                        "sort_order": "DESCEND", "sort_target": "KEY"}).get("kvs", [])
        return base64.b64decode(kvs[0]["key"]).decode()[len(prefix):] if kvs else None

    def put(self, key, value):
        self.ask("/v3/kv/put", {"key": b64(key), "value": b64(value)})

    def leader(self):
        """The member that leads the cluster."""
        for m in self.members:
            try:
                request = urllib.request.Request(f"http://{m.host}:{m.client}/v3/maintenance/status", b"{}")
                with urllib.request.urlopen(request, timeout=2) as answer:
                    status = json.load(answer)
                if status["leader"] == status["header"]["member_id"]:
                    return m
            except (OSError, KeyError):
                pass
        return None
