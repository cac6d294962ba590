"""`fmt`: the layout is its own layout, keeps every value and comment, and is written whole or not; `init`: what it makes is in
that layout and checks, plans and runs. Random texts from a seed; fmt itself compares the trees before and after."""
import glob
import os
import re
import struct

from harness import Harness, Random

SEED = 20261122
TEXTS = 400


def comments(text):
    """Comments outside of strings, in any order, without the blanks behind them."""
    found = re.findall(r'"(?:\\.|[^"\\])*"|//[^\n]*|#[^\n]*|/\*.*?\*/', text, re.S)
    return sorted(c.rstrip() for c in found if not c.startswith('"'))


class Texts:
    def __init__(self, r):
        self.r, self.n = r, 0

    def pick(self, *words):
        return words[self.r.below(len(words))]

    def gap(self):
        """Blanks, line breaks and comments between two tokens."""
        self.n += 1
        return "".join(self.pick(" ", " ", " ", "", "\n", "\n\n\n", "\t", f" // c{self.n} ; {{ \"\n", f"/* d{self.n} */", f"\n# e{self.n}\n",
                                 f"/* f{self.n}\n  = */ ", "\r\n") for _ in range(1 + self.r.below(2))) or " "

    def scalar(self):
        return self.pick("1", "-7", "0x1F", "12L", "1.5", "2e3", "true", "FALSE", '"text"', '"a // no comment # { \\" }"', '""',
                         f'"two"{self.gap()}"strings"', '"' + "long " * 30 + '"')

    def value(self, depth):
        kind = self.r.below(6) if depth < 4 else 5
        gap = self.gap
        if kind == 0:
            return "{" + gap() + self.group(depth + 1) + gap() + "}"
        if kind in (1, 2):
            return "(" + gap() + (gap() + "," + gap()).join(self.value(depth + 1) for _ in range(self.r.below(4))) + gap() + ")"
        if kind == 3:
            return "[" + gap() + ("," + gap()).join(str(self.r.below(99)) for _ in range(self.r.below(40))) + gap() + "]"
        return self.scalar()

    def group(self, depth):
        gap = self.gap
        return gap().join(f"k{i}{gap()}{self.pick('=', ':')}{gap()}{self.value(depth)}{self.pick('', gap())}{self.pick(';', ';', ',', ' ')}"
                          for i in range(self.r.below(5)))


