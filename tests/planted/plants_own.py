"""What is planted of operations of a device's own: products of packed bytes, subgroup operations, matrix tiles. The probe of a session must
find them wrong, and what is wrong past it the check of a first build. A device on which the host never asks for them (its
subgroups have another size, or are wrong themselves) is not harmed: its own record must say so, and the program be the one
that the device gets without the fault. planted.py runs these with those of plants.py."""
import glob
import json
import os
import random
import re
import struct
import time

from harness import patient
from plants import MOCK, WRAP, caught, h, match, plant, plant_each


# Records that come with the home are of other devices; what is looked at here is what was asked of this one.
for record in glob.glob(h.path("home/profiles/*.optional.cfg")):
    os.unlink(record)


def asked_and_wrong(of):
    """The first verdict of the records in this home that begins so and is not right, as the record has it."""
    texts = [h.read(f).decode() for f in sorted(glob.glob(h.path("home/profiles/*.optional.cfg")))]
    return next((m for m in (match(rf'{of}\w* = "wrong"', t) for t in texts) if m), None)


def why_unasked(device, lanes):
    """The record of the device's own operations, once programs of every size of subgroups were lowered for it: the largest size that
    was asked is below that of the plant's program."""
    sizes = [size for size in (4, 8, 16, 32) if size <= lanes]
    for size in sizes:
        text = EXCHANGE.replace(b"subgroup = 8", b"subgroup = %d" % size)
        h.run("shader", "run", h.write("sized.wgsl", text), "--emit", "ir", "--backend", device)
    texts = "".join(h.read(f).decode() for f in glob.glob(h.path("home/profiles/*.optional.cfg")))
    asked = [(int(size), said) for said, size in re.findall(r'(SUBGROUP_(\d+)_\w+ = "(?:exact|wrong)")', texts)]
    if not asked or max(asked)[0] >= lanes:
        return None
    return f"{max(asked)[1]}, and nothing of {lanes} lanes, which the program has, was asked"


def unharmed(fault, text, where, same, given, plainly, why):
    """Right bytes, by the program that the device gets without the fault, and a record that says why."""
    caught(f"mock {fault}: {text}", where, "harmless: the bytes are right", same and given == plainly and why, why,
           f"right bytes: {same}; the program without the fault: {given == plainly}")


DOT4 = b"""@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(1) var<storage, read_write> r : array<u32>;
@group(0) @binding(2) var<storage, read_write> s : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let i = id.x;
  r[i] = bitcast<u32>(dot4I8Packed(a[i], a[i ^ 1u])) ^ dot4U8Packed(a[i ^ 3u], a[i]);
  s[i] = f32(r[i]) * 0.5;
}
"""


@plant
def packed_products():
    """A device's own products of packed bytes: the session's probe finds them wrong, and they are made of integers; a device that
    is wrong past the probe is found by the first build of a strict kernel."""
    shader, text = h.write("packed.wgsl", DOT4), "products of packed bytes lose a bit"
    words = h.write("packed", struct.pack("<64I", *[random.getrandbits(32) for _ in range(64)]))
    def run(device):
        return h.run("shader", "run", shader, "--bind", f"a={words}", "--bind", "r=zero:256", "--bind", "s=zero:256", "--no-memo",
                     "--read", f"r={h.path('products')}", "--backend", device)
    status, _, err = run("cpu")
    h.check("the reference runs the products", status == 0, err)
    right = h.read("products")
    os.unlink(h.path("products"))
    status, _, err = run(f"{MOCK}+dot4")
    same = status == 0 and h.read("products") == right
    given = h.run("shader", "run", shader, "--emit", "ir", "--backend", f"{MOCK}+dot4")[1].decode("utf-8", "replace")
    caught(f"mock dot4: {text}", "packed.wgsl", "probe of packed products: made of integers", same and "DOT4" not in given and
           "EXTRACT_BITS" in given, match(r"EXTRACT_BITS[^\n]*", given), f"{status}: {err}")
    status, _, err = run(f"{MOCK}+late-dot4")
    caught(f"mock late-dot4: {text}", "packed.wgsl", "first build: PC5216", status == 6 and "PC5216" in err,
           match(r'kernel \S*packed.wgsl gave 0x[0-9a-f]+ at byte \d+ of "[rs]", the reference 0x[0-9a-f]+', err), f"{status}: {err}")


EXCHANGE = b"""//# subgroup = 8
enable subgroups;
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(1) var<storage, read_write> r : array<u32>;
@group(0) @binding(2) var<storage, read_write> s : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let i = id.x;
  let b = subgroupBallot((a[i] & 1u) == 1u);
  r[i] = subgroupBroadcast(a[i], 1u) ^ subgroupShuffle(a[i], 2u) ^ subgroupAdd(a[i]) ^ b.x;
  s[i] = f32(r[i]) * 0.5;
}
"""


