"""tools/packaging/install-wasm: what comes is taken by its hash alone. A pip of the test's own gives other bytes, another library, or nothing."""
import os
import stat

from harness import Harness

h = Harness()
SCRIPT = os.environ["INSTALL_WASM"]
PIP = """#!/bin/sh
case "$*" in
*" download "*) ;;
*) exec /usr/bin/python3 "$@" ;;
esac
while [ "$1" != -d ]; do shift; done
{what}
"""


def run(name, what):
    """With a python3 whose pip does what it is told; the folder it was to go to."""
    folder, to = h.path(name), h.path(name + ".to")
    os.makedirs(folder)
    with open(os.path.join(folder, "python3"), "w", encoding="utf-8") as f:
        f.write(PIP.format(what=what))
    os.chmod(os.path.join(folder, "python3"), stat.S_IRWXU)
    was = h.env["PATH"]
    h.env["PATH"] = folder + ":" + was
    got = h.run(to, executable=SCRIPT)
    h.env["PATH"] = was
    return got, to


(status, out, err), to = run("other", 'echo "other bytes" > "$2/wasmtime-1-py3-none-any.whl"')
h.check("other bytes: exit status 1, and why", status == 1 and "another hash" in err and "nothing was installed" in err, (status, out, err))
h.check("other bytes: nothing is there", not os.path.exists(to), to)
(status, out, err), to = run("none", 'echo "no way to get it" >&2; exit 1')
h.check("nothing comes: exit status 3", status == 3 and "could not be fetched" in err and not os.path.exists(to), (status, out, err))
os.makedirs(h.path("there.to"))
with open(h.path("there.to/libwasmtime.so"), "wb") as f:
    f.write(b"not it")
(status, out, err), to = run("there", "exit 1")
h.check("a file that is not it is no reason to do nothing", status == 3, (status, out, err))
h.finish()
