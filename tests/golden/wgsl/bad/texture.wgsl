// expect: PC2201@2 PC2202@3 PC2201@7 PC2205@8 PC2204@9 PC2203@10 PC2206@11
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@compute @workgroup_size(64)
fn main() {
	_ = s;
	let x = textureLoad(t, vec2(0, 0), 0);
	textureBarrier();
	let d = dpdx(3);
	let b = subgroupAdd(3u);
	discard;
}