@plant_each("subgroups", ("lanes", "ballot", "single"))
def subgroups(fault):
    """A device's own subgroup operations, as the fault has them: the session's probe finds that kind wrong, and only that, and it goes
    through workgroup memory, a reduction by shuffles, which are right; what is wrong past the probe is found by the first build of a strict kernel."""
    text, op = {"lanes": ("lanes are counted from the other end", "SUBGROUP_BROADCAST"),
                "ballot": ("bits of a ballot stand one place too far up", "SUBGROUP_BALLOT"),
                "single": ("subgroups are claimed, and every lane is one", "SUBGROUP_ADD")}[fault]
    shader = h.write("lanes.wgsl", EXCHANGE)
    words = h.write("words", struct.pack("<64I", *[random.getrandbits(32) for _ in range(64)]))
    def run(device):
        return h.run("shader", "run", shader, "--bind", f"a={words}", "--bind", "r=zero:256", "--bind", "s=zero:256", "--no-memo",
                     "--read", f"r={h.path('exchanged')}", "--backend", device)
    def kept(device):
        given = h.run("shader", "run", shader, "--emit", "ir", "--backend", device)[1].decode("utf-8", "replace")
        return given, set(re.findall(r"SUBGROUP_[A-Z]+", given))
    status, _, err = run("cpu")
    h.check("the reference runs the subgroups", status == 0, err)
    right = h.read("exchanged")
    os.unlink(h.path("exchanged"))
    if WRAP == "cpu":
        h.check("an honest device keeps them", len(kept(MOCK)[1]) == 4, kept(MOCK)[1])
    status, _, err = run(f"{MOCK}+{fault}")
    same = status == 0 and h.read("exchanged") == right
    given, left = kept(f"{MOCK}+{fault}")
    way = "by shuffles" if "SUBGROUP_SHUFFLE_XOR" in given else "through workgroup memory"
    wrong = asked_and_wrong("SUBGROUP_8_")
    if wrong or WRAP == "cpu":
        caught(f"mock {fault}: {text}", "lanes.wgsl", f"probe of subgroups: {way}",
               same and op not in left and (WRAP != "cpu" or left), wrong, f"{status}: {err} {left}")
    else:
        unharmed(fault, text, "lanes.wgsl", same, given, kept(WRAP)[0], why_unasked(f"{MOCK}+{fault}", 8))
    if WRAP != "cpu":  # which has none to be wrong with
        return
    status, _, err = run(f"{MOCK}+late-{fault}")
    caught(f"mock late-{fault}: {text}", "lanes.wgsl", "first build: PC5216", status == 6 and "PC5216" in err,
           match(r'kernel \S*lanes.wgsl gave 0x[0-9a-f]+ at byte \d+ of "[rs]", the reference 0x[0-9a-f]+', err), f"{status}: {err}")


if WRAP == "cpu":  # the process is the host's, and nothing of a device is in it
    @plant_each("own", ("brittle", "stuck"))
    def own(fault):
        """A device that dies or hangs when its own subgroup operations are asked for: they go through workgroup memory, the job
        ends well, and the next process does not ask again."""
        text = {"brittle": "the compiler dies on subgroup operations", "stuck": "a submit with subgroup operations never ends"}[fault]
        shader = h.write("lanes.wgsl", EXCHANGE)
        words = h.write("words", struct.pack("<64I", *[random.getrandbits(32) for _ in range(64)]))
        def run(device):
            start = time.monotonic()
            status, _, err = h.run("shader", "run", shader, "--bind", f"a={words}", "--bind", "r=zero:256", "--bind", "s=zero:256",
                                   "--no-memo", "--read", f"r={h.path('exchanged')}", "--backend", device)
            return status == 0 and h.read("exchanged"), time.monotonic() - start, err
        right = run("cpu")[0]
        given, _, err = run(f"{MOCK}+{fault}")
        kept = next((t for t in (h.read(f).decode() for f in glob.glob(h.path("home/profiles/*.optional.cfg"))) if '"lost"' in t), "")
        again, seconds, _ = run(f"{MOCK}+{fault}")
        caught(f"mock {fault}: {text}", "lanes.wgsl", "probe of subgroups: lost, through workgroup memory",
               right and given == right and again == right and seconds < patient(15) and kept, match(r"SUBGROUP_\w+ = .lost.", kept), err)


TILES = b"""//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a : array<i32>;
@group(0) @binding(1) var<storage, read_write> r : array<i32>;
@group(0) @binding(2) var<storage, read_write> s : array<f32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) l : u32) {
  let x = subgroupMatrixLoad<subgroup_matrix_left<i8, 16, 16>, row_major>(&a, 0u, 16u);
  let y = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 16>, col_major>(&a, 0u, 16u);
  var t = subgroupMatrixMultiply<i32>(x, y);
  t = subgroupMatrixMultiplyAccumulate(x, y, t);
  subgroupMatrixStore<row_major>(&r, 0u, t, 16u);
  s[l] = f32(a[l]) * 0.5;
}
"""


