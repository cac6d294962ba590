"""Where the library is found, and what is said where it is not."""
import os
import pathlib
import shutil
import subprocess
import sys

from conftest import LIBRARY

import pipectl


def imported(package=None, **env):
    """What a fresh interpreter says: the library's path, or the import error."""
    script = ("import pipectl\nfor line in open('/proc/self/maps'):\n    if 'libpipectl.so' in line:\n"
              "        print(line.split()[-1])\n        break\n")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **env, **({"PYTHONPATH": str(package)} if package else {})},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode().strip().splitlines()[-1]


def moved(tmp_path):
    """The package as if its prefix had gone."""
    shutil.copytree(pathlib.Path(pipectl.__file__).parent, tmp_path / "pipectl")
    (tmp_path / "pipectl/_built.py").write_text("LIBDIR = '/nowhere/lib'\n", encoding="utf-8")
    return tmp_path


def test_where_it_was_installed():
    assert imported() == str(LIBRARY.resolve())


def test_where_it_is_named(tmp_path):
    named = str(LIBRARY)
    assert imported(moved(tmp_path), PIPECTL_LIBRARY=named) == str(LIBRARY.resolve())
    said = imported(PIPECTL_LIBRARY=str(tmp_path / "none.so"))
    assert said.startswith("ImportError: libpipectl.so.0 was not found; set PIPECTL_LIBRARY") and "none.so" in said


def test_where_the_loader_looks(tmp_path):
    assert imported(moved(tmp_path), LD_LIBRARY_PATH=str(LIBRARY.parent)) == str(LIBRARY.resolve())
    said = imported(tmp_path)
    assert said.startswith("ImportError") and "/nowhere/lib/libpipectl.so.0" in said and "libpipectl.so.0: cannot open" in said


def test_an_older_library_is_told_of(tmp_path):
    (tmp_path / "old.c").write_text("const char *pipectl_version(void);\nconst char *pipectl_version(void) { return \"0.0.1\"; }\n",
                                    encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "old.so", tmp_path / "old.c"], check=True)
    said = imported(PIPECTL_LIBRARY=str(tmp_path / "old.so"))
    assert said.startswith("ImportError") and "older than this package" in said


def test_the_package_is_typed_and_says_its_version():
    assert (pathlib.Path(pipectl.__file__).parent / "py.typed").exists()
    import importlib.metadata

    assert importlib.metadata.version("pipectl") == pipectl.__version__
    undocumented = [n for n in pipectl.__all__ if not (getattr(pipectl, n).__doc__ or "").strip() and callable(getattr(pipectl, n))]
    assert undocumented == []
