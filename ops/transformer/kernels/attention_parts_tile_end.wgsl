// Behind the products of attention_parts_tile.wgsl: the largest magnitudes, then the stages.
				workgroupBarrier();
			}
		}
	}
	room[lane] = largest;
	workgroupBarrier();
	for (var k = 0u; k < 4u; k++) {
		let size = room[k * 64u + lane % 64u];
		largest = select(largest, size, size > largest);
	}
	workgroupBarrier();
	for (var stage = 0u; stage < LINES / 16u; stage++) {
