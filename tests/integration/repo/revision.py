"""`REPO@REV:PATH`: file, includes, shaders and data come from the commit, though the work tree differs in all of them;
every refusal has its code."""
import json
import os
import shutil

from gitrepo import CLASS, PIPELINE, SHADER, Repo, checker, u32s
from harness import Harness

h = Harness()
refused, allowed = checker(h)
r = Repo(h, "r@home")  # an '@' in the name of the directory does not confuse
r.git("tag", "-a", "-m", "one", "v1")
r.fill(2)
r.write("pipes/data/x.bin", u32s(range(50, 150)))
second = r.commit("second")
r.git("branch", "side")
# The work tree now differs from both commits, in every file.
r.write("pipes/a.pipe.cfg", "this is no pipeline")
r.write("pipes/parts/class.cfg", "neither this")
r.write("pipes/shaders/add.wgsl", "nor this")
r.write("pipes/data/x.bin", b"\1")


def run(rev, *more, where=r.dir):
    out, err = allowed(f"run at {rev}", ["run", f"{where}@{rev}:pipes/a.pipe.cfg", "--backend", "cpu", "--no-memo",
                                         "--out", "y=" + h.path("y"), "--json", *more])
    return h.read("y") if out else b"", json.loads(out) if out else {}, err


for rev, commit, want in [("v1", r.first, range(1, 101)), (r.first, r.first, range(1, 101)),
                          (r.first[:10], r.first, range(1, 101)), ("HEAD~1", r.first, range(1, 101)),
                          ("HEAD", second, range(52, 152)), ("side", second, range(52, 152)), ("@", second, range(52, 152))]:
    got, document, _ = run(rev)
    h.check_bytes(f"bytes at {rev}", got, u32s(want), 4)
    source = document.get("source", {})
    h.check(f"source at {rev}", source == {"repository": "r@home", "commit": commit, "path": "pipes/a.pipe.cfg",
                                           "state": "clean", "committed": True}, source)

# The same from a bare clone, from below, and from a linked work tree.
r.git("clone", "-q", "--bare", r.dir, h.path("bare.git"))
got, document, _ = run("v1", where=h.path("bare.git"))
h.check_bytes("bare", got, u32s(range(1, 101)), 4)
h.check("the first remote is the name", document["source"]["repository"] == r.dir, document["source"])
got, _, _ = run("v1", where=r.path("pipes"))
h.check_bytes("from below", got, u32s(range(1, 101)), 4)
r.git("worktree", "add", "-q", h.path("linked"), "v1")
got, _, _ = run("HEAD", where=h.path("linked"))
h.check_bytes("a linked work tree has its own HEAD", got, u32s(range(1, 101)), 4)

# No credentials in the name; user, query and fragment go too.
r.git("remote", "add", "a", "https://me:secret@host.example:8443/x/y.git?token=secret#z")
h.check("remote", run("v1")[1]["source"]["repository"] == "https://host.example:8443/x/y.git")
r.git("remote", "set-url", "a", "me@host.example:x/y.git")
h.check("scp-like", run("v1")[1]["source"]["repository"] == "host.example:x/y.git")

# plan, check, audit; -v; values given from outside are files of the user.
spec = f"{r.dir}@v1:pipes/a.pipe.cfg"
out, _ = allowed("plan", ["plan", spec, "--backend", "cpu"])
h.check("plan says where from", f":pipes/a.pipe.cfg (clean, read from the commit)" in out.decode() and r.first in out.decode(),
        out.decode())
allowed("check", ["check", spec])
_, err = allowed("run -v", ["run", spec, "-v", "--backend", "cpu"])
h.check("-v says the commit", r.first in err, err)
h.write("own.bin", u32s([7]))
out, _ = allowed("--in is a file", ["run", spec, "--in", "x=" + h.path("own.bin"), "--backend", "cpu", "--out", "y=" + h.path("y")])
h.check_bytes("--in", h.read("y"), u32s([8]), 4)
devices = [d["selector"] for d in json.loads(allowed("devices", ["device", "list", "--json"])[0])["devices"]
           if d["usable"] and d["backend"] in ("vulkan", "opencl")]
allowed("audit", ["audit", spec, "--backends", ",".join(["cpu:0", *devices[:1]]), "--repeat", "1"])

# Positions in the revision, with the line as it was committed.
r.write("pipes/a.pipe.cfg", PIPELINE.replace('id = "add"', 'idd = "add"'))
r.write("pipes/parts/class.cfg", CLASS)
r.write("pipes/shaders/add.wgsl", (SHADER % 1).replace("id.x", "id.q"))
r.write("pipes/b.pipe.cfg", PIPELINE)
r.commit("bad")
os.remove(r.path("pipes/a.pipe.cfg"))
err = refused("an error of the file", 3, "PC1020", ["check", f"{r.dir}@HEAD:pipes/a.pipe.cfg"], 'idd = "add"')
h.check("its name", f"{r.dir}@HEAD:pipes/a.pipe.cfg:4:" in err, err)
err = refused("an error of the shader", 3, "error", ["check", f"{r.dir}@HEAD:pipes/b.pipe.cfg"], "id.q")
h.check("its name", f"{r.dir}@HEAD:pipes/shaders/add.wgsl:5:" in err, err)

# Refusals.
refused("no spec", 3, "PC6000", ["run", "nowhere@v1:a.cfg"], "directory")
refused("no path", 3, "PC6000", ["run", f"{r.dir}@v1:"])
refused("absolute", 3, "PC6000", ["run", f"{r.dir}@v1:/pipes/a.pipe.cfg"])
refused("no repository", 3, "PC6001", ["run", f"{os.path.dirname(h.dir)}@v1:a.cfg"])
for rev in ("v2", "0123456789", "HEAD~9", "HEAD@{1}", "", "-x"):
    refused(f"revision {rev!r}", 3, "PC6003", ["run", f"{r.dir}@{rev}:pipes/a.pipe.cfg"])
refused("a tag of a tree", 3, "PC6003", ["run", f"{r.dir}@{r.git('rev-parse', 'v1^{tree}')}:pipes/a.pipe.cfg"])
refused("no such path", 3, "PC6004", ["plan", f"{r.dir}@v1:pipes/b.pipe.cfg"])
refused("untracked", 3, "PC6004", ["check", f"{r.dir}@v1:pipes/A.pipe.cfg"])
refused("above", 3, "PC6004", ["run", f"{r.dir}@v1:../r/pipes/a.pipe.cfg"])
refused("a directory", 3, "PC6005", ["run", f"{r.dir}@v1:pipes"], "directory")
shutil.copytree(h.path("bare.git"), h.path("broken.git"))
for folder in os.listdir(h.path("broken.git/objects")):
    shutil.rmtree(h.path("broken.git/objects/" + folder))
refused("objects are gone", 3, "PC6003", ["run", f"{h.path('broken.git')}@v1:pipes/a.pipe.cfg"])

# A file of such a name is that file.
odd = os.path.join(h.dir, "odd@v1:x.cfg")
with open(odd, "wb") as f:
    f.write(PIPELINE.replace('  @include "parts/class.cfg"\n', CLASS).replace("shaders/", r.dir + "/none/").encode())
refused("a file with such a name", 3, "PC4019", ["check", odd])
h.finish()
