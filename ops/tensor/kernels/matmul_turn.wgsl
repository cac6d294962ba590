// Four words of four bytes, turned: word i of the result is byte i of each.
fn turned(r: vec4<u32>) -> vec4<u32> {
	let even = 0x00ff00ffu;
	let e0 = (r.x & even) | ((r.y & even) << 8u);
	let e1 = (r.z & even) | ((r.w & even) << 8u);
	let o0 = ((r.x >> 8u) & even) | (r.y & ~even);
	let o1 = ((r.z >> 8u) & even) | (r.w & ~even);
	return vec4<u32>((e0 & 0xffffu) | (e1 << 16u), (o0 & 0xffffu) | (o1 << 16u), (e0 >> 16u) | (e1 & 0xffff0000u), (o0 >> 16u) | (o1 & 0xffff0000u));
}
