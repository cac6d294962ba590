"""The wheel: the package's Python files, and what is made of the installed header, pipectl/_abi.py and pipectl/_built.py."""
import os
import pathlib
import sys

import cffi
from setuptools import setup
from setuptools.command.build_py import build_py

# The same wheel of the same files, whoever makes it and when.
os.umask(0o022)
os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from declarations import declarations, pkg_config  # noqa: E402


class BuildWithDeclarations(build_py):
    """Nothing is written into the sources."""

    def run(self):
        super().run()
        out = pathlib.Path(self.build_lib, "pipectl")
        ffi = cffi.FFI()
        ffi.set_source("pipectl._abi", None)
        ffi.cdef(declarations(pkg_config("--variable=includedir")))
        ffi.emit_python_code(str(out / "_abi.py"))
        libdir = os.path.realpath(pkg_config("--variable=libdir"))
        (out / "_built.py").write_text(f'"""Where the library was when this wheel was built."""\nLIBDIR = {libdir!r}\n', encoding="utf-8")
        for path in out.iterdir():
            path.chmod(0o644)


setup(name="pipectl", version=pkg_config("--modversion"), description="Runs declared compute pipelines, the same bytes on every device",
      license="Apache-2.0", packages=["pipectl"], package_data={"pipectl": ["py.typed"]}, python_requires=">=3.11",
      install_requires=["cffi>=1.15", "numpy>=1.24"], cmdclass={"build_py": BuildWithDeclarations})