def random_texts(h):
    r = Random(SEED)
    texts, paths = [Texts(r) for _ in range(TEXTS)], []
    for i, t in enumerate(texts):
        texts[i] = t.gap() + t.group(0) + t.gap() + "\n"
        paths.append(h.write(f"r{i}.cfg", texts[i].encode()))
    status, _, err = h.run("fmt", "-q", *paths)
    h.check(f"{TEXTS} random texts, seed {SEED}", status == 0, err[:800])
    once = [h.read(p) for p in paths]
    changed = 0
    for i, text in enumerate(texts):
        changed += once[i] != text.encode()
        h.check(f"comments of text {i}", comments(text) == comments(once[i].decode()), f"{text!r} {once[i]!r}")
    h.check("most were not in layout", changed > TEXTS // 2, str(changed))
    status, out, err = h.run("fmt", "--check", *paths)
    h.check("all are now", status == 0 and not out, err[:800])
    h.check("a lost comment is seen", comments("a = 1; // b\n") != comments("a = 1;\n"))


def files(h):
    shipped = sorted(glob.glob(os.path.join(os.environ["PIPELINES"], "*.cfg")) +
                     glob.glob(os.path.join(os.environ["PIPELINES"], "../conf/**/*.cfg"), recursive=True))
    for path in shipped:
        with open(path, "rb") as f:
            text = f.read()
        status, once, err = h.run("fmt", "-", stdin=text)
        h.check(path, status == 0 and comments(text.decode()) == comments(once.decode()) and h.run("fmt", "-", stdin=once)[1] == once, err)
    laid_out = [path for path in shipped if path.endswith((".pipe.cfg", "/conf/pipectl.cfg"))]
    for path in laid_out:
        status, _, err = h.run("fmt", "--check", path)
        h.check(f"{path} is shipped as fmt lays it out", status == 0, err)
    h.check("pipelines and the configuration are among them", len(laid_out) > 7, str(laid_out))
    h.check("files were shipped", len(shipped) > 10, str(shipped))
    ugly = b'pipeline:{name="p";class="integer"  ,  inputs : {\n// data\nx:{type="u32[n]"}}jobs=({id="j",op="int.neg@1",in:{x="$x"}})\n\n\n\n' \
           b'outputs:{y="j.y"}} /* end */'
    want = b'pipeline : {\n  name = "p";\n  class = "integer";\n  inputs : {\n    // data\n    x : { type = "u32[n]"; };\n  };\n' \
           b'  jobs = ( { id = "j"; op = "int.neg@1"; in : { x = "$x"; }; } );\n\n  outputs : { y = "j.y"; };\n}; /* end */\n'
    file = h.write("ugly.pipe.cfg", ugly)
    os.chmod(file, 0o640)
    status, out, err = h.run("fmt", "--check", file)
    if h.check("--check", status == 1 and "PC1027" in err and out.decode().strip() == file and h.read("ugly.pipe.cfg") == ugly, err):
        h.planted("a pipeline file with other blanks and separators", "fmt --check FILE", "PC1027", err)
    status, out, err = h.run("--json", "fmt", file)
    h.check("--json", status == 0 and b'"changed": true' in out, out)
    h.check_bytes("the layout", h.read("ugly.pipe.cfg"), want, 1)
    h.check("the mode stays", os.stat(file).st_mode & 0o777 == 0o640)
    h.check("and the pipeline checks", h.run("check", file)[0] == 0)
    h.check("again nothing", h.run("fmt", "--check", file)[0] == 0)
    included = h.write("inc.cfg", b'  @include   "gone.cfg"\na=1\n@include "x.cfg"\n')
    h.check("includes are not read", h.run("fmt", included)[0] == 0 and h.read("inc.cfg") == b'@include "gone.cfg"\na = 1;\n@include "x.cfg"\n',
            str(h.read("inc.cfg")))
    for name, text, code in (("a bad text", b"a = ;\n", "PC10"), ("no text", b"a = \"\xff\";", "PC10"), ("twice", b"a=1; a=2;", "PC10"),
                             ("an include in a value", b'a =\n@include "x.cfg"\n1;\n', "PC1026"),
                             ("an include between two strings of a value", b'a = "b"\n@include "x.cfg"\n"c";\n', "PC1026")):
        file = h.write("bad.cfg", text)
        status, _, err = h.run("fmt", file)
        h.check(name, status == 3 and code in err and h.read("bad.cfg") == text, f"{status} {err}")
    inside = h.write("inside.cfg", b'a = (\n@include "x.cfg"\n1 );\n')
    h.check("an include between elements", h.run("fmt", inside)[0] == 0 and h.read("inside.cfg") == b'a = (\n  @include "x.cfg"\n  1\n);\n',
            str(h.read("inside.cfg")))
    h.check("no such file", h.run("fmt", h.path("none.cfg"))[0] == 1)
    h.check("--json and -", h.run("--json", "fmt", "-", stdin=b"a=1;")[0] == 2)
    h.check("--check of -", h.run("fmt", "--check", "-", stdin=b"a=1;")[0] == 1 and h.run("fmt", "--check", "-", stdin=b"a = 1;\n")[0] == 0)


def begin(h):
    where = h.path("my first-pipeline")
    status, out, err = h.run("init", where)
    made = out.decode().split("\n")[:-1]
    h.check("init", status == 0 and len(made) == 3 and all(os.path.exists(m) for m in made), f"{out} {err}")
    pipeline = made[0]
    h.check("in layout", h.run("fmt", "--check", pipeline)[0] == 0, h.run("fmt", "-", stdin=open(pipeline, "rb").read())[1].decode())
    for args in (["check"], ["plan", "--backend", "cpu"], ["run", "--backend", "cpu"], ["run", "--backend", "vulkan:llvmpipe"]):
        status, out, err = h.run(*args, pipeline, *(["--out", "scaled=" + h.path("scaled")] if args[0] == "run" else []))
        h.check(" ".join(args), status == 0, f"{out} {err}")
        if args[0] == "run":
            h.check_bytes("scaled", h.read("scaled"), struct.pack("<1024I", *(3 * i for i in range(1024))), 4)
    before = {m: open(m, "rb").read() for m in made}
    status, _, err = h.run("init", where)
    if h.check("nothing is overwritten", status == 1 and "PC0024" in err and before == {m: open(m, "rb").read() for m in made}, err):
        h.planted("a directory that has the files already", "init DIR", "PC0024", err)
    os.remove(made[1])
    status, _, err = h.run("init", where)
    h.check("nor a part of it made", status == 1 and not os.path.exists(made[1]), err)
    status, out, err = h.run("--json", "init", "--name", "other", h.path("deep/er"))
    h.check("--name", status == 0 and os.path.exists(h.path("deep/er/other.pipe.cfg")), err)
    h.check("a bad name", h.run("init", "--name", 'a"b', h.path("x"))[0] == 2)


def main():
    h = Harness()
    random_texts(h)
    files(h)
    begin(h)
    h.finish()


main()
