"""The node's protocol from outside: protobuf by hand from the field numbers of core/chain/messages/messages.proto, frames of a
length and its bytes. Shares no code with the node. Standard library only."""
import socket
import struct
import time

UPLOAD, EXECUTE, QUERY, BLOCK_END, BLOCK_QUERY, LEDGER, PARAMS, NAME, CANCEL, LINK, VERDICT, PUT, GET = range(1, 14)
ERROR = 15
CREDIT, TRANSFER, BOND, UNBOND = 1, 2, 3, 4
PENDING, EXECUTING, COMPLETE, FAILED = range(4)


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """A field as proto3 writes it: nothing for a default."""
    if isinstance(value, (list, tuple)):
        return b"".join(tagged(number, v) for v in value)
    return tagged(number, value) if value not in (0, "", b"", False, None) else b""


def tagged(number, value):
    if isinstance(value, bool) or isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*values):
    """Fields 1, 2, 3 .. in order."""
    return b"".join(field(i + 1, v) for i, v in enumerate(values))


def always(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def request(kind, body):
    return always(kind, body)


def upload(sender, source, description="", tags=(), implements=""):
    return request(UPLOAD, message(sender, source, description, list(tags), implements))


def execute(sender, shader, given, groups, limit, bindings=(), parent_clock=0, uniform="", output=0, parents=(), after=(),
            overrides=(), entry=""):
    body = message(sender, shader, given) + always(4, message(*groups)) + field(5, limit)
    body += b"".join(always(6, message(*b)) for b in bindings)
    body += field(7, parent_clock) + field(8, uniform) + field(9, output) + field(10, sorted(parents)) + field(11, sorted(after))
    body += b"".join(always(12, message(*o)) for o in sorted(overrides))
    return request(EXECUTE, body + field(13, entry))


def params(sender, op, height=0, proposal=0, yes=False, changes=()):
    return request(PARAMS, message(sender, op, height, proposal, yes) + b"".join(always(6, message(*c)) for c in changes))


def fields(data):
    """Number to the list of its values: integers, or bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 2:
            n = number()
            value, at = data[at:at + n], at + n
        else:
            raise ValueError(f"wire type {key & 7}")
        found.setdefault(key >> 3, []).append(value)
    return found


class Answer:
    def __init__(self, data):
        self.data = data
        (self.kind, (body,)), = fields(data).items()
        self.fields = fields(body)

    def get(self, number, default=0):
        return self.fields.get(number, [default])[-1]

    def text(self, number):
        return self.get(number, b"").decode()

    @property
    def code(self):
        """Of an error, else 0."""
        return self.get(1) if self.kind == ERROR else 0

    def __str__(self):
        return f"PC{self.code} {self.text(2)}" if self.kind == ERROR else f"kind {self.kind} {self.fields}"


class Client:
    """One connection. Waits up to `patience` seconds for the node to listen."""

    def __init__(self, path, patience=300, alive=lambda: True):
        until = time.monotonic() + patience
        while True:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(1500)
            try:
                self.socket.connect(path)
                return
            except OSError:
                self.socket.close()
                if time.monotonic() > until or not alive():
                    raise
                time.sleep(0.05)

    def send(self, data):
        self.socket.sendall(struct.pack("<I", len(data)) + data)

    def take(self, n):
        out = b""
        while len(out) < n:
            part = self.socket.recv(n - len(out))
            if not part:
                raise ConnectionError("the node closed the connection")
            out += part
        return out

    def receive(self):
        return Answer(self.take(struct.unpack("<I", self.take(4))[0]))

    def ask(self, data):
        self.send(data)
        return self.receive()

    def close(self):
        self.socket.close()
