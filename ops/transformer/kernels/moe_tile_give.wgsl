// Behind the stages of moe_tile.wgsl.
		workgroupBarrier();
		for (var i = 0u; i < 4u; i++) {
			let at = i * 256u + lane;
			let both = norms[stage * 16u + at / 64u] * norms[TILE_ROWS + at % 64u];
			let bits = within(staged(at), f64(params.depth) * (root_above(both) * 0x1.00001p0lf) * 0x1p-53lf, both);
			temp[whole * (TILE_ROWS * 64u) + stage * 1024u + at] = select(bits, 0u, both == 0.0lf);
		}
		workgroupBarrier();
	}
	}
}
