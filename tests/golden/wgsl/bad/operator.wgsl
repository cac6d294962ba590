// expect: PC2405@6 PC2405@7 PC2405@8 PC2405@9 PC2405@10 PC2405@11 PC2405@12 PC2405@13 PC2405@14 PC2405@15 PC2405@16 PC2405@17 PC2405@18 PC2405@19 PC2405@21 PC2405@22
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i + 1i;
	let b = true + false;
	let c = -i;
	let d = !i;
	let e = ~true;
	let f = i << 1i;
	let g = vec2(1u) + vec3(1u);
	let h = i && true;
	let j = true < false;
	let k = vec2(1u) & 1u;
	let l = true ^ false;
	let m = i[0];
	let n = vec2(1u) << 1u;
	let o = i == 1i;
	var p = true;
	p++;
	let q = array(1, 2) == array(1, 2);
}
