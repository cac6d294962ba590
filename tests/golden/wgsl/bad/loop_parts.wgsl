// expect: PC2418@8 PC2418@9 PC2418@12 PC2418@15 PC2208@17 PC2418@18 PC2418@21 PC2418@23
// rules 1: PC2208@17
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	for (var i = 0u; i < 4u; i++) {
		out[gid.x] += 1u;
		continuing { out[gid.x] += 2u; }
		break if i == 2u;
	}
	switch gid.x {
		default: { break if gid.x == 1u; }
	}
	if gid.x > 2u {
		continuing { }
	}
	loop {
		break if gid.x == 2u;
		continuing {
			out[gid.x] += 1u;
			break if gid.x == 3u;
			out[gid.x] += 1u;
			if gid.x == 3u { break if gid.x == 4u; }
		}
	}
}
