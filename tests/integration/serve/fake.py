"""What the fake engine answers, said once more (tests/fakes/engine.c), and requests by hand over sockets. No code of the server is here."""
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time

from harness import patient, was_taken

MASK = (1 << 64) - 1
WORDS = [" the", " model", " stop", "END", "\n\n", "é", "日本", " a", ".", ",", " of", " and", "😀"]
WORDS = [w.encode() for w in WORDS] + [b"x\xe2\x82", b"\xac y", b" 42"]
TURN = 256 + len(WORDS)
END = TURN + 1


def fnv(data, h=0xCBF29CE484222325):
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & MASK
    return h


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def salt(p, stream):
    h = fnv(struct.pack("<3f", p.get("repetition_penalty", 1), p.get("presence_penalty", 0), p.get("frequency_penalty", 0)))
    temperature = p.get("temperature", 1)
    if temperature == 0:
        return h
    h = fnv(struct.pack("<3f", temperature, p.get("top_p", 1), p.get("min_p", 0)), h)
    return fnv(struct.pack("<IIQ", p.get("top_k", 0), stream, p.get("seed", 0) & MASK), h)


def piece(token):
    return bytes([token]) if token < 256 else WORDS[token - 256] if token < TURN else b""


def chat_tokens(messages):
    out = []
    for m in messages:
        out += [TURN, *m["role"].encode(), *m["content"].encode()]
    return out + [TURN]


def answer(tokens, p, most, stream=0, endless=False):
    """Text, finish_reason and the number of generated tokens: by the rules of stop strings and of UTF-8, on the whole text at once."""
    h = 0xCBF29CE484222325
    for t in tokens:
        h = (h * 0x100000001B3 + t + 1) & MASK
    s = salt(p, stream)
    stops = p.get("stop") or []
    stops = [stops] if isinstance(stops, str) else stops
    raw, n = b"", 0
    while n < most:
        z = mix(h ^ s)
        part, of = z % 100, z >> 8 & 0xFFFFFF
        token = (97 if endless else END) if part < 2 else 256 + of % len(WORDS) if part < 70 else 97 + of % 26 if part < 95 else 128 + of % 128
        h = (h * 0x100000001B3 + token + 1) & MASK
        n += 1
        if token == END:
            return cut(raw.decode("utf-8", "replace"), stops)[0], "stop", n
        raw += piece(token)
        # What is not whole yet may still become a code point.
        whole = raw
        for k in (1, 2, 3):
            if len(raw) >= k and begins(raw[-k:]):
                whole = raw[:-k]
        text, found = cut(whole.decode("utf-8", "replace"), stops)
        if found:
            return text, "stop", n
    text, found = cut(raw.decode("utf-8", "replace"), stops)
    return text, "stop" if found else "length", n


def begins(part):
    """Whether some code point begins with these bytes and needs more."""
    import codecs
    d = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        return d.decode(part) == "" and d.getstate()[0] == part
    except UnicodeDecodeError:
        return False


def cut(text, stops):
    data = text.encode()
    ends = sorted((data.find(s.encode()) + len(s.encode()), -len(s.encode())) for s in stops if s.encode() in data)
    return (data[:ends[0][0] + ends[0][1]].decode(), True) if ends else (text, False)


class Server:
    """A server program; ready when it is made."""

    def __init__(self, *options, port=False, program=None, log=None):
        self.dir = tempfile.mkdtemp(prefix="pipectl-serve-")
        self.path = os.path.join(self.dir, "socket")
        self.log = os.path.join(self.dir, "log") if log else None
        where = ["--port", "0"] if port else ["--socket", self.path]
        self.process = subprocess.Popen([*(program or [os.environ["SERVE_FAKE"]]), *where, *(["--log", self.log] if log else []),
                                         *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # The real one says so where it says everything that is no answer, perhaps behind other lines.
        said = self.process.stderr if program else self.process.stdout
        line = said.readline().decode()
        while program and line and "listening" not in line:
            line = said.readline().decode()
        self.port = int(line.rsplit(":", 1)[1]) if port and ":" in line else None
        if "listening" not in line:
            raise RuntimeError(self.process.communicate()[1].decode())

    def connect(self, timeout=300):
        if self.port:
            return socket.create_connection(("127.0.0.1", self.port), timeout)
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(timeout)
        while True:
            try:
                s.connect(self.path)
                return s
            except BlockingIOError:  # its queue of connections is full
                time.sleep(0.01)

    def ask(self, method, path, body=None, headers=None, timeout=300, keep=None):
        """Status, headers and bytes of one request by http.client; keep: a connection to use."""
        c = keep or http.client.HTTPConnection("localhost", timeout=timeout)
        if c.sock is None:
            c.sock = self.connect(timeout)
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        c.request(method, path, data, headers if headers is not None else {"Content-Type": "application/json"} if data is not None else {})
        r = c.getresponse()
        got = r.read()
        if not keep:
            c.close()
        return r.status, dict(r.getheaders()), got

    def post(self, path, **body):
        status, _, data = self.ask("POST", "/v1/" + path, dict({"model": "fake"}, **body))
        return status, json.loads(data)

    def stream(self, path, **body):
        """The events of a stream."""
        status, headers, data = self.ask("POST", "/v1/" + path, dict({"model": "fake", "stream": True}, **body))
        assert status == 200 and headers["Content-Type"].startswith("text/event-stream"), (status, data)
        events = data.decode().split("\n\n")
        assert events.pop() == "" and all(e.startswith("data: ") for e in events), events
        return [e[6:] if e[6:] == "[DONE]" else json.loads(e[6:]) for e in events]

    def raw(self, data, timeout=None, end=False):
        """Bytes in, all bytes out until the server closes or nothing comes."""
        s = self.connect(timeout or patient(10))
        got = b""
        try:
            if data:
                s.sendall(data)
            if end:
                s.shutdown(socket.SHUT_WR)
            while True:
                more = s.recv(65536)
                if not more:
                    break
                got += more
        except (TimeoutError, ConnectionError):
            pass
        s.close()
        return got

    def answers(self, data, n=1, on=None):
        """Bytes in; so many answers out, each with its length, as (status, body), over a connection of its own or `on` one."""
        s, got, found = on or self.connect(patient(20)), b"", []
        try:
            s.sendall(data)
            while len(found) < n:
                head, end, rest = got.partition(b"\r\n\r\n")
                size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                if end and size and len(rest) >= int(size[1]):
                    found.append((int(head.split()[1]), rest[:int(size[1])]))
                    got = rest[int(size[1]):]
                elif more := s.recv(65536):
                    got += more
                else:
                    break
        except (TimeoutError, ConnectionError):
            pass
        if not on:
            s.close()
        return found

    def memory(self, what="VmRSS"):
        """KiB."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return int([line for line in f if line.startswith(what + ":")][0].split()[1])

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def health(self):
        return json.loads(self.ask("GET", "/health")[2])

    def idle(self, seconds=None):
        """Wait until nothing is under way: 1, or 0 when it does not come to that."""
        end = time.monotonic() + (seconds or patient(10))
        while time.monotonic() < end:
            try:
                h = self.health()
            except OSError:  # turned away
                h = {}
            if [h.get(k) for k in ("requests", "waiting", "active")] == [0, 0, 0]:
                return True
            time.sleep(0.02)
        return False

    def stop(self, *signals, seconds=None):
        """No signal at all where it is 0: one was sent."""
        for s in signals or (signal.SIGTERM,):
            if s:
                self.process.send_signal(s)
                was_taken(self.process.pid, s)
        out, err = self.process.communicate(timeout=seconds or patient(20))
        return self.process.returncode, err.decode()
