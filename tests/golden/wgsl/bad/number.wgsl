// expect: PC2103@6 PC2103@7 PC2103@8 PC2103@9 PC2103@10 PC2103@11 PC2103@12 PC2103@13
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	out[i] = 012u;
	out[i] = 0xu;
	out[i] = 4294967296u;
	let a = 2147483648i;
	let b = 9223372036854775808;
	let c = 18446744073709551616lu;
	let d = 12ul;
	let e = 1x;
}
