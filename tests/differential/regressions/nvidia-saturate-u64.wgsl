// NVIDIA's Vulkan driver (580.159): with one 64-bit division in the kernel, sums and differences of u64 that are cut at
// their border came out with one half of other bits; without it they are right. Found by tests/integration/epoch/fixed.py.
//! dispatch 1,1,1 inputs 1
//! binding 0:0 bytes 2048
@group(0) @binding(0) var<storage, read_write> out0: array<vec4<u64>>;
fn number(i: u32) -> u64 {
return (0x9e3779b97f4a7c15lu * u64(i + 1u)) >> (i * 9u % 64u);
}
@compute @workgroup_size(64, 1, 1)
fn main(@builtin(local_invocation_index) li: u32) {
let x = number(li) << (li % 33u);
let y = number(li ^ 21u);
let sum = x + y;
out0[li] = vec4<u64>(select(x - y, 0lu, x < y), select(sum, 0xfffffffffffffffflu, sum < x), x / (y | 1lu), y % (x | 1lu));
}
