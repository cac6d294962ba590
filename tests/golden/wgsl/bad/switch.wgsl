// expect: PC2419@6 PC2419@7 PC2419@8 PC2419@9 PC2404@10
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	switch i { case 1u: {} case 1u, 2u: {} default: {} }
	switch i { case 1u: {} }
	switch i { default: {} case 1u, default: {} }
	switch true { default: {} }
	switch i { case 1i: {} default: {} }
}
