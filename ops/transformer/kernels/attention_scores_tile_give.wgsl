// Behind the stages of attention_scores_tile.wgsl.
		workgroupBarrier();
		for (var i = 0u; i < 4u; i++) {
			finish(group, stage * 1024u + i * 256u + lane, b, first, staged(i * 256u + lane));
		}
		workgroupBarrier();
	}
	}
}
