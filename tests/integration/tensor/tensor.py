"""`pipectl tensor show` and `convert` against NumPy, and safetensors and GGUF files that this script writes by their definitions;
files cut at every byte of their heads and files that lie: one typed refusal, nothing written."""
import io
import json
import os
import random
import struct
import sys
import warnings
import zipfile

import numpy as np

from harness import Harness

REFUSED = 3  # exit status of an invalid input


def safetensors(tensors, meta=None, order=None):
    """tensors: name -> (dtype, shape, bytes)."""
    head, data = {}, b""
    if meta:
        head["__metadata__"] = meta
    for name in order or tensors:
        dtype, shape, raw = tensors[name]
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def gguf(tensors, keys=(), alignment=32, version=3):
    """tensors: name -> (number of the type, dimensions innermost first, bytes)."""
    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for key, kind, raw in keys:
        out += text(key) + struct.pack("<I", kind) + raw
    data = b""
    for name, (number, dims, raw) in tensors.items():
        data += bytes(-len(data) % alignment)
        out += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", number, len(data))
        data += raw
    return out + bytes(-len(out) % alignment) + data


def shown(h, path, *name):
    status, out, err = h.run("--json", "tensor", "show", path, *name)
    return (status, json.loads(out), err) if status == 0 else (status, None, err)


def raw(h, path, name):
    """The bytes of a tensor as convert puts them to standard output."""
    status, out, err = h.run("tensor", "convert", path, "-", "--tensor", name)
    assert status == 0, err
    return out


def npy_files(h):
    """Whatever NumPy writes is read as NumPy holds it, by rows."""
    rng = np.random.default_rng(1)
    for descr in ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", ">f4", ">i8", ">u2", "|b1"):
        for shape in ((), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)):
            n = int(np.prod(shape))
            kind = np.dtype(descr)
            bits = rng.integers(0, 256, n * kind.itemsize, dtype=np.uint8).tobytes()
            a = np.frombuffer(bits, dtype=descr).reshape(shape) if kind.kind != "b" else (rng.integers(0, 2, shape) > 0)
            for order in ("C", "F"):
                path = h.path("a.npy")
                np.save(path, np.asarray(a, order=order))
                status, _, err = h.run("tensor", "convert", path, h.path("b.npy"))
                h.check(f"{descr} {shape} {order}: read", status == 0, err)
                b = np.load(h.path("b.npy"))
                h.check(f"{descr} {shape} {order}: as NumPy has it", b.shape == a.shape and b.flags.c_contiguous and
                        b.tobytes() == a.astype(kind.newbyteorder("<")).tobytes())
                want = np.asarray(a, order="C").astype(np.uint32 if kind.kind == "b" else kind.newbyteorder("<")).tobytes()
                h.check(f"{descr} {shape} {order}: raw", h.run("tensor", "convert", path, "-")[1] == want)
    np.save(h.path("c.npy"), np.zeros(3, np.complex64))
    status, _, err = h.run("tensor", "show", h.path("c.npy"))
    h.check("a type of others is named and not read", status == REFUSED and "PC4212" in err and "<c8" in err, err)


def archives(h):
    rng = np.random.default_rng(2)
    parts = {"w": rng.standard_normal((6, 7)).astype(np.float32), "ö b": np.arange(9), "scalar": np.float64(0.1), "t": np.array([True, False])}
    for save in (np.savez, np.savez_compressed):
        save(h.path("m.npz"), **parts)
        status, d, err = shown(h, h.path("m.npz"))
        h.check("an archive is listed", status == 0 and [t["name"] for t in d["tensors"]] == list(parts) and d["format"] == "npz", err)
        for ending in ("npz", "safetensors"):
            first, second = h.path("1." + ending), h.path("2." + ending)
            for out in (first, second):
                status, _, err = h.run("tensor", "convert", h.path("m.npz"), out)
                h.check(f"to {ending}", status == 0, err)
            h.check(f"{ending}: the same bytes twice", h.read("1." + ending) == h.read("2." + ending))
            for name, a in parts.items():
                want = np.asarray(a).astype(np.uint32) if np.asarray(a).dtype == bool else np.asarray(a)
                h.check(f"{ending}: {name}", raw(h, first, name) == want.tobytes())
        loaded = np.load(h.path("1.npz"))
        h.check("NumPy reads it", all(loaded[k].tobytes() == np.asarray(a).tobytes() for k, a in parts.items()))
    text = h.read("1.safetensors")
    head = json.loads(text[8:8 + struct.unpack("<Q", text[:8])[0]])
    h.check("the header is the definition's", head["w"] == {"dtype": "F32", "shape": [6, 7], "data_offsets": [0, 168]} and
            head["t"]["dtype"] == "BOOL" and (8 + struct.unpack("<Q", text[:8])[0]) % 8 == 0)
    status, _, err = h.run("tensor", "convert", h.path("m.npz"), h.path("one.npy"))
    h.check("one file, four tensors", status == REFUSED and "PC4214" in err and not os.path.exists(h.path("one.npy")), err)
    status, _, err = h.run("tensor", "convert", h.path("m.npz"), h.path("one.npy"), "--tensor", "x")
    h.check("no tensor of that name", status == REFUSED and "PC4215" in err and "no tensor \"x\"" in err, err)


