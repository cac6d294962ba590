"""Repositories for the tests, made by the git program: it shares no code with libgit2."""
import os
import subprocess
import sys

# One job that adds a constant to every element; the constant stands in the shader, the class in an include.
SHADER = """@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x < arrayLength(&x)) { y[id.x] = x[id.x] + %du; }
}
"""
PIPELINE = """pipeline : { name = "t";
  @include "parts/class.cfg"
  inputs : { x : { type = "u32[n]"; file = "data/x.bin"; }; };
  jobs = ( { id = "add"; shader = "shaders/add.wgsl"; dispatch = ( "n/64" ); in : { x = "$x"; };
             out : { y = "u32[n]"; }; } );
  outputs : { y = "add.y"; };
};
"""
CLASS = 'class = "integer";\n'


def u32s(values):
    return b"".join(v.to_bytes(4, "little") for v in values)


class Repo:
    """A work tree with a pipeline in `pipes`, committed once with the constant 1."""

    def __init__(self, h, name, constant=1):
        self.h, self.dir = h, h.path(name)
        os.makedirs(self.dir)
        self.env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", HOME=h.dir,
                        GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org", GIT_COMMITTER_NAME="t",
                        GIT_COMMITTER_EMAIL="t@example.org", GIT_AUTHOR_DATE="1700000000 +0000",
                        GIT_COMMITTER_DATE="1700000000 +0000")
        self.git("init", "-q", "-b", "main")
        self.fill(constant)
        self.first = self.commit("first")

    def git(self, *args, stdin=None):
        done = subprocess.run(["git", *args], cwd=self.dir, env=self.env, input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(text.encode() if isinstance(text, str) else text)

    def fill(self, constant):
        self.write("pipes/a.pipe.cfg", PIPELINE)
        self.write("pipes/parts/class.cfg", CLASS)
        self.write("pipes/shaders/add.wgsl", SHADER % constant)
        self.write("pipes/data/x.bin", u32s(range(100)))

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def blob(self, data):
        return self.git("hash-object", "-w", "--stdin", stdin=data.encode())

    def commit_tree(self, entries):
        """A commit with no parent of a tree as `git mktree` takes it: (mode, type, id, name)."""
        text = "".join(f"{mode} {kind} {oid}\t{name}\n" for mode, kind, oid, name in entries)
        tree = self.git("mktree", "--missing", stdin=text.encode())
        return self.git("commit-tree", "-m", "made", tree)


def checker(h):
    """refused(name, status, code, words...) and allowed(name, args...) over a harness."""

    def refused(name, status, code, args, *words):
        got, out, err = h.run(*args)
        h.check(name, got == status and code in err and all(w in err for w in words),
                f"exit status {got}, {status} wanted, {code} {words}\n{err}")
        return err

    def allowed(name, args):
        got, out, err = h.run(*args)
        h.check(name, got == 0, f"exit status {got}\n{err}")
        return out, err

    return refused, allowed
