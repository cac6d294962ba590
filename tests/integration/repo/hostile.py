"""A repository that means harm: what its configuration, hooks, attributes, links, submodules, odd names and sizes ask for
does not happen, and the environment changes nothing."""
import os
import shutil
import zlib

from gitrepo import CLASS, PIPELINE, SHADER, Repo, checker, u32s
from harness import Harness

h = Harness()
refused, allowed = checker(h)
r = Repo(h, "r")
SPEC = f"{r.dir}@main:pipes/a.pipe.cfg"
WANT = u32s(range(1, 101))
MARK = h.path("mark")
SECRET = h.write("secret.cfg", b'class = "integer";\n')


def runs(name):
    out, _ = allowed(name, ["run", SPEC, "--backend", "cpu", "--no-memo", "--out", "y=" + h.path("y")])
    if out:
        h.check_bytes(name, h.read("y"), WANT, 4)
    h.check(f"{name}: nothing else ran", not os.path.exists(MARK))


# ---- configuration, hooks, attributes, environment
runs("as it is")
evil = f"touch {MARK}; cat"
for key, value in [("filter.x.clean", evil), ("filter.x.smudge", evil), ("filter.x.required", "true"), ("core.fsmonitor", evil),
                   ("core.hooksPath", h.dir), ("core.sshCommand", evil), ("core.autocrlf", "true"), ("core.worktree", "/"),
                   ("diff.external", evil), ("core.attributesFile", h.path("attributes")),
                   ("extensions.partialClone", "x"), ("remote.x.url", f"ext::sh -c '{evil}'"), ("core.bare", "true"),
                   ("include.path", "/dev/zero")]:
    r.git("config", key, value) if key not in ("core.worktree", "core.bare", "include.path") else open(
        r.path(".git/config"), "a").write(f"[{key.split('.')[0]}]\n\t{key.split('.')[1]} = {value}\n")
r.write("pipes/.gitattributes", "* filter=x text eol=crlf ident working-tree-encoding=UTF-16\n")
r.write(".git/info/attributes", "* filter=x\n")
for hook in ("post-checkout", "pre-commit", "reference-transaction"):
    r.write(".git/hooks/" + hook, f"#!/bin/sh\n{evil}\n")
    os.chmod(r.path(".git/hooks/" + hook), 0o755)
runs("hostile configuration")
allowed("described", ["run", r.path("pipes/a.pipe.cfg"), "--backend", "cpu"])
h.check("described: nothing else ran", not os.path.exists(MARK))
os.remove(r.path(".git/config"))
shutil.rmtree(r.path(".git/hooks"))  # the git program that this test uses would run them
other = Repo(h, "other", constant=77)
for name, value in [("GIT_DIR", other.path(".git")), ("GIT_WORK_TREE", other.dir), ("GIT_OBJECT_DIRECTORY", other.path(".git/objects")),
                    ("GIT_INDEX_FILE", "/dev/null"), ("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_GLOBAL", h.path("global")),
                    ("GIT_ALTERNATE_OBJECT_DIRECTORIES", other.path(".git/objects")), ("GIT_NAMESPACE", "x"),
                    ("GIT_CEILING_DIRECTORIES", r.dir), ("XDG_CONFIG_HOME", h.path("xdg"))]:
    h.env[name] = value
h.write("global", b"[include]\n\tpath = /dev/zero\n")
os.makedirs(h.path("xdg/git"))
h.write("xdg/git/config", b"[core]\n\tbare = true\n")
runs("hostile environment")
for name in list(h.env):
    if name.startswith("GIT_"):
        del h.env[name]

# ---- replaced and false objects
main = r.git("rev-parse", "main")
r.git("replace", main, other_commit := r.commit_tree([("100644", "blob", r.blob("x"), "a")]))
runs("a replaced commit")
r.git("replace", "-d", main)
shader = r.git("rev-parse", "main:pipes/shaders/add.wgsl")
at = r.path(f".git/objects/{shader[:2]}/{shader[2:]}")
was = open(at, "rb").read()
os.chmod(at, 0o644)
false = (SHADER % 9).encode()
with open(at, "wb") as f:
    f.write(zlib.compress(b"blob %d\0" % len(false) + false))
refused("an object under a false name", 1, "PC6002", ["run", SPEC])
with open(at, "wb") as f:
    f.write(zlib.compress(b"blob 99999999999\0"))
got, _, err = h.run("run", SPEC)
h.check("a blob that claims 100 GB", got == 5 and "PC6006" in err or got == 1 and "PC" in err, f"{got} {err}")
with open(at, "wb") as f:
    f.write(was)
runs("the object is back")

# ---- links, submodules, names
def tree(*entries):
    return f"{r.dir}@{r.commit_tree(entries)}:a.cfg"


