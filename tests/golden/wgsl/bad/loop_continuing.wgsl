// expect: PC2208@7 PC2404@34 PC2404@36 PC2418@12 PC2418@17 PC2418@18 PC2418@26 PC2418@27
// rules 1: PC2208@14 PC2208@21 PC2208@31 PC2208@7 PC2208@10 PC2209@36 PC2404@34 PC2404@36
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	var i = 0u;
	loop {
		i++;
	}
	loop {
		if i > 3u { break; }
		continuing { break; }
	}
	loop {
		if i > 3u { break; }
		continuing {
			if i == 2u { return; }
			switch i { case 1u: { continue; } default: {} }
		}
	}
	loop {
		if i == 3u { continue; }
		let step = out[i];
		var more = step;
		continuing {
			i += step;
			i += more;
			break if i > 9u;
		}
	}
	loop {
		let step = out[i];
		if step == 3u { continue; }
		continuing { break if step; }
	}
	while i { i++; }
}
