"""The package as a stranger has it: pipectl is installed into a prefix and the prefix moved, the wheel is built against it
without a network and installed into a virtual environment, and the tests run there with nothing of the source tree in reach
but themselves and the oracles. Built once (make, a fixture of ctest), tested in parts (test).
usage: install.py make CMAKE SOURCE BUILD LIBDIR FOLDER
       install.py test CMAKE SOURCE BUILD LIBDIR FOLDER [pytest's arguments]"""
import os
import re
import shutil
import subprocess
import sys

from harness import Harness

WHAT, CMAKE, SOURCE, BUILD, LIBDIR, FOLDER = sys.argv[1:7]
HERE = os.path.join(SOURCE, "tools/python")
PREFIX = os.path.join(FOLDER, "prefix")
PYTHON = os.path.join(FOLDER, "venv/bin/python")


def command(h, name, *args, **more):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=h.dir, **more)
    text = done.stdout.decode("utf-8", "replace")
    if not h.check(name, done.returncode == 0, text[-6000:]):
        h.finish()
    return text


def environment(h):
    env = {k: v for k, v in os.environ.items() if k not in ("PIPECTL_HOME", "PIPECTL_LIBRARY", "LD_LIBRARY_PATH", "PYTHONPATH")}
    env.update(PKG_CONFIG_PATH=os.path.join(PREFIX, LIBDIR, "pkgconfig"), LC_ALL="C.UTF-8")
    env.setdefault("XDG_RUNTIME_DIR", h.dir)
    return env


def make(h, env):
    """Nothing is left in the sources, and the wheel has the two files that are made."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    command(h, "cmake --install", CMAKE, "--install", BUILD, "--prefix", h.path("first"))
    shutil.move(h.path("first"), PREFIX)
    command(h, "venv", sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", os.path.join(FOLDER, "venv"))
    shutil.copytree(HERE, h.path("source"), ignore=shutil.ignore_patterns("tests", "__pycache__", "build", "*.egg-info"))
    pip = (PYTHON, "-m", "pip", "--no-cache-dir", "--disable-pip-version-check")
    nowhere = dict(env, PKG_CONFIG_PATH="", PKG_CONFIG_LIBDIR=h.path("empty"))
    done = subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", h.path("source")], cwd=h.dir, env=nowhere,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    h.check("without pipectl the build says what to do", done.returncode != 0 and b"PKG_CONFIG_PATH=" in done.stdout, str(done.stdout))
    command(h, "wheel", *pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", h.path("wheels"), h.path("source"),
            env=env)
    wheels = os.listdir(h.path("wheels"))
    h.check("one wheel, of any Python 3", len(wheels) == 1 and wheels[0].endswith("-py3-none-any.whl"), str(wheels))
    command(h, "install", *pip, "install", "--no-deps", "--no-index", os.path.join(h.path("wheels"), wheels[0]), env=env)


def test(h, env):
    tests = os.path.join(SOURCE, "tests/integration")
    env.update(PIPECTL_PREFIX=PREFIX, PIPECTL_LIBDIR=LIBDIR, PIPECTL_SOURCE=HERE,
               PYTHONPATH=tests + os.pathsep + os.path.join(tests, "rank"))
    said = command(h, "pytest", PYTHON, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--durations=5",
                   f"--basetemp={h.path('pytest')}", os.path.join(HERE, "tests"), *sys.argv[7:], env=env)
    print(said)
    passed = re.search(r"(\d+) passed", said)
    h.check("tests ran, and none was skipped", passed and int(passed[1]) > 10 and "skipped" not in said, said[-500:])


def main():
    h = Harness()
    h.dir = os.path.realpath(h.dir)
    {"make": make, "test": test}[WHAT](h, environment(h))
    h.finish()


main()
