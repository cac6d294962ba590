"""What the tests of contracts share: modules from their text, a job's message without its sender, and bytes and their names."""
import base64
import ctypes
import hashlib
import os
import struct

import wire

here = os.path.dirname(os.path.abspath(__file__))
words = struct.pack("<4I", 5, 6, 7, 8)
with open(os.path.join(here, "double.wgsl"), "rb") as f:
    source = f.read()
OUTPUT = struct.pack("<4I", 10, 12, 14, 16)


def cid(data):
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


def message(**more):
    return wire.encode("MsgGpuExecute", dict({"shader_cid": cid(source), "input_cid": cid(words), "output_bytes": 16,
                                              "dispatch": {"x": 1, "y": 1, "z": 1}, "gas_limit": 300000}, **more))


class Bytes(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]


def assemble(text):
    """The module of a text, by Wasmtime itself."""
    library = ctypes.CDLL(os.environ["PIPECTL_WASMTIME"])
    library.wasmtime_wat2wasm.restype = ctypes.c_void_p
    out, data = Bytes(), text.encode()
    error = library.wasmtime_wat2wasm(ctypes.c_char_p(data), ctypes.c_size_t(len(data)), ctypes.byref(out))
    assert not error, text[:200]
    return ctypes.string_at(out.data, out.size)


def contract():
    with open(os.path.join(here, "contract.wat"), encoding="utf-8") as f:
        return assemble(f.read())