def numbers(h):
    """Roundings that NumPy has too, and statistics."""
    rng = np.random.default_rng(3)
    a = np.concatenate([rng.standard_normal(3000) * 10.0 ** rng.integers(-9, 9, 3000), [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.9, 65520.0, 1e-8]])
    np.save(h.path("d.npy"), a)
    with np.errstate(over="ignore"):
        for to, kind in (("f32", np.float32), ("f16", np.float16)):
            status, _, err = h.run("tensor", "convert", h.path("d.npy"), h.path("e.npy"), "--to", to)
            got, want = np.load(h.path("e.npy")), a.astype(kind)
            h.check(f"f64 to {to}", status == 0 and got.dtype == kind and got[~np.isnan(got)].tobytes() == want[~np.isnan(want)].tobytes() and
                    (np.isnan(got) == np.isnan(want)).all(), err)
    h.run("tensor", "convert", h.path("d.npy"), h.path("e.npy"), "--to", "f16", "--saturate")
    h.check("saturated", np.load(h.path("e.npy"))[3002:3004].tolist() == [65504.0, -65504.0])
    h.run("tensor", "convert", h.path("d.npy"), h.path("e.npy"), "--to", "i8")
    finite = np.where(np.isnan(a), 0, np.clip(np.rint(a), -128, 127)).astype(np.int8)
    h.check("f64 to i8", np.load(h.path("e.npy")).tobytes() == finite.tobytes())
    status, d, err = shown(h, h.path("d.npy"))
    s = d["tensor"]["statistics"]
    good = a[np.isfinite(a)]
    h.check("counts", (s["elements"], s["finite"], s["zeros"], s["nan"], s["infinite"]) == ("3008", "3005", "2", "1", "2"), str(s))
    h.check("ends", s["least"] == good.min() and s["most"] == good.max())
    h.check("a histogram holds all", sum(map(int, s["histogram"])) == 3005)
    for kind, mark in (("histogram", "##"), ("matrix", "!"), ("none", "mean")):
        status, out, err = h.run("tensor", "show", h.path("d.npy"), "--picture", kind)
        h.check(f"--picture {kind}", status == 0 and mark in out.decode() and len(out.decode().splitlines()) == {"histogram": 19, "matrix": 4, "none": 3}[kind], err)
    status, out, err = h.run("tensor", "show", h.path("d.npy"), "--picture", "cube")
    h.check("--picture cube", status == 2 and "matrix, histogram or none" in err)
    status, out, err = h.run("tensor", "convert", h.path("d.npy"), h.path("x.bin"), "--to", "f4")
    h.check("f4 has no NaN", status == REFUSED and "PC4213" in err and "element 3004" in err and not os.path.exists(h.path("x.bin")), err)
    status, out, err = h.run("tensor", "convert", h.path("d.npy"), h.path("x.safetensors"), "--to", "f5")
    h.check("no such type", status == 2 and "did you mean" in err, err)
    status, out, err = h.run("tensor", "convert", h.path("d.npy"), h.path("x.npy"), "--to", "bf16")
    h.check("no bf16 in .npy", status == REFUSED and "PC4214" in err and not os.path.exists(h.path("x.npy")), err)


