// Of each logit, what orders it among the candidates of its row (0: it is none), and what it weighs, from 0 to 1. In front: sample_weight.wgsl.
struct Sizes {
	@size(4) all: u32,
	@size(12) tokens: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> temperature: array<f32>;
@group(0) @binding(3) var<storage, read> greatest: array<f32>; // logit of a row
@group(0) @binding(4) var<storage, read_write> keys: array<u32>;
@group(0) @binding(5) var<storage, read_write> weights: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < sizes.all) {
		let row = i / sizes.tokens;
		let z = logits[i] / temperature[row];
		let bits = bitcast<u32>(z);
		let none = (bits & 0x7fffffffu) > 0x7f800000u || bits == 0xff800000u;
		let key = select(bits | 0x80000000u, ~bits, bits >> 31u == 1u);
		keys[i] = select(key, 0u, none);
		weights[i] = select(weight(z, greatest[row] / temperature[row]), 0u, none);
	}
}
