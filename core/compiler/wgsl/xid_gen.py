#!/usr/bin/env python3
"""Writes xid.def, the ranges of Unicode's XID_Start and XID_Continue above U+007F, as known to this Python.
Usage: core/compiler/wgsl/xid_gen.py > core/compiler/wgsl/xid.def"""
import unicodedata


def ranges(test):
    out, start = [], None
    for cp in range(0x80, 0x110001):
        inside = cp < 0x110000 and not 0xD800 <= cp < 0xE000 and test(chr(cp))
        if inside and start is None:
            start = cp
        elif not inside and start is not None:
            out.append((start, cp - 1))
            start = None
    return out


def show(macro, rs):
    print(f"#ifdef {macro}")
    line = ""
    for a, b in rs:
        item = f"{macro}(0x{a:x}, 0x{b:x})"
        if len(line) + 1 + len(item) > 100:
            print(line)
            line = item
        else:
            line = (line + " " + item) if line else item
    print(line)
    print("#endif")


print(f"/* Made by xid_gen.py from Unicode {unicodedata.unidata_version}; do not edit. */")
show("XID_START", ranges(lambda s: s.isidentifier()))
show("XID_CONTINUE", ranges(lambda s: ("a" + s).isidentifier()))
