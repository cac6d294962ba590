"""What the tests share: a home of their own with the profiles that were made for all tests, the tool that the library is held
to, and files. The driver (install.py) says where the installed prefix is."""
import json
import os
import pathlib
import subprocess
import time

import numpy
import pytest

import pipectl
from harness import take_made

PREFIX = pathlib.Path(os.environ["PIPECTL_PREFIX"])
LIBRARY = PREFIX / os.environ["PIPECTL_LIBDIR"] / "libpipectl.so.0"
TOOL = PREFIX / "bin/pipectl"
PIPELINES = PREFIX / "share/pipectl/pipelines"
RANK = PIPELINES / "rank.pipe.cfg"
EDGES = numpy.array([[0, 1], [1, 2], [2, 0], [3, 2]], dtype=numpy.uint32)
# Hundreds of thousands of rounds on a graph of four nodes: minutes.
LONG = {"edges": EDGES, "iterations": 500_000, "backends": "cpu", "memo": False}

THROUGH = '''pipeline : {{ name = "through"; class = "integer";
  inputs : {{ x : {{ type = "{}"; }}; word : {{ type = "u32[w]"; file = "word"; }}; }};
  jobs = ( {{ id = "a"; op = "int.popcount@1"; in : {{ x = "$word"; }}; }} );
  outputs : {{ y = "$x"; n = "a.y"; }};
}};
'''


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of the test's own, which is the configured one as well."""
    path = tmp_path / "home"
    path.mkdir()
    take_made(path)
    monkeypatch.setenv("PIPECTL_HOME", str(path))
    return path


@pytest.fixture
def installation(home):
    with pipectl.Installation(home=home) as opened:
        yield opened


@pytest.fixture
def through(tmp_path):
    """A pipeline that gives its input back, of a type; a pipeline has a job, whatever it is."""
    def write(kind):
        (tmp_path / "word").write_bytes(bytes(4))
        path = tmp_path / "through.pipe.cfg"
        path.write_text(THROUGH.format(kind), encoding="utf-8")
        return path
    return write


@pytest.fixture
def tool(home):
    """The tool's exit status and document."""
    def run(*args):
        done = subprocess.run([TOOL, "--home", home, "--json", *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.decode()
    return run


def processes():
    """Workers of the installed prefix that run."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if command[0] == b"pipectl-worker" and any(c.startswith(bytes(PREFIX)) for c in command):
            found.append((entry.name, command))
    return found


def wait_until(condition, seconds=300):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to this"
        time.sleep(0.01)
