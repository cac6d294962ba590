"""A node that lacks bytes of the state asks others: one that is not there, one that gives other bytes, one that gives without end and one
that says nothing are passed over, each with a word; bytes of more than one answer come in pieces; and without anybody who has them the
node ends no block, and nothing of it is kept."""
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sizes  # noqa: E402
from attack import World, cid  # noqa: E402
from harness import Harness  # noqa: E402
import wire  # noqa: E402

h = Harness()
WORDS = struct.pack("<8I", *range(8))
PIECE = 1 << 20


class Liar:
    """Another node, as far as `get` goes. answer: bytes for each request, by its number."""

    def __init__(self, name, answer):
        self.path, self.answer, self.asked = h.path(name), answer, 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(self.path)
        self.socket.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.socket.accept()
            try:
                while True:
                    n, = struct.unpack("<I", client.recv(4, socket.MSG_WAITALL))
                    client.recv(n, socket.MSG_WAITALL)
                    self.asked += 1
                    data = self.answer(self.asked)
                    if data is None:
                        break
                    body = wire.encode("Response", {"get": dict(data=data)})
                    client.sendall(struct.pack("<I", len(body)) + body)
            except (OSError, struct.error):
                pass
            client.close()


other = Liar("other.sock", lambda k: WORDS[::-1])
endless = Liar("endless.sock", lambda k: bytes(PIECE))
silent = Liar("silent.sock", lambda k: None)
w = World(h, "peers", 2, ["cpu", "cpu"])
honest, poor = w.nodes
s = w.upload(sizes.kernel("x = x + 1u;\n"))[0]["shader_cid"]
given = w.bring(WORDS)
large = 6 << 20
first = w.all("execute", w.job(s, given, output=large, sender="ada"))[0]
w.end()
made = w.tell(honest, "query", dict(job_id=first["job_id"]))["output_cid"]
answers = w.all("execute", w.job(s, given, sender="ada")) + w.all("execute", w.job(s, made, sender="ada"))
h.check("jobs over both are taken in", not any(a.code for a in answers), " / ".join(map(str, answers)))
poor.lose(given)
poor.lose(made)


def start(*peers):
    poor.stop()
    poor.start(*(w for p in peers for w in ("--peer", p)))


start(h.path("nobody.sock"), other.path, silent.path)
answer = w.end(poor)[0]
said = poor.said()
h.check("who has them not ends no block", answer.code == 5838 and given in answer["message"], f"{answer} {said[-500:]}")
h.check("one that is not there: PC5839", "PC5839" in said and "nobody.sock: " in said, said)
h.check("one that gives others: PC5839", "other.sock: " in said and "it gave other bytes" in said and other.asked > 0, said)
h.check("one that says nothing: PC5839", "it did not answer" in said and silent.asked > 0, said)
h.check("others are not kept", poor.blob_path(cid(WORDS[::-1])) is None)
start(other.path, endless.path, honest.path)
ends = w.end()
said = poor.said()
h.check("with one that has them the block is everybody's", not ends[0].code and ends[0] == ends[1], " / ".join(map(str, ends)))
h.check("one without an end is passed over", "it gives more than anything has" in said and endless.asked == 2 * 129, f"{endless.asked} {said[-600:]}")
h.check("what came is kept", poor.blob_path(given) and os.path.getsize(poor.blob_path(made)) == large)
# The same from the command line, where no node of this home runs.
answers = w.all("execute", w.job(s, given, output=64, sender="ada"))
h.check("one more job", not any(a.code for a in answers), " / ".join(map(str, answers)))
poor.lose(given)
poor.stop()
status, out, err = poor.run("block", "end", "--peer", other.path, "--peer", honest.path, "--backend", "cpu")
ended = w.end(honest)[0]
h.check("block end --peer: the same block", status == 0 and ended["commit"] in out and "PC5839" in err, f"{status} {out} {err} {ended}")
honest.stop()
h.finish()
