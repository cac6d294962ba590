// Of matmul_bytes_b.wgsl: word i of four columns, one by one.
fn four(column: u32, lane: u32, i: u32) -> vec4<u32> {
	let c = column + lane * 4u;
	return vec4<u32>(word_at(vec3<u32>(0u, c, i)), word_at(vec3<u32>(0u, c + 1u, i)), word_at(vec3<u32>(0u, c + 2u, i)), word_at(vec3<u32>(0u, c + 3u, i)));
}
