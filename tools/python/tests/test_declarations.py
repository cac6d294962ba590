"""What this package believes of C, held to the installed header and library: every exported symbol is declared and used, every
structure has the compiler's sizes and offsets, every constant the header's value. Each comparison is shown to fail."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from conftest import LIBRARY, PREFIX

from pipectl import _abi, _library

PACKAGE = pathlib.Path(_abi.__file__).parent
HEADERS = tuple(PREFIX / "include/pipectl" / name for name in ("pipectl.h", "chain.h", "resident.h", "model.h"))
# Exported, and not called: why.
UNUSED = {"pipectl_generate": "begun and stepped here, so that other threads and Ctrl-C come between tokens",
          "pipectl_result_data": "a copy that lives as long as the result; outputs are blobs, which live as long as arrays"}

# Machines that stay on a device, and models in them (vm.h, llm.h), are not part of this package.
ELSEWHERE = ("pipectl_vm_", "pipectl_llm_")


def exported():
    out = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], stdout=subprocess.PIPE, check=True).stdout.decode()
    names = {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] == "T"}
    return {name for name in names if not name.startswith(ELSEWHERE)}


def declared():
    return {name for name in dir(_library.lib) if name.startswith("pipectl_")}


def used(names):
    text = "".join(p.read_text(encoding="utf-8") for p in PACKAGE.glob("*.py") if p.name not in ("_abi.py", "_built.py"))
    return {name for name in names if re.search(rf"\blib\.{name}\b", text)}


def test_every_symbol():
    assert exported() == declared() and len(declared()) > 40
    assert used(declared()) == declared() - set(UNUSED)
    assert used({"pipectl_planted"}) == set() and declared() - {"pipectl_run"} | {"pipectl_planted"} != exported()


def structures():
    for name in _library.ffi.list_types()[0]:
        kind = _library.ffi.typeof(name)
        if kind.kind == "struct" and kind.fields is not None:
            yield name, kind


def layout():
    """As cffi has it."""
    lines = []
    for name, kind in structures():
        lines.append(f"{name} {_library.ffi.sizeof(kind)}")
        lines += [f"{name}.{m} {f.offset} {_library.ffi.sizeof(f.type)}" for m, f in kind.fields]
    return lines


def compiled(tmp_path, header=lambda text: text):
    """As a program sees it that is built with the header."""
    (tmp_path / "pipectl").mkdir(exist_ok=True)
    (tmp_path / "pipectl/pipectl.h").write_text(header((PREFIX / "include/pipectl/pipectl.h").read_text(encoding="utf-8")),
                                                encoding="utf-8")
    lines = []
    for name, kind in structures():
        lines.append(f'\tprintf("{name} %zu\\n", sizeof({name}));')
        lines += [f'\tprintf("{name}.{m} %zu %zu\\n", offsetof({name}, {m}), sizeof((({name} *)0)->{m}));' for m, _ in kind.fields]
    (tmp_path / "layout.c").write_text('#include <stdio.h>\n#include "pipectl/chain.h"\n#include "pipectl/resident.h"\n#include "pipectl/model.h"\nint main(void)\n{\n' + "\n".join(lines) +
                                       "\n\treturn 0;\n}\n", encoding="utf-8")
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-I", tmp_path, "-I", PREFIX / "include", "-o",
                    tmp_path / "layout", tmp_path / "layout.c"], check=True)
    return subprocess.run([tmp_path / "layout"], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


def test_every_structure(tmp_path):
    header = "".join(p.read_text(encoding="utf-8") for p in HEADERS)
    there = set(re.findall(r"typedef struct (pipectl_\w+) \{", header))
    assert there <= {name for name, _ in structures()} and len(there) > 10
    assert layout() == compiled(tmp_path)


@pytest.mark.parametrize("old, new", [("uint32_t verify_ppm, flags;", "uint32_t flags, verify_ppm;"),
                                      ("const char *name, *value;", "const char *planted, *name, *value;")])
def test_a_planted_change_is_seen(tmp_path, old, new):
    assert compiled(tmp_path, lambda text: text.replace(old, new)) != layout()


def test_every_constant():
    text = re.sub(r"/\*.*?\*/", "", "".join(p.read_text(encoding="utf-8") for p in HEADERS), flags=re.S)
    constants = re.findall(r"^#define (PIPECTL_\w+)[ \t\\\n]+(\d+)u", text, re.M)
    assert len(constants) > 15
    for name, value in constants:
        assert getattr(_library.lib, name) == int(value), name
    assert _library.lib.PCTL_E_CANCELLED == 6 and _library.lib.PC4015_INPUT_SIZE == 4015
