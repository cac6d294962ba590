"""The declarations of pipectl.h, chain.h, resident.h and model.h as cffi reads them, made from the installed header by the C preprocessor when the wheel is
built: there is no second copy that a person keeps. Nothing is compiled."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

HEADERS = ("pipectl/chain.h", "pipectl/resident.h", "pipectl/model.h")  # which include pipectl.h
# Functions of other prefixes that the header's includes declare are those of the SDK's static library.
EXPORTED = "pipectl_"


def pkg_config(*what):
    """What pkg-config says of pipectl; PKG_CONFIG_PATH names prefixes that it does not search."""
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), *what, "pipectl"]
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError) as e:
        raise SystemExit(f"{' '.join(command)}: {e}\nInstall pipectl first (cmake --install BUILD --prefix PREFIX) and name it: "
                         "PKG_CONFIG_PATH=PREFIX/lib/pkgconfig") from None


def preprocess(include, *options):
    """The header after the preprocessor, with the system's headers empty: cffi knows the types of stdint.h itself."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdint.h"):
            pathlib.Path(empty, name).touch()
        return subprocess.run([*compiler, "-E", "-x", "c", "-undef", "-nostdinc", *options, "-I", empty, "-I", str(include), "-"],
                              input="".join(f'#include "{h}"\n' for h in HEADERS).encode(), check=True, stdout=subprocess.PIPE).stdout.decode()


def statements(text):
    """Declarations, one a string, cut at the semicolons outside of braces."""
    depth, begin = 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth == 0:
            yield text[begin:i + 1].strip()
            begin = i + 1


def is_foreign(statement):
    """A function that the library does not export."""
    if statement.startswith(("typedef", "struct", "enum")):
        return False
    name = re.search(r"(\w+)\s*\(", statement)
    return name is not None and not name.group(1).startswith(EXPORTED)


def declarations(include):
    """The text for cffi's cdef: constants, structures, functions."""
    macros = re.findall(r"^#define ((?:PIPECTL|PCTL)_\w+) ((?:0x)?[0-9a-f]+)u?$", preprocess(include, "-dM"), re.M)
    kept = [s for s in statements(preprocess(include, "-P")) if not is_foreign(s)]
    return "\n".join([f"#define {name} {value}" for name, value in sorted(macros)] + kept) + "\n"