def packed(h):
    """Bytes alone in and out, through types narrower than a byte and blocks."""
    a = np.array([[-8, -1, 0, 7, 3], [1, 2, -3, 4, -5]], np.int8)
    np.save(h.path("i.npy"), a)
    h.run("tensor", "convert", h.path("i.npy"), h.path("i4"), "--to", "i4")
    want = sum((int(v) & 15) << 4 * i for i, v in enumerate(a.reshape(-1))).to_bytes(5, "little")
    h.check("i4 packed from the low end", h.read("i4") == want)
    h.run("tensor", "convert", h.path("i4"), h.path("back.npy"), "--from", "i4[2,5]", "--to", "i8")
    h.check("and back", np.load(h.path("back.npy")).tobytes() == a.tobytes())
    for what, data, kind, code in (("too short", b"\0" * 4, "i4[2,5]", "PC4211"), ("too long", b"\0" * 6, "i4[2,5]", "PC4211"),
                                   ("bits behind the end", b"\0\x10", "i4[3]", "PC4213"), ("a ternary 2", b"\x08", "ternary[4]", "PC4213"),
                                   ("a bool of 2", b"\2\0\0\0", "bool[1]", "PC4213"), ("half a block", b"\0" * 18, "q4_0[16]", "PC0010"),
                                   ("no shape", b"\0" * 18, "f32[", "PC0010"), ("no type", b"\0", "f33[1]", "PC0010")):
        status, out, err = h.run("tensor", "convert", h.write("raw", data), h.path("never.npy"), "--from", kind)
        h.check(what, status == (2 if code == "PC0010" else REFUSED) and code in err and not os.path.exists(h.path("never.npy")), err)
    rng = np.random.default_rng(4)
    w = rng.standard_normal((4, 256)).astype(np.float32)
    np.save(h.path("w.npy"), w)
    for kind, most in (("q8_0", 0.02), ("q6_k", 0.08), ("q5_k", 0.12), ("q4_k", 0.3), ("q4_0", 0.5), ("q2_k", 1.6)):
        h.run("tensor", "convert", h.path("w.npy"), h.path("q"), "--to", kind)
        h.run("tensor", "convert", h.path("q"), h.path("v.npy"), "--from", f"{kind}[4,256]", "--to", "f32")
        far = float(np.abs(np.load(h.path("v.npy")) - w).max())
        h.check(f"{kind} is near", 0 < far < most, f"{far}")
    status, _, err = h.run("tensor", "convert", h.path("i.npy"), h.path("q"), "--to", "q4_k")
    h.check("rows are whole blocks", status == REFUSED and "PC4212" in err, err)


def others(h):
    f8 = bytes(range(256))
    h.write("s.safetensors", safetensors({"a": ("F8_E4M3", [16, 16], f8), "b": ("BF16", [2], b"\x80\x3f\x00\xc0"), "c": ("C64", [1], bytes(8)),
                                          "d": ("F4", [3], b"\x21\x07"), "e": ("F32", [0, 4], b"")}, {"format": "pt"}))
    status, d, err = shown(h, h.path("s.safetensors"))
    h.check("safetensors", status == 0 and [(t["name"], t["type"], t["bytes"]) for t in d["tensors"]] ==
            [("a", "f8e4m3", "256"), ("b", "bf16", "4"), ("c", None, "0"), ("d", "f4", "2"), ("e", "f32", "0")], err)
    h.run("tensor", "convert", h.path("s.safetensors"), h.path("b.npy"), "--tensor", "b", "--to", "f32")
    h.check("bf16", np.load(h.path("b.npy")).tolist() == [1.0, -2.0])
    h.run("tensor", "convert", h.path("s.safetensors"), h.path("b.npy"), "--tensor", "d", "--to", "f32")
    h.check("f4", np.load(h.path("b.npy")).tolist() == [0.5, 1.0, 6.0])
    block = struct.pack("<e", 0.5) + bytes([0x19] * 16)
    h.write("g.gguf", gguf({"q": (2, (32, 2), block * 2), "f": (0, (3,), struct.pack("<3f", 1, 2, 3)), "iq": (16, (256,), bytes(66))},
                           [("general.alignment", 4, struct.pack("<I", 64)), ("a.list", 9, struct.pack("<IQ", 8, 1) + struct.pack("<Q", 1) + b"x"),
                            ("n", 9, struct.pack("<IQ", 5, 2) + bytes(8)), ("s", 8, struct.pack("<Q", 3) + b"abc")], 64))
    status, d, err = shown(h, h.path("g.gguf"))
    h.check("GGUF", status == 0 and [(t["name"], t["type"], t["shape"]) for t in d["tensors"]] ==
            [("q", "q4_0", ["2", "32"]), ("f", "f32", ["3"]), ("iq", None, ["256"])], err)
    h.run("tensor", "convert", h.path("g.gguf"), h.path("q.npy"), "--tensor", "q", "--to", "f32")
    h.check("q4_0", np.load(h.path("q.npy")).tolist() == [[0.5] * 16 + [-3.5] * 16] * 2)


