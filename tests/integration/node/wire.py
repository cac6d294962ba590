"""The node's protocol from its documents alone: field numbers are read from messages.proto, the encoding of protocol
buffers and the frames are written here. Shares no code with core/chain. Standard library only."""
import atexit
import os
import re
import socket
import struct
import subprocess
import time

from harness import patient

# ---- messages.proto ---------------------------------------------------------------------------


def read_proto(path):
    """Message name to {field name: (number, type, repeated)}."""
    text = re.sub(r"//[^\n]*", "", open(path, encoding="utf-8").read())
    messages = {}
    for name, body in re.findall(r"message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}", text):
        fields = re.findall(r"(repeated )?(\w+) (\w+) = (\d+);", body)
        messages[name] = {f: (int(n), kind, bool(many)) for many, kind, f, n in fields}
    return messages


PROTO = read_proto(os.environ["PROTO"])
NUMBERS = ("uint32", "uint64", "int64", "bool", "JobStatus")


def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out) + bytes([v])


def encode(message, values):
    """The canonical encoding: fields ascending by number, defaults left out."""
    out = b""
    for name, (number, kind, many) in sorted(PROTO[message].items(), key=lambda f: f[1][0]):
        if name not in values:
            continue
        for v in values[name] if many else [values[name]]:
            if kind in NUMBERS:
                out += varint(number << 3) + varint(int(v)) if v else b""
                continue
            data = encode(kind, v) if kind in PROTO else v.encode() if isinstance(v, str) else v
            if data or kind in PROTO or many:
                out += varint(number << 3 | 2) + varint(len(data)) + data
    unknown = set(values) - set(PROTO[message])
    assert not unknown, f"{message} has no {unknown}"
    return out


def decode(message, data):
    fields = {number: (name, kind, many) for name, (number, kind, many) in PROTO[message].items()}
    out = {name: [] if many else 0 if kind in NUMBERS else b"" if kind == "bytes" else "" if kind == "string" else None
           for name, (_, kind, many) in PROTO[message].items()}
    at = 0

    def number():
        nonlocal at
        v = shift = 0
        while True:
            b = data[at]
            at += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v

    while at < len(data):
        tag = number()
        name, kind, many = fields[tag >> 3]
        if tag & 7 == 0:
            v = number()
        else:
            assert tag & 7 == 2
            n = number()
            v = data[at:at + n]
            assert len(v) == n
            if kind in NUMBERS:  # packed
                end = at + n
                while at < end:
                    out[name].append(number())
                continue
            at += n
            v = decode(kind, v) if kind in PROTO else v.decode() if kind == "string" else v
        if many:
            out[name].append(v)
        else:
            out[name] = v
    return out


# ---- frames -----------------------------------------------------------------------------------


class Closed(Exception):
    pass


class Client:
    def __init__(self, path, timeout=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.socket.settimeout(timeout or patient(120))

    def send(self, kind, **values):
        message = PROTO["Request"][kind][1]
        body = encode("Request", {kind: values})
        assert message in PROTO
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            try:
                some = self.socket.recv(n - len(data))
            except ConnectionError:
                some = b""
            if not some:
                raise Closed(data)
            data += some
        return data

    def hear(self):
        """(kind, fields) of the next response."""
        n, = struct.unpack("<I", self.exactly(4))
        response = decode("Response", self.exactly(n))
        (kind, fields), = [(k, v) for k, v in response.items() if v is not None]
        return kind, fields

    def ask(self, kind, **values):
        self.send(kind, **values)
        return self.hear()

    def close(self):
        self.socket.close()


class Node:
    """One `pipectl node`, until stop or kill."""

    def __init__(self, harness, *options, name="socket"):
        self.path = harness.path(name)
        self.log = open(harness.path("node.log"), "ab")
        self.process = subprocess.Popen([harness.pipectl, "-q", "node", "--socket", self.path, "--backend", "cpu", *options],
                                        env=harness.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        atexit.register(lambda: self.process.poll() is None and self.process.kill())
        end = time.monotonic() + patient(300)
        while time.monotonic() < end and self.process.poll() is None:
            try:
                Client(self.path).close()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit("the node did not start: " + open(harness.path("node.log"), encoding="utf-8").read())

    def client(self, **options):
        return Client(self.path, **options)

    def stop(self, how):
        self.process.send_signal(how)
        self.log.close()
        return self.process.wait(patient(60))
