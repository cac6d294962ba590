// A factor of bytes as matmul_pack_lines.wgsl packs it, where vectors lie side by side, a multiple of four of them: a workgroup has a block, an invocation four vectors of 16 terms. In front:
// matmul_turn.wgsl, `vectors` of a matrix, the packed layout.
fn row_of(first: u32, k: u32, v: u32) -> u32 {
	var word = 0u;
	if (k < params.k && v < vectors() / 4u) {
		word = a[first + k * (vectors() / 4u) + v];
	}
	return word;
}

fn four(first: u32, k: u32, v: u32) -> vec4<u32> {
	return turned(vec4<u32>(row_of(first, k, v), row_of(first, k + 1u, v), row_of(first, k + 2u, v), row_of(first, k + 3u, v)));
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let block = group.y * 65535u + group.x;
	let panel = block / blocks();
	let panels = panels_of_matrix(vectors());
	let first = panel / panels * (vectors() / 4u * params.k);
	let v = panel % panels * 32u + lane / 4u;
	let k = block % blocks() * 64u + lane % 4u * 16u;
	let w0 = four(first, k, v);
	let w1 = four(first, k + 4u, v);
	let w2 = four(first, k + 8u, v);
	let w3 = four(first, k + 12u, v);
	let to = block * 512u + lane / 4u * 16u + lane % 4u;
	packed[to] = vec4<u32>(w0.x, w1.x, w2.x, w3.x);
	packed[to + 4u] = vec4<u32>(w0.y, w1.y, w2.y, w3.y);
	packed[to + 8u] = vec4<u32>(w0.z, w1.z, w2.z, w3.z);
	packed[to + 12u] = vec4<u32>(w0.w, w1.w, w2.w, w3.w);
}
