"""Element types: NumPy's for the library's, and the bytes of arrays. Nothing is converted but the packing of bool, which is
four bytes in a buffer and one in NumPy.

    bool i8 u8 .. i64 u64 f16 f32 f64   NumPy's of the same name
    bf16                                BF16: the bits, as field "bf16"; ml_dtypes' bfloat16 is taken as well
    u128                                U128: fields "low" and "high"
    bytes                               BYTES: opaque bytes, .tobytes() or .view(numpy.uint8)"""
from __future__ import annotations

import sys
from typing import Any

import numpy

from pipectl._errors import misuse

BF16 = numpy.dtype([("bf16", "<u2")])
U128 = numpy.dtype([("low", "<u8"), ("high", "<u8")])
BYTES = numpy.dtype("V1")

DTYPES = {"bool": numpy.dtype("?"), "bf16": BF16, "u128": U128, "bytes": BYTES,
          **{f"{k}{8 * n}": numpy.dtype(f"<{c}{n}") for k, c, sizes in
             (("i", "i", (1, 2, 4, 8)), ("u", "u", (1, 2, 4, 8)), ("f", "f", (2, 4, 8))) for n in sizes}}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def name_of(name: str, dtype: numpy.dtype[Any]) -> str:
    """The library's name of an array's elements."""
    if dtype.name == "bfloat16" and dtype.itemsize == 2:
        return "bf16"
    found = NAMES.get(dtype)
    if found is not None:
        return found
    if dtype.newbyteorder() in NAMES:
        raise misuse(f'input "{name}" is big endian ({dtype.str})', f'array.astype("{dtype.newbyteorder().str}")')
    raise misuse(f'input "{name}" is an array of {dtype}, which is no element type', "element types: " + ", ".join(DTYPES))


def packed(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The array row by row as the library has it; the same memory where it is that already."""
    if array.dtype == bool:
        array = array.astype("<u4")
    return numpy.ascontiguousarray(array).reshape(array.shape)


def unpacked(data: Any, dtype: str, shape: tuple[int, ...]) -> numpy.ndarray[Any, Any]:
    """An array over the library's bytes, which stays as long as the array; of bool a copy."""
    kind = DTYPES.get(dtype)
    if kind is None:
        raise misuse(f"an output is {dtype}, which this package does not know; Result.get gives its bytes")
    stored = numpy.dtype("<u4") if kind == bool else kind
    if len(data) == 0:
        return numpy.empty(shape, kind)
    array = numpy.frombuffer(data, stored).reshape(shape)
    if kind == bool:
        if array.max() > 1:
            raise misuse("an output of bool holds a word that is neither 0 nor 1; Result.get gives its bytes")
        array = array.astype(bool)
        array.flags.writeable = False
    return array


if sys.byteorder != "little":
    raise ImportError("the library's data is little endian, this machine is not", name="pipectl")
