// The front end took `true || x` for a constant expression whatever x is, and refused the shift.
//! dispatch 1,1,1 inputs 1
//! binding 0:0 bytes 16
var<private> p: bool = true;
@group(0) @binding(0) var<storage, read_write> out0: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) li: u32) {
out0[li] = out0[1u] << select(7u, 2147483648u, (true || p));
}