FLOAT_TILES = b"""//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f64>;
@group(0) @binding(2) var<storage, read_write> s : array<f32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) l : u32) {
  let x = subgroupMatrixLoad<subgroup_matrix_left<f32, 16, 8>, col_major>(&a, 0u, 8u);
  let y = subgroupMatrixLoad<subgroup_matrix_right<f32, 8, 16>, row_major>(&a, 0u, 8u);
  subgroupMatrixStore<row_major>(&r, 0u, subgroupMatrixMultiply<f64>(x, y), 8u);
  s[l] = a[l] * 0.5;
}
"""


def judge_tiles(fault, text, where, right, given, plainly, detail):
    """The probe found the products wrong; or it never asked for any: subgroups of 32 lanes are not there, or were found wrong."""
    wrong = asked_and_wrong("TILE_")
    if wrong or WRAP == "cpu":
        caught(f"mock {fault}: {text}", where, "probe of matrix tiles: ordinary code", right, wrong, detail)
        return
    subgroups = asked_and_wrong("SUBGROUP_32_")
    why = f"{subgroups}: no tile is asked for without them" if subgroups else why_unasked(f"{MOCK}+{fault}", 32)
    unharmed(fault, text, where, right, given, plainly(), why)


@plant
def float_tiles():
    """Sums of the same products in another order: the session's probe finds them wrong, and they become ordinary code; past the probe
    the first build finds them."""
    shader = h.write("float_tiles.wgsl", FLOAT_TILES)
    words = h.write("words", struct.pack("<128f", *[random.uniform(-1, 1) * 2 ** random.randint(-6, 6) for _ in range(128)]))
    text = "sums from the other end"
    def run(device):
        return h.run("shader", "run", shader, "--bind", f"a={words}", "--bind", "r=zero:512", "--bind", "s=zero:128", "--no-memo",
                     "--read", f"r={h.path('product')}", "--backend", device)
    status, _, err = run("cpu")
    h.check("the reference runs the tiles", status == 0, err)
    right = h.read("product")
    os.unlink(h.path("product"))
    def lowered(device):
        return h.run("shader", "run", shader, "--emit", "ir", "--backend", device)[1].decode("utf-8", "replace")
    if WRAP == "cpu":
        h.check("an honest device keeps them", "TILE_MULTIPLY_ADD" in lowered(MOCK), lowered(MOCK))
    status, _, err = run(f"{MOCK}+reversed")
    same = status == 0 and h.read("product") == right
    given = lowered(f"{MOCK}+reversed")
    judge_tiles("reversed", text, "float_tiles.wgsl", same and "TILE_" not in given, given, lambda: lowered(WRAP), f"{status}: {err}")
    if WRAP != "cpu":  # which has none to be wrong with
        return
    status, _, err = run(f"{MOCK}+late-reversed")
    caught(f"mock late-reversed: {text}", "float_tiles.wgsl", "first build: PC5216", status == 6 and "PC5216" in err,
           match(r'kernel \S*float_tiles.wgsl gave 0x[0-9a-f]+ at byte \d+ of "r", the reference 0x[0-9a-f]+', err), f"{status}: {err}")


@plant_each("tiles", ("turned", "unsummed"))
def tiles(fault):
    """A device's own matrix tiles, as the fault has them: the session's probe finds their products wrong, and they become ordinary
    code; what is wrong past the probe is found by the first build of a strict kernel."""
    text = {"turned": "left factors are transposed", "unsummed": "products forget what they are added to"}[fault]
    shader = h.write("tiles.wgsl", TILES)
    words = h.write("words", struct.pack("<64I", *[random.getrandbits(32) for _ in range(64)]))
    def run(device):
        return h.run("shader", "run", shader, "--bind", f"a={words}", "--bind", "r=zero:1024", "--bind", "s=zero:128", "--no-memo",
                     "--read", f"r={h.path('product')}", "--backend", device)
    def kept(device):
        given = h.run("shader", "run", shader, "--emit", "ir", "--backend", device)[1].decode("utf-8", "replace")
        return given, set(re.findall(r"TILE_[A-Z_]+", given))
    status, _, err = run("cpu")
    h.check("the reference runs the tiles", status == 0, err)
    right = h.read("product")
    os.unlink(h.path("product"))
    if WRAP == "cpu":
        h.check("an honest device keeps them", "TILE_MULTIPLY_ADD" in kept(MOCK)[1], kept(MOCK)[1])
    status, _, err = run(f"{MOCK}+{fault}")
    same = status == 0 and h.read("product") == right
    given, ops = kept(f"{MOCK}+{fault}")
    judge_tiles(fault, text, "tiles.wgsl", same and not ops, given, lambda: kept(WRAP)[0], f"{status}: {err} {ops}")
    if WRAP != "cpu":  # which has none to be wrong with
        return
    status, _, err = run(f"{MOCK}+late-{fault}")
    caught(f"mock late-{fault}: {text}", "tiles.wgsl", "first build: PC5216", status == 6 and "PC5216" in err,
           match(r'kernel \S*tiles.wgsl gave 0x[0-9a-f]+ at byte \d+ of "[rs]", the reference 0x[0-9a-f]+', err), f"{status}: {err}")