def lies(h):
    """Heads cut everywhere, and files that say what is not so: status 3 and one code; never a crash, never an output."""
    base = {"a": ("F32", [2, 2], bytes(16)), "b": ("U8", [4], bytes(4))}
    good = safetensors(base)
    np.save(h.path("n.npy"), np.arange(6.0).reshape(2, 3))
    np.savez(h.path("n.npz"), x=np.arange(4))
    g = gguf({"q": (0, (4,), bytes(16))}, [("k", 4, bytes(4))])
    bad = [("cut safetensors", good[:i]) for i in range(0, len(good), 7)] + [("cut npy", h.read("n.npy")[:i]) for i in range(0, 170, 7)]
    bad += [("cut gguf", g[:i]) for i in range(4, len(g), 5)] + [("cut npz", h.read("n.npz")[:i]) for i in range(0, len(h.read("n.npz")), 23)]

    def lie(change):
        head = {k: {"dtype": d, "shape": s, "data_offsets": list(o)} for (k, (d, s, _)), o in zip(base.items(), ((0, 16), (16, 20)))}
        change(head)
        text = json.dumps(head).encode()
        return struct.pack("<Q", len(text)) + text + bytes(20)
    for what, change in (("overlap", lambda d: d["b"].update(data_offsets=[12, 16])), ("hole", lambda d: d.pop("a")),
                         ("outside", lambda d: d["b"].update(data_offsets=[16, 2 ** 40])), ("backwards", lambda d: d["b"].update(data_offsets=[20, 16])),
                         ("negative", lambda d: d["b"].update(shape=[-4])), ("fraction", lambda d: d["b"].update(shape=[4.5])),
                         ("wrong size", lambda d: d["a"].update(shape=[3, 2])), ("overflow", lambda d: d["a"].update(shape=[2 ** 40, 2 ** 40, 4])),
                         ("nine dimensions", lambda d: d["b"].update(shape=[4] + [1] * 8)), ("more keys", lambda d: d["a"].update(extra=1)),
                         ("no text", lambda d: d["a"].update(dtype=7)), ("a name with a zero", lambda d: d.update({"a\0": d.pop("a")})),
                         ("metadata that is no text", lambda d: d.update(__metadata__={"k": 1})), ("metadata that is a list", lambda d: d.update(__metadata__=["k"])),
                         ("a size that no double has", lambda d: d.update(c={"dtype": "U8", "shape": [2 ** 53 + 1, 0], "data_offsets": [20, 20]})), ("not an object", lambda d: d.update(c=[1]))):
        bad.append((what, lie(change)))
    bad.append(("twice", struct.pack("<Q", 120) + (b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}').ljust(120) + bytes(2)))
    # What cJSON reads as a size, and JSON or the definition has not.
    for what, size, more in (("3.0", b"3.0", b""), ("3e0", b"3e0", b""), ("03", b"03", b""), ("-0", b"3,-0", b""), ("metadata twice", b"3", b'"__metadata__":{},"__metadata__":{},')):
        text = b"{" + more + b'"a":{"dtype":"U8","shape":[' + size + b'],"data_offsets":[0,3]}}'
        bad.append(("safetensors: " + what, struct.pack("<Q", len(text)) + text + bytes(3 if size != b"3,-0" else 0)))
    bad.append(("a header of 2^60 bytes", struct.pack("<Q", 2 ** 60) + b"{}"))
    bad.append(("a header that is no JSON", struct.pack("<Q", 8) + b"{\"a\":1,,"))
    for what, head in (("no shape", "{'descr': '<f4', 'fortran_order': False, }"), ("twice", "{'descr': '<f4', 'descr': '<f4', 'shape': (1,), 'fortran_order': False}"),
                       ("objects", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), ("code", "__import__('os').system('true')"),
                       ("huge", "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
                       ("a number for a tuple", "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}"), ("a zero in front", "{'descr': '<f4', 'fortran_order': False, 'shape': (01,)}"),
                       ("product", "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}")):
        bad.append(("npy: " + what, b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + bytes(4)))
    bad.append(("gguf: strings without end", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 8, 2 ** 60) + bytes(64)))
    bad.append(("gguf: deep arrays", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 50))
    bad.append(("gguf: alignment 3", gguf({}, [("general.alignment", 4, struct.pack("<I", 3))])))
    # An archive: one name twice, two members at one place, a member that is no array, data that its checksum does not fit.
    npz = {}
    for what, names in (("two", ("a.npy", "b.npy")), ("twice", ("a.npy", "a.npy")), ("text", ("a.txt",))):
        packed = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as z:
            warnings.simplefilter("ignore")
            for name in names:
                array = io.BytesIO()
                np.save(array, np.arange(3))
                z.writestr(name, array.getvalue())
        npz[what] = packed.getvalue()
    first = npz["two"].index(b"PK\1\2")
    second = npz["two"].index(b"PK\1\2", first + 4)
    overlap = bytearray(npz["two"])
    overlap[second + 42:second + 46] = npz["two"][first + 42:first + 46]
    checksum = bytearray(npz["two"])
    checksum[npz["two"].index(b"\x93NUMPY") + 130] ^= 1
    bad += [("npz: a name twice", npz["twice"]), ("npz: members overlap", bytes(overlap)), ("npz: no array", npz["text"]), ("npz: a checksum", bytes(checksum))]
    bad.append(("no UTF-8", (lambda t: struct.pack("<Q", len(t)) + t + bytes(4))(b'{"\xff":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}')))
    two = gguf({"q": (0, (4,), bytes(16)), "r": (0, (4,), bytes(16))}, [])
    bad += [("gguf: a name twice", two.replace(struct.pack("<Q", 1) + b"r", struct.pack("<Q", 1) + b"q")),
            ("gguf: no UTF-8", two.replace(struct.pack("<Q", 1) + b"r", struct.pack("<Q", 1) + b"\xff"))]
    rng = random.Random(5)
    for k in range(60):
        b = bytearray(rng.choice((good, h.read("n.npy"), g, h.read("n.npz"))))
        for _ in range(3):
            b[rng.randrange(min(len(b), 130))] = rng.randrange(256)
        bad.append((f"random {k}", bytes(b)))
    for what, data in bad:
        path = h.write("bad", data)
        status, out, err = h.run("tensor", "convert", path, h.path("never.npz"))
        fine = status == 0 and what.startswith("random")
        h.check(f"{what} ({len(data)} bytes)", fine or (status == REFUSED and ("PC421" in err) and not os.path.exists(h.path("never.npz"))), f"{status} {err}")
        if os.path.exists(h.path("never.npz")):
            os.unlink(h.path("never.npz"))
    status, _, err = h.run("tensor", "convert", h.path("n.npy"), h.path("never.gguf"))
    h.check("GGUF is read only", status == REFUSED and "PC4214" in err and not os.path.exists(h.path("never.gguf")), f"{status} {err}")
    status, _, err = h.run("tensor", "convert", h.path("n.npy"), h.path("never.safetensors"), "--to", "i4")
    h.check("a format that has no i4", status == REFUSED and "PC4214" in err and "write .safetensors" not in err, f"{status} {err}")
    status, _, err = h.run("tensor", "show", h.path("nowhere"))
    h.check("no such file", status != 0 and "PC0003" in err)


def main():
    h = Harness()
    for part in (npy_files, archives, numbers, packed, others, lies):
        part(h)
    return h.finish()


if __name__ == "__main__":
    sys.exit(main())
