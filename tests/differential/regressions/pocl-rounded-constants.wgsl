// PoCL 3.1 lost what floor, ceil, trunc and rint make of a NaN that it knows, with the store, and crashed on 3e9.
//! dispatch 1,1,1 inputs 1
//! binding 0:1 bytes 48
//! floats
var<private> p: u32 = 0u;
@group(0) @binding(1) var<storage, read_write> out0: array<f32>;
@compute @workgroup_size(1)
fn main() {
p = 0xfffffff9u;
out0[0] = floor(bitcast<f32>(p));
out0[1] = ceil(bitcast<f32>(p));
out0[2] = trunc(bitcast<f32>(p));
out0[3] = round(bitcast<f32>(p));
p = 0x4f32d05eu;
out0[4] = floor(bitcast<f32>(p));
out0[5] = ceil(bitcast<f32>(p));
out0[6] = trunc(bitcast<f32>(p));
out0[7] = round(bitcast<f32>(p));
p = 0xff800000u;
out0[8] = floor(bitcast<f32>(p));
out0[9] = ceil(bitcast<f32>(p));
out0[10] = trunc(bitcast<f32>(p));
out0[11] = round(bitcast<f32>(p));
}
