"""Subgroups and products of packed bytes through `shader run`: the same bytes on every device that there is, by the device's own operations
where its probe admits them (`--emit` shows which), by workgroup memory and integers elsewhere. With --plant one device's ballots are wrong where no
probe sees it, and that must fail."""
import random
import re
import struct
import sys

from harness import Harness

LANES = """//# subgroup = %u
enable subgroups;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(%s)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = group.x * %uu + l;
  let x = a[i];
  let b = subgroupBallot((x & 1u) == 1u);
  var t = subgroupAdd(x) + subgroupInclusiveAdd(x) * 3u + (b.x ^ b.y ^ b.z ^ b.w) * 5u;
  t ^= subgroupShuffle(x, x %% 150u) + subgroupBroadcast(vec2(x, ~x), 2u).y * 7u;
  if subgroupElect() { t += subgroup_free(x); }
  r[i] = t ^ u32(subgroupMin(i32(x)));
}
fn subgroup_free(x: u32) -> u32 { return x * 11u; }
"""
DOT = """@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let x = a[id.x];
  r[id.x] = u32(dot4I8Packed(x, a[id.x ^ 1u])) ^ dot4U8Packed(x, 0x80ff7f01u);
}
"""
# sizes, workgroups, invocations of one
SHAPES = ((4, "64, 1, 1", 64), (8, "4, 4, 4", 64), (8, "13, 3, 1", 39), (32, "32, 2, 1", 64), (128, "150, 1, 1", 150))


def run(h, shader, device, n):
    out = h.path("out")
    status, _, err = h.run("shader", "run", shader, "--bind", f"a={h.path('a')}", "--bind", f"r=zero:{4 * n}", "--read", f"r={out}",
                           "--dispatch", "3", "--no-memo", "--backend", device)
    return (h.read("out") if status == 0 else None), err


def emitted(h, shader, device, language):
    status, out, _ = h.run("shader", "run", shader, "--emit", language, "--backend", device)
    return out.decode("utf-8", "replace") if status == 0 else ""


def main():
    h = Harness()
    random.seed(5)
    h.write("a", struct.pack("<450I", *[random.getrandbits(32) for _ in range(450)]))
    devices = [d for d in ("vulkan:llvmpipe", "vulkan:SwiftShader", "opencl:portable", "mock:wrap=cpu")
               if emitted(h, h.write("dot.wgsl", DOT.encode()), d, "ir")]
    h.check("there are devices", "mock:wrap=cpu" in devices and len(devices) > 1, devices)
    if "--plant" in sys.argv:
        devices = ["mock:wrap=cpu+late-ballot"]
    own = {"vulkan:llvmpipe": 8, "vulkan:SwiftShader": 4, "opencl:portable": 0}
    for size, local, n in SHAPES:
        shader = h.write(f"lanes-{size}-{n}.wgsl", (LANES % (size, local, n)).encode())
        right, err = run(h, shader, "cpu", 3 * n)
        h.check(f"reference, {size} of {local}", right is not None and right != bytes(12 * n), err)
        for device in devices:
            got, err = run(h, shader, device, 3 * n)
            h.check(f"{device}, {size} of {local}", got == right, err)
            lanes = own.get(device, size)  # the mock of the reference has every size
            native = lanes and lanes % size == 0 and n % lanes == 0
            kept = set(re.findall(r"SUBGROUP_[A-Z_]+", emitted(h, shader, device, "ir")))
            h.check(f"{device}, {size} of {local}: {'its own' if native else 'through workgroup memory'}",
                    len(kept) == (7 if native else 0), kept)
            if native and device.startswith("vulkan"):
                text = emitted(h, shader, device, "spirv")
                h.check(f"{device}, {size} of {local}: SPIR-V", "OpGroupNonUniformBallot" in text and f"LocalSize {n} 1 1" in text, text)
    shader = h.path("dot.wgsl")
    right, err = run(h, shader, "cpu", 192)
    h.check("reference, packed bytes", right is not None and right != bytes(768), err)
    for device in devices:
        got, err = run(h, shader, device, 192)
        h.check(f"{device}, packed bytes", got == right, err)
    for device in devices:
        if device.startswith("vulkan:llvm"):  # SwiftShader is a device of Vulkan 1.3 as well, lavapipe is always there
            text = emitted(h, shader, device, "spirv")
            h.check(f"{device}: instructions for packed bytes", "OpSDot" in text and "OpUDot" in text, text)
    h.finish()


main()
