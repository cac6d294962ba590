"""What a call is given, as the library's structures: keywords told apart, and data that stays where it is."""
from __future__ import annotations

import os
from typing import Any, Mapping, Union

import numpy

from pipectl._arrays import name_of, packed
from pipectl._errors import misuse
from pipectl._library import ffi, lib, new


class Cid(str):
    """The name of a blob, "bafkrei..". A text like any other, but given as an input it means the blob."""

    def __repr__(self) -> str:
        return f"Cid({str(self)!r})"


class Zeros(int):
    """An input of that many zero bytes, which never lie anywhere."""

    def __repr__(self) -> str:
        return f"Zeros({int(self)})"


Value = Union[str, int, float, bool]
Input = Union["numpy.ndarray[Any, Any]", "numpy.generic", bytes, bytearray, memoryview, "os.PathLike[str]", Cid, Zeros, str]
STORED = (numpy.ndarray, numpy.generic, bytes, bytearray, memoryview, os.PathLike, Cid, Zeros)


class Keep:
    """C texts and arrays, as long as it lives."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def keep(self, x: Any) -> Any:
        self.kept.append(x)
        return x

    def text(self, s: Any) -> Any:
        """A text or path; None is NULL."""
        if s is None:
            return ffi.NULL
        raw = os.fsencode(s) if isinstance(s, os.PathLike) else str(s).encode("utf-8", "surrogateescape")
        if b"\0" in raw:
            raise misuse(f"{s!r} has a NUL in it, which no text of the library can hold")
        return self.keep(ffi.new("char[]", raw))

    def texts(self, items: Any) -> tuple[Any, int]:
        """A selector or a list of them."""
        items = [items] if isinstance(items, (str, os.PathLike)) else list(items or ())
        return (self.keep(ffi.new("const char *[]", [self.text(i) for i in items])) if items else ffi.NULL), len(items)


def split(keywords: Mapping[str, Any], inputs: Mapping[str, Input] | None,
          params: Mapping[str, Value] | None) -> tuple[dict[str, Input], dict[str, Value]]:
    """Keywords are inputs where they are data (arrays, bytes, paths, Cid, Zeros), else parameters."""
    ins, sets = dict(inputs or {}), dict(params or {})
    for name, value in keywords.items():
        into: dict[str, Any] = ins if isinstance(value, STORED) else sets
        if name in into:
            raise misuse(f'"{name}" is given twice')
        into[name] = value
    return ins, sets


def setting(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)) and not isinstance(value, STORED):
        return str(value)
    raise misuse(f'"{name}" is a {type(value).__name__}, which is neither a parameter nor data',
                 "an array has its type from numpy.array(.., dtype=..), a parameter is a number or a text")


def settings(keep: Keep, params: Mapping[str, Value]) -> tuple[Any, int]:
    if not params:
        return ffi.NULL, 0
    rows = [(keep.text(name), keep.text(setting(name, value))) for name, value in params.items()]
    return keep.keep(ffi.new("pipectl_setting[]", rows)), len(rows)


def fill_array(keep: Keep, c: Any, name: str, value: numpy.ndarray[Any, Any]) -> None:
    c.dtype = keep.text(name_of(name, value.dtype))
    value = keep.keep(packed(value))
    c.rank = value.ndim
    c.dims = keep.keep(ffi.new("uint64_t[]", list(value.shape)))
    fill_bytes(keep, c, value.reshape(-1).view(numpy.uint8))


def fill_bytes(keep: Keep, c: Any, data: Any) -> None:
    """Nothing is copied: the library sees whether it changes while it is used (PC5210)."""
    if not memoryview(data).contiguous:
        raise misuse("bytes of a memoryview that is not contiguous", "bytes(view)")
    buffer = keep.keep(ffi.from_buffer(data))
    c.data, c.n_bytes = buffer, len(buffer)


def fill(keep: Keep, c: Any, name: str, value: Any) -> None:
    c.name = keep.text(name)
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        fill_array(keep, c, name, numpy.asarray(value))
    elif isinstance(value, Zeros):
        c.source = keep.text(f"zero:{int(value)}")
    elif isinstance(value, os.PathLike):
        c.source = keep.text(os.path.abspath(os.fspath(value)))
    elif isinstance(value, str):
        c.source = keep.text(value)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        fill_bytes(keep, c, value)
    else:
        raise misuse(f'input "{name}" is a {type(value).__name__}, which has no element type',
                     "give numpy.array(.., dtype=..), bytes, a path, a Cid or Zeros")


def input_array(keep: Keep, inputs: Mapping[str, Input]) -> tuple[Any, int]:
    if not inputs:
        return ffi.NULL, 0
    all_of_them = keep.keep(ffi.new("pipectl_input[]", len(inputs)))
    for c, (name, value) in zip(all_of_them, inputs.items()):
        c.head = new("pipectl_input").head
        fill(keep, c, name, value)
    return all_of_them, len(inputs)


def run_options(keep: Keep, inputs: Mapping[str, Input], backends: Any, verify: float, memo: bool,
                gas_limit: int | None, receipt: bool) -> Any:
    """verify is a share of jobs, 0 to 1."""
    if not 0 <= verify <= 1:
        raise misuse(f"verify is a share of jobs from 0 to 1, not {verify}")
    o = new("pipectl_run_options", verify_ppm=round(verify * 1_000_000), gas_limit=gas_limit or 0)
    o.backends, o.n_backends = keep.texts(backends)
    o.inputs, o.n_inputs = input_array(keep, inputs)
    o.flags = ((0 if memo else lib.PIPECTL_RUN_NO_MEMO) | (0 if gas_limit is None else lib.PIPECTL_RUN_GAS_LIMIT) |
               (lib.PIPECTL_RUN_RECEIPT if receipt else 0))
    return keep.keep(o)
