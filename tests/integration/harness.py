"""Driving pipectl from a test: a private home, one process a run, and a count of what was compared. A script that
compared nothing fails. Standard library only."""
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import termios


class Harness:
    def __init__(self):
        self.pipectl = os.environ["PIPECTL"]
        # The shipped policy under which class approximate may run.
        self.approximate = os.path.join(os.path.dirname(self.pipectl), "..", "conf", "policy", "approximate.cfg")
        self.dir = tempfile.mkdtemp(prefix="pipectl-test-")
        self.env = dict(os.environ, PIPECTL_HOME=self.path("home"), LC_ALL="C.UTF-8")
        self.env.setdefault("XDG_RUNTIME_DIR", self.dir)
        self.take_profiles()
        self.passed = 0
        self.failed = 0
        self.rows = 0

    def take_profiles(self):
        """Profiles that an earlier test made (tests/CMakeLists.txt), with the key they are signed by: no probe again."""
        made = os.environ.get("PIPECTL_TEST_HOME", "")
        for part in ("keys", "profiles"):
            if os.path.isdir(os.path.join(made, part)):
                shutil.copytree(os.path.join(made, part), self.path(os.path.join("home", part)))
        # What drivers' libraries hash to, too (there are hundreds of megabytes of them), what was found of plugins and what drivers say
        # they have: rows of the product's own, by the hash of the plugin and the state of the driver. Others ask anew.
        for kept in ("driver-files.tsv", "plugins.tsv", "devices.tsv"):
            if os.path.exists(os.path.join(made, "cache", kept)):
                os.makedirs(self.path("home/cache"), exist_ok=True)
                shutil.copy(os.path.join(made, "cache", kept), self.path("home/cache"))

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def run(self, *args, executable=None, stdin=None):
        """Exit status, standard output and standard error of one process."""
        done = subprocess.run([executable or self.pipectl, *args], env=self.env, input=stdin,
                              stdin=None if stdin is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def terminal(self, *args, columns=80, shown="err"):
        """What a terminal of that width is sent: standard error, standard output or both, as `shown` says (err, out, all); and the
        exit status."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {k: v for k, v in self.env.items() if k != "COLUMNS"}
        done = subprocess.Popen([self.pipectl, *args], env=env, stdin=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL if shown == "out" else slave,
                                stdout=subprocess.DEVNULL if shown == "err" else slave)
        os.close(slave)
        text = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # EIO: nobody has the other side any more
                break
            if not more:
                break
            text += more
        os.close(master)
        return done.wait(), text

    def check(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {detail}", flush=True)
        return ok

    def planted(self, fault, where, caught_by, said):
        """A row of the table of planted faults (tests/planted/planted.h): what was said of one that was just seen caught, the
        line with the code where caught_by begins with one."""
        code = caught_by.split(" ")[0]
        lines = [line for line in said.splitlines() if code in line] if code.startswith("PC") else [said]
        named = lines[0].strip() if lines else ""
        self.check(f"{fault}: caught with words", named != "", said)
        if os.environ.get("PIPECTL_PLANTED"):
            with open(os.environ["PIPECTL_PLANTED"], "a" if self.rows else "w", encoding="utf-8") as f:
                row = (fault, where, caught_by, named.replace(self.dir, "DIR"))
                f.write("\t".join(x.replace("\t", " ").replace("\n", " ") for x in row) + "\n")
        self.rows += 1

    def check_bytes(self, name, got, want, width):
        """Equal bytes, or the first element of `width` bytes that differs."""
        if got == want:
            return self.check(name, True)
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        at -= at % width
        return self.check(name, False, f"{len(got)} bytes, {len(want)} wanted; element {at // width}: "
                                       f"{got[at:at + width].hex()}, wanted {want[at:at + width].hex()}")

    def finish(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


class Random:
    """splitmix64: the same numbers everywhere, from a printed seed."""

    def __init__(self, seed):
        self.state = seed

    def u64(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return z ^ (z >> 31)

    def below(self, n):
        return self.u64() % n
