"""ABCI 2.0 from abci.proto alone: frames, requests and responses of an engine, and a node behind one. The encoding is that of
../node/wire.py; nothing is shared with core/chain."""
import atexit
import os
import socket
import subprocess
import time

from harness import patient
import wire


def load(name, prefix):
    """The messages of core/chain/engine/NAME under prefixed names, beside those of messages.proto."""
    made = wire.read_proto(os.path.join(os.path.dirname(os.environ["PROTO"]), "..", "engine", name))
    wire.PROTO.update({prefix + m: {f: (n, prefix + kind if kind in made else kind, many) for f, (n, kind, many) in fields.items()}
                       for m, fields in made.items()})


load("abci/abci.proto", "Abci")
load("engine.proto", "Engine")


class Exception_(Exception):
    """What the node says before it closes a connection."""


class Connection:
    def __init__(self, address, timeout=None):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.connect(address[5:])
        else:
            host, port = address[4:].rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]").replace("localhost", "127.0.0.1"), int(port)))
        self.socket.settimeout(timeout or patient(120))

    def send(self, kind, **values):
        body = wire.encode("AbciRequest", {kind: values})
        self.socket.sendall(wire.varint(len(body)) + body)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            try:
                some = self.socket.recv(n - len(data))
            except ConnectionError:
                some = b""
            if not some:
                raise wire.Closed(data)
            data += some
        return data

    def hear_any(self):
        n = shift = 0
        while True:
            b = self.exactly(1)[0]
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                break
        (kind, fields), = [(k, v) for k, v in wire.decode("AbciResponse", self.exactly(n)).items() if v is not None]
        return kind, fields

    def hear(self, kind):
        got, fields = self.hear_any()
        if got == "exception":
            raise Exception_(fields["error"])
        assert got == kind, f"{got} in place of {kind}"
        return fields

    def ask(self, kind, **values):
        """A request and a flush, as an engine sends them."""
        self.send(kind, **values)
        try:
            self.send("flush")
        except OSError:
            pass  # closed behind an exception, which is heard next
        fields = self.hear(kind)
        self.hear("flush")
        return fields

    def close(self):
        self.socket.close()


class Node:
    """One `pipectl node --engine abci` and the four connections of its engine."""

    def __init__(self, harness, home, backend, address=None, options=()):
        self.harness, self.home, self.backend, self.options = harness, home, backend, options
        self.name = os.path.basename(home)
        self.address = address or "unix:" + harness.path(self.name + ".sock")
        self.process = None
        self.start()
        atexit.register(lambda: self.process.poll() is None and self.process.kill())

    def start(self):
        self.log = open(self.harness.path(self.name + ".log"), "ab")
        self.process = subprocess.Popen([self.harness.pipectl, "-q", "--home", self.home, "node", "--engine", "abci", "--listen", self.address,
                                         "--backend", self.backend, *self.options], env=self.harness.env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        end = time.monotonic() + patient(120)
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.consensus = Connection(self.address)
                self.mempool, self.query, self.snapshot = (Connection(self.address) for _ in range(3))
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"{self.name} did not start: {self.words()}")

    def words(self):
        return open(self.harness.path(self.name + ".log"), encoding="utf-8").read()

    def stop(self, how):
        for c in (self.consensus, self.mempool, self.query, self.snapshot):
            c.close()
        self.process.send_signal(how)
        self.log.close()
        return self.process.wait(patient(120))
