// Elementwise: what an exponential costs beside copy.wgsl, which moves the same bytes.
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	out[id.x] = exp(a[id.x]);
}
