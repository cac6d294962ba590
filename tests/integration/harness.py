"""Driving pipectl from a test: a private home, one process a run, and a count of what was compared. A script that
compared nothing fails. Standard library only."""
import fcntl
import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time


def patient(seconds):
    """A limit of seconds by the clock that holds on a machine that does other things too: five times as long, since load comes without a
    warning, and longer by twice as many times as there is more work, now or of late, than processors that this process may use."""
    with open("/proc/loadavg", encoding="ascii") as f:
        late, _, _, now, _ = f.read().split()
    work = max(float(late), int(now.split("/")[0]))
    return seconds * max(5.0, 2 * work / len(os.sched_getaffinity(0)))


def share(cases, of=4, begin=0, brings=lambda case: ()):
    """The cases that a test takes by day: one of `of`, and each that brings something which none that was taken brought; or all where the machine
    asks for them (pctl_integration_more in CMakeLists.txt, and what tools/check leaves out: labels matrix, larger and slow). Of a product of lists,
    with an `of` that has no divisor in common with the lengths of the inner ones, each combination of these comes in turn; of a list that is gone
    through once for each of something, `begin` counts that."""
    seen, taken = set(), []
    for i, case in enumerate(cases):
        if "PCTL_TEST_MORE" in os.environ or i % of == begin % of or not seen.issuperset(brings(case)):
            seen.update(brings(case))
            taken.append(case)
    return taken


def was_taken(pid, number):
    """Wait until a process has taken a signal that was sent to it: a second one of its kind is lost while the first waits."""
    try:
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
                waiting = sum(int(line.split()[1], 16) for line in f if line.startswith(("SigPnd:", "ShdPnd:")))
            if not waiting >> (number - 1) & 1:
                return
            time.sleep(0.002)
    except (OSError, ValueError):
        pass  # it is gone


def take_made(home):
    """What earlier tests made for all (tests/integration/CMakeLists.txt), into the home of one."""
    made = os.environ.get("PIPECTL_TEST_HOME", "")
    if not os.path.isdir(made):
        return
    # Profiles, with the key they are signed by: no probe again.
    for part in ("keys", "profiles"):
        if os.path.isdir(os.path.join(made, part)):
            shutil.copytree(os.path.join(made, part), os.path.join(home, part))
    # What drivers' libraries hash to, too (there are hundreds of megabytes of them), what was found of plugins and what drivers say
    # they have: rows of the product's own, by the hash of the plugin and the state of the driver. Others ask anew.
    os.makedirs(os.path.join(home, "cache/drivers"), exist_ok=True)
    for kept in ("driver-files.tsv", "plugins.tsv", "devices.tsv"):
        if os.path.exists(os.path.join(made, "cache", kept)):
            shutil.copy(os.path.join(made, "cache", kept), os.path.join(home, "cache"))
    if os.environ.get("PIPECTL_TEST_KERNELS") == "own":
        return
    # What drivers of devices compiled and keep, by the text of a kernel: shared, as between processes with one home. PoCL takes a second
    # of the processor for each kernel, and every test that runs the rank demo has the same ones. A lock that is a link is none: nobody
    # clears away what another test's driver writes just now.
    for folder in glob.glob(os.path.join(glob.escape(made), "cache/drivers/*/")):
        name = os.path.basename(folder.rstrip("/"))
        if name.startswith(("opencl-", "vulkan-")):
            os.symlink(os.path.realpath(folder), os.path.join(home, "cache/drivers", name))
            os.symlink(os.path.realpath(folder) + ".lock", os.path.join(home, "cache/drivers", name + ".lock"))


class Harness:
    def __init__(self):
        self.pipectl = os.environ["PIPECTL"]
        # The shipped policy under which class approximate may run.
        self.approximate = os.path.join(os.path.dirname(self.pipectl), "..", "conf", "policy", "approximate.cfg")
        self.dir = tempfile.mkdtemp(prefix="pipectl-test-")
        self.env = dict(os.environ, PIPECTL_HOME=self.path("home"), LC_ALL="C.UTF-8")
        self.env.setdefault("XDG_RUNTIME_DIR", self.dir)
        take_made(self.path("home"))
        self.passed = 0
        self.failed = 0
        self.rows = 0
        self.last = []  # what is left to do before the end

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
        for do in self.last:
            do()
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
