"""Every option that names a file to write, against everything that may stand under that name: files whose mode and owner
stay, links, devices, FIFOs, directories, places where nothing can be made, full disks. The options are those that
the tables of tools/pipectl (verb_options*.c) mark as written; one without a case here fails the test."""
import os
import re
import resource
import signal
import stat
import struct
import subprocess
import tempfile
import threading

from harness import Harness

SHADER = b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 3u + 1u; }
}
"""
PIPELINE = b"""pipeline : { name = "sum"; class = "integer";
  inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "s"; op = "int.add@1"; in : { a = "$x"; b = "$x"; }; } );
  outputs : { y = "s.y"; }; };
"""
CHAIN = SHADER.replace(b"@group(0) @binding(0)", b"//# max dispatch = 16,1,1\n@group(0) @binding(0)")\
    .replace(b"@group(0) @binding(1)", b"@group(1) @binding(0)")
VALUES = struct.pack("<4096I", *range(4096))
ROOT = os.geteuid() == 0
OTHER = 65534


class Outputs(Harness):
    def __init__(self):
        super().__init__()
        self.x = self.write("x.bin", VALUES)
        self.pipeline = self.write("sum.cfg", PIPELINE)
        self.shader = self.write("s.wgsl", SHADER)
        self.cid = self.run("cas", "put", self.x)[1].decode().strip()
        self.verbs = {}

    def prepare(self):
        """(what makes a file at PATH, does its content not change from run to run), by the words of the option table."""
        sum_ = ["run", self.pipeline, "--in", "x=" + self.x, "--backend", "cpu"]
        self.need("a receipt", *sum_, "--receipt", self.path("r"))
        self.need("a proof", "certify", "--backend", "cpu", "--ops", "int.not@1", "--cases", "64", "--programs", "1", "--out",
                  self.path("proof"), status=None)
        self.need("an account", "ledger", "credit", "ada", "100000000")
        self.write("chain.wgsl", CHAIN)
        shader = self.need("a shader", "-q", "shader", "upload", self.path("chain.wgsl"), "--sender", "ada").split()[0]
        job = self.need("a job", "-q", "job", "submit", "--sender", "ada", "--shader", shader, "--input", self.cid, "--dispatch",
                        "16", "--gas-limit", "10000000", "--output-bytes", "1024").split()[0]
        self.need("a block", "block", "end", "--backend", "cpu")
        self.need("a model", "model", "synth", "--shape", "qwen2.5-0.5b", "--layers", "1", "--vocab", "300", "--context", "128", "--set", "n_embd=64", "--set", "n_heads=4",
                  "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--out", self.path("model.gguf"))
        go_on = ["generate", "--model", self.path("model.gguf"), "--prompt", "x", "--tokens", "2", "--backend", "cpu"]
        self.need("a key", "key", "new", "ada", "--no-passphrase")
        # ledger {sender "ada", op 2, to "bob", amount 1}, auth {chain of zeros, expiry 1}
        message = b"\x32\x0e\x0a\x03ada\x10\x02\x1a\x03bob\x20\x01" + b"\xa2\x01\x24\x0a\x20" + bytes(32) + b"\x18\x01"
        request = self.write("request", message)
        # A chain under version 2 of the rules, whose state has a tree.
        second = self.path("second")
        os.makedirs(os.path.join(second, "chain"))
        with open(os.path.join(os.path.dirname(self.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
            self.write("second/chain/params.cfg", re.sub(r'(\n *rules = )"1"', r'\1"2"', f.read()).encode())
        self.need("a block of it", "--home", second, "block", "end", "--backend", "cpu")
        self.verbs = {
            "write the proof to a file instead of standard output": (lambda p: ["--home", second, "ledger", "prove", "totals", "supply", "--out", p], True),
            "write the signed message to a file": (lambda p: ["key", "sign", request, "--key", "ada", "--out", p], True),
            "write the logits of every token; .npy and .safetensors with their type": (lambda p: [*go_on, "--logits", p], True),
            "write the logits of each token; .npy and .safetensors with their type": (lambda p: ["vm", *go_on, "--logits", p], True),
            "write a signed statement of what was asked and what came of it": (lambda p: [*go_on, "--receipt", p], True),
            "write the tokenizer.json": (lambda p: ["tokenizer", "train", "--tokens", "300", "--out", p, self.pipeline], True),
            "write an output to a file": (lambda p: [*sum_, "--out", "y=" + p], True),
            "write a signed receipt: what ran on what, and its trace": (lambda p: [*sum_, "--receipt", p], False),
            "write that variable to a file afterwards": (lambda p: [
                "shader", "run", self.shader, "--dispatch", "256", "--bind", "0:0=" + self.x, "--bind", "0:1=zero:16384",
                "--read", "0:1=" + p, "--backend", "cpu"], True),
            "write an output port to a file": (lambda p: [
                "op", "run", "int.add@1", "--in", f"a={self.x}:u32[4096]", "--in", f"b={self.x}:u32[4096]", "--out", "y=" + p,
                "--backend", "cpu"], True),
            "write a place to a file: r30, r30_2 of instance 2, metrics, logits": (lambda p: [
                "vm", "run", os.path.join(os.environ["PIPELINES"], "vm", "image.vm.cfg"), "--in", "r0=" + self.x, "--out", "r30=" + p,
                "--backend", "cpu"], True),
            "write to a file instead of standard output": (lambda p: ["cas", "get", self.cid, "--out", p], True),
            "the archive to write": (lambda p: ["cas", "export", self.cid, "--car", p], True),
            "write the certificate there instead of into the directory":
                (lambda p: ["certify", "merge", self.path("proof"), "--out", p], False),
            "write the receipt of the replay":
                (lambda p: ["receipt", "replay", self.path("r"), "--backend", "cpu", "--receipt", p], False),
            "write it to a file instead of standard output": (lambda p: ["receipt", "export", job, "--out", p], True),
            "write the graph as a picture": (lambda p: ["plan", self.pipeline, "--in", "x=" + self.x, "--backend", "cpu", "--svg", p], True),
        }

    def need(self, name, *args, status=0):
        got, out, err = self.run(*args)
        self.check(name, status is None or got == status, err)
        return out.decode()

    def ends(self, about):
        """A proof of few cases is written and grants nothing."""
        return 1 if "certificate" in about else 0

    def place(self):
        return tempfile.mkdtemp(dir=self.dir)


def table(h):
    """The options that are marked as written, by their words."""
    rows = []
    for name in ("verb_options.c", "verb_options_model.c", "verb_options_generate.c", "verb_options_ledger.c"):
        with open(os.path.join(os.environ["PIPELINES"], "..", "tools", "pipectl", name), encoding="utf-8") as f:
            rows += re.findall(r'\{\s*"(-[^"]+)",\s*("[^"]*"|NULL),\s*"([^"]*)",\s*[01],\s*([01])\s*\}', f.read())
    marked = {about for _, _, about, writes in rows if writes == "1"}
    h.check("every option that is written has a case", marked == set(h.verbs), str(marked ^ set(h.verbs)))
    # A new option of this kind is not forgotten in the table either.
    for name, value, about, writes in rows:
        says = about.startswith("write") or "to write" in about
        h.check(f"{name} {value} is marked", (writes == "1") == (says and "DIR" not in value), about)


def only(where, *names):
    return sorted(os.listdir(where)) == sorted(names)


kinds = {}  # what cannot be written to, with what the first verb said of it


def stays(h, about, make, same, want):
    """What is there keeps what it is."""
    def content(data):
        return data == want if same else len(data) > 0 and b"old" != data

    where = h.place()
    p = os.path.join(where, "f")

    def write(name, path=p, code=None):
        status, _, err = h.run(*make(path))
        h.check(f"{about}: {name}", status == h.ends(about) if code is None else status in (1, 2) and code in err,
                f"{status} {err}")
        if code is not None and status in (1, 2):
            kinds.setdefault(name, (code, err))

    os.umask(0o027)
    write("a new file")
    h.check(f"{about}: a new file's mode is the umask's", stat.S_IMODE(os.stat(p).st_mode) == 0o640, oct(os.stat(p).st_mode))
    os.umask(0o022)
    with open(p, "wb") as f:
        f.write(b"old")
    os.chmod(p, 0o604)
    if ROOT:
        os.chown(p, OTHER, OTHER - 1)
    before = os.stat(p)
    write("a file")
    after = os.stat(p)
    with open(p, "rb") as f:
        h.check(f"{about}: bytes of a file", content(f.read()))
    h.check(f"{about}: mode and owner stay", (before.st_mode, before.st_uid, before.st_gid) == (after.st_mode, after.st_uid, after.st_gid))
    h.check(f"{about}: a file is replaced", before.st_ino != after.st_ino and only(where, "f"), str(os.listdir(where)))

    link = os.path.join(where, "link")
    with open(p, "wb") as f:
        f.write(b"old")
    os.symlink("f", link)
    write("a link", link)
    with open(p, "rb") as f:
        h.check(f"{about}: the target of a link", os.path.islink(link) and content(f.read()))
    os.unlink(p)
    write("a link that leads nowhere", link)
    h.check(f"{about}: its target is made", os.path.islink(link) and os.path.isfile(p))
    os.unlink(link)
    os.symlink("link", link)
    write("a link to itself", link, "PC0021")
    os.unlink(link)

    if ROOT:
        null = os.path.join(where, "null")
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        write("a device", null)
        h.check(f"{about}: a device is one afterwards", stat.S_ISCHR(os.lstat(null).st_mode))
        os.unlink(null)

    fifo = os.path.join(where, "fifo")
    os.mkfifo(fifo)
    got = []
    reader = threading.Thread(target=lambda: got.append(open(fifo, "rb").read()))
    reader.start()
    write("a FIFO", fifo)
    reader.join(20)
    h.check(f"{about}: bytes of a FIFO", got and content(got[0]) and stat.S_ISFIFO(os.lstat(fifo).st_mode))
    os.unlink(fifo)

    write("a directory", where, "PC0020")
    write("no parent", os.path.join(where, "none", "f"), "PC0021")
    write("a file for a parent", os.path.join(p, "f"), "PC0021")
    h.check(f"{about}: nothing else is left", only(where, "f"), str(os.listdir(where)))


def standard_output(h):
    """/dev/stdout of a program whose output goes into a file is that file, where it stands."""
    out = h.path("stdout")
    with open(out, "wb") as f:
        f.write(b"before ")
        f.flush()
        done = subprocess.run([h.pipectl, "cas", "get", h.cid, "--out", "/dev/stdout"], env=h.env, stdout=f, stderr=subprocess.PIPE)
        f.write(b" behind")
    h.check("/dev/stdout", done.returncode == 0 and h.read("stdout") == b"before " + VALUES + b" behind", done.stderr.decode())
    done = subprocess.run([h.pipectl, "cas", "get", h.cid, "--out", "-"], env=h.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    h.check("-", done.stdout == VALUES and not os.path.exists("-"), done.stderr.decode())
    status, _, err = h.run("cas", "get", h.cid, "--out", "/dev/fd/77")
    h.check("a descriptor that nobody gave", status == 1 and "PC0021" in err, err)


def nobody(where):
    """A home of a user that permissions bind, with the store's bytes in it."""
    def become():
        os.setgid(OTHER)
        os.setuid(OTHER)
    if ROOT:
        os.chown(where, OTHER, OTHER)
    return become if ROOT else None


