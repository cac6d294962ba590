"""pipectl-debgraph on made-up stanzas: names in order, alternatives, virtual packages, what is left out, any bytes."""
import os
import struct

from harness import Harness, Random

STANZAS = b"""Package: web
Status: install ok installed
Depends: libc (>= 2.3), mail-agent | mail, libc:any, missing,
 shell
Pre-Depends: base

Package: libc
Description: says: Depends: web

Package: exim
Provides: mail-agent (= 1), mail
Depends: libc, mail-agent

Package: postfix
Provides: mail-agent
Architecture: any

Package: shell

Package: base
Depends: web [amd64] | shell <!nocheck>

Package: gone
Status: deinstall ok config-files
Depends: libc

Package: libc
Depends: base
"""
NAMES = ["base", "exim", "libc", "postfix", "shell", "web"]
EDGES = [("base", "shell"), ("base", "web"), ("exim", "libc"), ("exim", "postfix"), ("libc", "base"), ("web", "base"),
         ("web", "exim"), ("web", "libc"), ("web", "postfix"), ("web", "shell")]


def run(h, stdin):
    return h.run(h.path("edges"), h.path("names"), executable=os.environ["DEBGRAPH"], stdin=stdin)


def main():
    h = Harness()
    want = b"".join(struct.pack("<II", NAMES.index(a), NAMES.index(b)) for a, b in EDGES)
    stanzas = STANZAS.split(b"\n\n")
    for label, text in (("in order", STANZAS), ("reversed", b"\n\n".join(reversed(stanzas))),
                        ("carriage returns", STANZAS.replace(b"\n", b"\r\n"))):
        status, _, err = run(h, text)
        h.check(label, status == 0, err)
        h.check_bytes(label + ": edges", h.read("edges"), want, 8)
        h.check_bytes(label + ": names", h.read("names"), "".join(n + "\n" for n in NAMES).encode(), 1)
    status, _, err = run(h, b"")
    h.check("empty input", status == 1 and "no package" in err, err)
    r = Random(3)
    for k in range(200):
        text = bytearray(STANZAS)
        for _ in range(1 + r.below(30)):
            text[r.below(len(text))] = r.below(256)
        status, _, err = run(h, bytes(text[:r.below(len(text) + 1)]))
        h.check(f"damaged input {k}", status in (0, 1), f"exit status {status}\n{err}")
    h.finish()


main()