def file(text):
    return "100644", "blob", r.blob(text)


HERE = PIPELINE.replace("parts/class.cfg", "c.cfg").replace("shaders/add.wgsl", "s.wgsl").replace("data/x.bin", "x.bin")
SHADER_1, DATA = (*file(SHADER % 1), "s.wgsl"), (*file("\1\0\0\0"), "x.bin")
INLINE = HERE.replace('@include "c.cfg"', CLASS)
allowed("files in the root", ["run", tree((*file(HERE), "a.cfg"), (*file(CLASS), "c.cfg"), SHADER_1, DATA), "--backend", "cpu"])
refused("the pipeline is a link", 3, "PC6005", ["run", tree(("120000", "blob", r.blob(SECRET), "a.cfg"))], "symbolic link")
refused("an include is a link", 3, "PC6005", ["run", tree((*file(HERE), "a.cfg"), ("120000", "blob", r.blob(SECRET), "c.cfg"), SHADER_1, DATA)],
        "PC1007")
refused("a shader is a link", 3, "PC6005", ["run", tree((*file(INLINE), "a.cfg"), ("120000", "blob", r.blob("/etc/passwd"), "s.wgsl"), DATA)])
refused("data is a link", 3, "PC6005", ["run", tree((*file(INLINE), "a.cfg"), SHADER_1, ("120000", "blob", r.blob("/etc/passwd"), "x.bin"))])
refused("a folder is a link", 3, "PC6005", ["run", tree((*file(INLINE.replace("s.wgsl", "d/s.wgsl")), "a.cfg"), DATA,
                                                        ("120000", "blob", r.blob("/"), "d"))])
refused("a submodule", 3, "PC6005", ["run", tree((*file(INLINE.replace("s.wgsl", "d/s.wgsl")), "a.cfg"), DATA,
                                                 ("160000", "commit", "1" * 40, "d"))], "submodule")
for name, path in [("absolute", SECRET), ("above", "../secret.cfg"), ("far above", "../" * 40 + SECRET[1:]),
                   ("above in the middle", "x/../../" + "secret.cfg")]:
    err = refused(f"include, {name}", 3, "PC1007", ["run", tree((*file(HERE.replace("c.cfg", path)), "a.cfg"), SHADER_1, DATA)])
    refused(f"shader, {name}", 3, "PC4019", ["run", tree((*file(INLINE.replace("s.wgsl", path)), "a.cfg"), DATA)])
    refused(f"data, {name}", 3, "PC6004", ["run", tree((*file(INLINE.replace("x.bin", path)), "a.cfg"), SHADER_1)])
inner = r.git("mktree", stdin=f"100644 blob {r.blob(CLASS)}\tsecret.cfg\n".encode())
odd = f"40000 ..\0".encode() + bytes.fromhex(inner)
files = sorted([((b"100644 a.cfg\0" + bytes.fromhex(r.blob(HERE.replace("c.cfg", "../secret.cfg")))), b"a.cfg"),
                ((b"100644 s.wgsl\0" + bytes.fromhex(SHADER_1[2])), b"s.wgsl"),
                ((b"100644 x.bin\0" + bytes.fromhex(DATA[2])), b"x.bin"), (odd, b"../")], key=lambda e: e[1])
oid = r.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=b"".join(e[0] for e in files))
got, _, err = h.run("run", f"{r.dir}@{r.git('commit-tree', '-m', 'odd', oid)}:a.cfg")
h.check("a folder named ..", got == 3 and "PC1007" in err or got == 1 and "PC6002" in err, f"{got} {err}")

# ---- sizes
loop = tree((*file('@include "a.cfg"\n'), "a.cfg"))
refused("an include of itself", 3, "PC1007", ["run", loop])
many = "".join(f"100644 blob {DATA[2]}\tf{i:0200d}\n" for i in range(80000))
big = r.git("mktree", stdin=many.encode())
refused("a huge folder", 5, "PC6006", ["run", f"{r.dir}@{r.git('commit-tree', '-m', 'big', big)}:a.cfg"])
refused("a huge file", 5, "PC6006", ["run", tree((*file("#" * (5 << 20)), "a.cfg"))])
r.write(".git/HEAD", "ref: refs/heads/main\0\n")
got, _, err = h.run("run", r.path("pipes/a.pipe.cfg"), "--backend", "cpu")
h.check("a HEAD with a NUL", got == 0, f"{got} {err}")
r.write(".git/HEAD", "ref: ../../../../etc/passwd\n")
got, _, err = h.run("run", r.path("pipes/a.pipe.cfg"), "--backend", "cpu")
h.check("a HEAD that points out", got == 0 and "root:" not in err, f"{got} {err}")
h.finish()
