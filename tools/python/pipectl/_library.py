"""The loaded library. `ffi` and `lib` are all that the rest of the package knows of C.

It is looked for in this order, and nowhere else: the file that PIPECTL_LIBRARY names; the directory where it was installed
when this package was built; where the dynamic loader looks (LD_LIBRARY_PATH, /etc/ld.so.conf). Where PIPECTL_LIBRARY names
something that cannot be loaded, nothing else is tried."""
import os

from pipectl._abi import ffi
from pipectl._built import LIBDIR

NAME = "libpipectl.so.0"


def candidates():
    named = os.environ.get("PIPECTL_LIBRARY")
    return [named] if named else [os.path.join(LIBDIR, NAME), NAME]


def load():
    tried = []
    for path in candidates():
        try:
            return complete(ffi.dlopen(path), path)
        except OSError as e:
            tried.append(str(e))
    raise ImportError(f"{NAME} was not found; set PIPECTL_LIBRARY to its path. Tried: " + "; ".join(tried), name="pipectl")


def complete(library, path):
    """A library that lacks a function is told now, not when the function is first called."""
    try:
        for name in dir(library):
            getattr(library, name)
    except (AttributeError, ffi.error) as e:
        raise ImportError(f"{path} is older than this package: {e}", name="pipectl", path=path) from None
    return library


lib = load()


def text(pointer):
    """A text of the library's, None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def new(name, /, **members):
    """A structure that begins with a head."""
    s = ffi.new(f"{name} *", members)
    s.head.size = ffi.sizeof(name)
    s.head.major, s.head.minor = lib.PCTL_ABI_MAJOR, lib.PCTL_ABI_MINOR
    return s
