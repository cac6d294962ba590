// rules 1: PC2208@10 PC2208@18 PC2208@30 PC2208@31 PC2208@38 PC2208@43 PC2208@6 PC2209@42
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	var i = 0u;
	loop {
		i++;
		if i > gid.x { break; }
	}
	loop {
		if i > 3u { break; }
		continuing {
			for (var k = 0u; k < 3u; k++) { if k == i { break; } }
			switch i { case 1u: { break; } default: {} }
			i++;
		}
	}
	loop {
		let step = out[i];
		let at = &out[gid.x + step];
		if i == 3u { continue; }
		let unused = 4u;
		var later = step;
		continuing {
			i += step + *at;
			let last = i > 9u;
			break if last;
		}
	}
	loop {
		loop {
			if gid.x == i { continue; }
			break;
		}
		let after = out[0];
		continuing {
			i = after;
			loop { continuing { break if i > 3u; } }
			break if i > 4u;
		}
	}
	while i < 20u && out[i & 7u] != 3u { i++; }
	loop { if gid.x == 3u { return; } }
}
