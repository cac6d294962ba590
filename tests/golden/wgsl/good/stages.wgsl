// rules 1: PC2201@10 PC2201@12 PC2201@16 PC2202@11 PC2204@15 PC2206@15 PC2214@20 PC2214@21 PC2214@21 PC2214@6 PC2214@6 PC2215@20 PC2215@5 PC2400@21 PC2425@21
// Drawing beside computing: what no compute entry point names, and what only drawing has, is left out.
enable f16;
struct Varying {
	@builtin(position) at: vec4<f32>,
	@location(0) @interpolate(flat) which: u32
}
struct Holder { v: Varying }
@group(0) @binding(0) var<storage, read_write> data: array<vec4<f32>>;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var how: sampler;
@group(0) @binding(0) var target_image: texture_storage_2d<rgba8unorm, write>;
const far = 1.0;
fn shade(at: vec4<f32>) -> vec4<f32> {
	if dpdx(at.x) > far { discard; }
	return textureSample(image, how, at.xy);
}
fn through(h: Holder) -> vec4<f32> { return shade(h.v.at); }
fn half_of(x: vec4<f32>) -> vec4<f32> { return x * 0.5; }
@vertex fn vs(@builtin(vertex_index) i: u32) -> Varying { return Varying(half_of(data[i]), i); }
@fragment fn fs(v: Varying) -> @location(0) vec4<f32> { return through(Holder(v)) * undeclared_here; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	data[id.x] = half_of(data[id.x]) * far;
}
