"""Reading and writing CAR files of version 1, from https://ipld.io/specs/transport/car/carv1 and the specifications of
dag-cbor, CIDs and unsigned varints. Standard library only; shares nothing with pipectl."""
import base64
import hashlib


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            if byte == 0 and shift > 7:
                raise ValueError("varint is not minimal")
            return value, at


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def cbor(data, at):
    """One item of dag-cbor: a value and where it ends. A link is ("cid", bytes)."""
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    if info < 24:
        n = info
    else:
        size = {24: 1, 25: 2, 26: 4, 27: 8}[info]
        n = int.from_bytes(data[at:at + size], "big")
        at += size
    if major == 0:
        return n, at
    if major in (2, 3):
        raw = data[at:at + n]
        if len(raw) != n:
            raise ValueError("cut")
        return (raw if major == 2 else raw.decode()), at + n
    if major == 4:
        items = []
        for _ in range(n):
            item, at = cbor(data, at)
            items.append(item)
        return items, at
    if major == 5:
        found, keys = {}, []
        for _ in range(n):
            key, at = cbor(data, at)
            found[key], at = cbor(data, at)
            keys.append(key)
        if keys != sorted(keys, key=lambda k: (len(k), k)):
            raise ValueError("keys are not in order")
        return found, at
    if major == 6 and n == 42:
        raw, at = cbor(data, at)
        if raw[:1] != b"\0":
            raise ValueError("a link without its prefix")
        return ("cid", raw[1:]), at
    raise ValueError(f"major type {major}")


def split_cid(data, at):
    """The bytes of a CIDv1 and where it ends."""
    start = at
    version, at = varint(data, at)
    if version != 1:
        raise ValueError("no CIDv1")
    for _ in range(2):  # codec, hash
        _, at = varint(data, at)
    n, at = varint(data, at)
    return data[start:at + n], at + n


def text(cid):
    return "b" + base64.b32encode(cid).decode().lower().rstrip("=")


def cid_of(data):
    return b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()


def read(data):
    """Roots and blocks [(cid, data)], every block hashed."""
    n, at = varint(data, 0)
    header, end = cbor(data, at)
    if end != at + n or header["version"] != 1 or set(header) != {"roots", "version"}:
        raise ValueError(f"header {header}")
    at, blocks = end, []
    while at < len(data):
        n, at = varint(data, at)
        end = at + n
        cid, at = split_cid(data, at)
        if end > len(data) or cid != cid_of(data[at:end]):
            raise ValueError(f"block {text(cid)}")
        blocks.append((text(cid), data[at:end]))
        at = end
    return [text(c) for kind, c in header["roots"] if kind == "cid"], blocks


def write(roots, blocks):
    """Blobs as a CAR file, in the order given."""
    n = len(roots)
    head = bytes([0x80 + n]) if n < 24 else bytes([0x98, n])
    header = b"\xa2\x65roots" + head + b"".join(b"\xd8\x2a\x58\x25\0" + cid_of(r) for r in roots) + b"\x67version\x01"
    return put_varint(len(header)) + header + b"".join(put_varint(36 + len(b)) + cid_of(b) + b for b in blocks)
