// Behind the stages of attention_parts_tile.wgsl.
		workgroupBarrier();
		for (var i = 0u; i < 4u; i++) {
			parts[whole * (LINES * 64u) + stage * 1024u + i * 256u + lane] = vec2<f64>(staged(i * 256u + lane), largest);
		}
		workgroupBarrier();
	}
}