def in_place(h):
    """A directory that takes no file: what is there is written into, with a word; nothing new is made."""
    os.chmod(h.dir, 0o755)
    home = h.place()
    become = nobody(home)
    env = dict(h.env, PIPECTL_HOME=os.path.join(home, "home"), TMPDIR=home)

    def run(*args):
        done = subprocess.run([h.pipectl, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=become)
        return done.returncode, done.stderr.decode()

    where = h.place()
    p = os.path.join(where, "f")
    with open(p, "wb") as f:
        f.write(b"old " * 9999)
    os.chmod(p, 0o646)
    inode = os.stat(p).st_ino
    os.chmod(where, 0o555)
    status, err = run("cas", "put", h.x)
    if not h.check("a home of another user", status == 0, err):
        return
    status, err = run("cas", "get", h.cid, "--out", p)
    with open(p, "rb") as f:
        h.check("a directory that cannot be written", status == 0 and "PC0022" in err and f.read() == VALUES, err)
    h.check("it is the same file", os.stat(p).st_ino == inode and only(where, "f"))
    status, err = run("cas", "get", h.cid, "--out", os.path.join(where, "new"))
    h.check("a new file there", status == 1 and "PC0021" in err and only(where, "f"), err)
    os.chmod(p, 0o444)
    status, err = run("cas", "get", h.cid, "--out", p)
    h.check("a file that cannot be written", status == 1 and "PC0021" in err, err)
    os.chmod(where, 0o755)


def full(h, run, where, name):
    """No room: the old file is as it was, nothing new stays."""
    for about in ("write to a file instead of standard output", "the archive to write"):
        make = h.verbs[about][0]
        p = os.path.join(where, "f")
        with open(p, "wb") as f:
            f.write(b"old")
        status, err = run(make(p))
        with open(p, "rb") as f:
            h.check(f"{name}: {about}", status == 1 and "PC0023" in err and f.read() == b"old" and only(where, "f"), f"{status} {err}")
        os.unlink(p)
        status, err = run(make(p))
        h.check(f"{name}, new: {about}", status == 1 and "PC0023" in err and only(where), f"{status} {err}")


def full_disk(h):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    def limited(args):
        done = subprocess.run([h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit)
        return done.returncode, done.stderr.decode()

    full(h, limited, h.place(), "over the limit of a file")
    disk = h.place()
    if ROOT and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", disk], capture_output=True).returncode == 0:
        try:
            full(h, lambda args: (lambda r: (r[0], r[2]))(h.run(*args)), disk, "a full disk")
        finally:
            subprocess.run(["umount", disk], check=False)
    else:
        print("no file system can be mounted here: a full disk is only a limit")


def interrupted(h):
    """A FIFO without a reader waits, and Ctrl-C ends it."""
    fifo = h.path("nobody-reads")
    os.mkfifo(fifo)
    process = subprocess.Popen([h.pipectl, "cas", "get", h.cid, "--out", fifo], env=h.env, stderr=subprocess.PIPE)
    try:
        process.wait(2)
        h.check("a FIFO without a reader waits", False)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        h.check("Ctrl-C while it waits", process.wait(20) == 130, process.stderr.read().decode())


def files_with_names(h):
    """Files whose names follow from another: the signature of a pipeline, pages of a report."""
    null = os.path.join(h.dir, "page")
    os.symlink(null, h.path("sum.cfg.sig"))
    status, _, err = h.run("sign", h.pipeline)
    h.check("a signature through a link", status == 0 and os.path.islink(h.path("sum.cfg.sig")) and os.path.isfile(null), err)
    report = h.path("report")
    os.mkdir(report)
    os.symlink("elsewhere.html", os.path.join(report, "index.html"))
    status, _, err = h.run("audit", h.pipeline, "--in", "x=" + h.x, "--backends", "cpu,opencl:portable", "--report", report)
    h.check("a page through a link: the link stays, and is no part of a signed report", status == 1 and "PC0003" in err and
            os.path.islink(os.path.join(report, "index.html")), err)
    os.unlink(os.path.join(report, "index.html"))
    os.mkdir(os.path.join(report, "index.html"))
    status, _, err = h.run("audit", h.pipeline, "--in", "x=" + h.x, "--backends", "cpu,opencl:portable", "--report", report)
    h.check("a report over a directory", status == 2 and "PC0020" in err, err)
    edges, names = h.path("edges"), h.path("names")
    os.symlink(null, edges)
    done = subprocess.run([os.environ["DEBGRAPH"], edges, names], input=b"Package: a\nVersion: 1\n\n", capture_output=True)
    h.check("the graph's tool", done.returncode == 0 and os.path.islink(edges) and h.read("names") == b"a\n", done.stderr.decode())


def apart(h):
    """Two outputs of one run that would take each other's place: refused before anything runs, by whatever names."""
    os.symlink(h.path("one"), h.path("another"))
    where = os.path.join(h.dir, ".", "one")
    for about, options in (("the same name", ["--out", "y=" + h.path("one"), "--receipt", h.path("one")]),
                           ("a link", ["--out", "y=" + h.path("one"), "--receipt", h.path("another")]),
                           ("another path", ["--out", "y=" + where, "--receipt", h.path("one")])):
        status, _, err = h.run("run", h.pipeline, "--in", "x=" + h.x, *options)
        h.check(f"two outputs in one file, by {about}: refused", status == 2 and "PC0010" in err and "same file" in err and
                not os.path.exists(h.path("one")), f"{status} {err}")
    h.planted("an output and a receipt in one file", "run --out --receipt", "PC0010 usage", err)
    status, _, err = h.run("run", h.pipeline, "--in", "x=" + h.x, "--out", "y=/dev/null", "--receipt", "/dev/null")
    h.check("what is written through takes no place", status == 0, err)


def early(h):
    """Refused before anything runs."""
    status, out, err = h.run("--json", "run", h.pipeline, "--in", "x=" + h.x, "--out", "y=" + h.dir)
    h.check("before the run", status == 2 and b"PC0020" in out and b'"jobs"' not in out, err)


def main():
    h = Outputs()
    h.prepare()
    table(h)
    for about, (make, same) in h.verbs.items():
        status, _, err = h.run(*make(h.path("want")))
        if h.check(about, status == h.ends(about) and os.path.getsize(h.path("want")) > 0, err):
            stays(h, about, make, same, h.read("want"))
    standard_output(h)
    in_place(h)
    full_disk(h)
    interrupted(h)
    files_with_names(h)
    early(h)
    apart(h)
    for name, (code, err) in kinds.items():
        h.planted(f"an output that is {name}", "every option that writes", f"{code} output", err)
    h.finish()


main()
