"""A log of blocks seen from outside: the tool that writes it, and the git program, which shares no code with libgit2."""
import os
import subprocess

WHO = {"GIT_AUTHOR_NAME": "pipectl", "GIT_AUTHOR_EMAIL": "blocks@pipectl.invalid",
       "GIT_COMMITTER_NAME": "pipectl", "GIT_COMMITTER_EMAIL": "blocks@pipectl.invalid"}


class Log:
    def __init__(self, harness, tool, name):
        self.h, self.tool, self.dir = harness, tool, harness.path(name)

    def call(self, verb, *args, stdin=b"", env=None, preexec=None):
        """Exit status, standard output as bytes, the codes refused with, standard error."""
        done = subprocess.run([self.tool, verb, self.dir, *[str(a) for a in args]], input=stdin,
                              env=dict(self.h.env, **(env or {})), preexec_fn=preexec,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = done.stderr.decode()
        return done.returncode, done.stdout, [line.split()[0] for line in errors.splitlines() if line[:2] == "PC"], errors

    def write(self, files, parent=None, clock=1, message="block\n", **how):
        """files: list of (path, bytes). The id, or the list of codes."""
        text = b"".join(b"%s %d\n%s\n" % (p.encode(), len(d), d) for p, d in files)
        status, out, codes, _ = self.call("write", parent or "none", clock, message, stdin=text, **how)
        return out.decode().strip() if status == 0 else codes

    def git(self, *args, stdin=b"", env=None, check=True):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        clean.update(HOME="/nonexistent", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C", **(env or {}))
        done = subprocess.run(["git", "-c", "safe.directory=*", *args], cwd=self.dir, env=clean, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise RuntimeError(f"git {args}: {done.stderr.decode()}")
        return done.stdout if check else (done.returncode, (done.stdout + done.stderr).decode())

    def commit(self, tree, parents=(), clock=1, message="block\n", who=None, env=None):
        """A commit by the git program."""
        dates = {"GIT_AUTHOR_DATE": f"@{clock} +0000", "GIT_COMMITTER_DATE": f"@{clock} +0000"}
        args = [a for p in parents for a in ("-p", p)]
        return self.git("commit-tree", tree, *args, stdin=message.encode(),
                        env={**WHO, **dates, **(who or {}), **(env or {})}).decode().strip()

    def blob(self, data):
        return self.git("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()

    def raw(self, kind, data):
        """An object of any bytes."""
        return self.git("hash-object", "-w", "--literally", "-t", kind, "--stdin", stdin=data).decode().strip()

    def tree(self, files):
        """The tree of (path, bytes) by git update-index and write-tree: sorting and nesting are git's."""
        index = self.h.path("index")
        if os.path.exists(index):
            os.remove(index)
        names = {}
        for i, (_, data) in enumerate(files):
            names.setdefault(data, self.h.write(f"blob{len(names)}", data))
        order = list(names)
        ids = self.git("hash-object", "-w", "--no-filters", "--stdin-paths",
                       stdin="".join(names[d] + "\n" for d in order).encode()).decode().split()
        ids = dict(zip(order, ids))
        lines = "".join(f"100644 {ids[data]}\t{path}\n" for path, data in files)
        env = {"GIT_INDEX_FILE": index, "GIT_DIR": self.dir}
        self.git("update-index", "--add", "--index-info", stdin=lines.encode(), env=env)
        return self.git("write-tree", env=env).decode().strip()
