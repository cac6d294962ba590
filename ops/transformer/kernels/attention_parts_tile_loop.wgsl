// The next keys, in attention_parts_tile.wgsl.
	for (var i = 0u; i < steps; i++) {
		let number = split * params.v[5].x + i;
		if (i >= params.v[5].x || number * TILE >= all.y) {
			break;
		}
		if ((number + 1u) * TILE > all.x) {
			let tile = (shared_by * params.v[3].z + block) * params.v[4].z + number;
			if (lane < TILE) {
				let key = number * TILE + lane;
				places[lane] = KV_NOWHERE;
				if (key >= all.x && key < all.y) {
					places[lane] = kv_place(b, key);
				}
			}
			workgroupBarrier();
			for (var slice = 0u; slice < TILE / TILE_TERMS; slice++) {
				for (var n = 0u; n < TILE_TERMS / 4u; n++) {
					let own = lane % TILE_TERMS;
					let row = n * (256u / TILE_TERMS) + lane / TILE_TERMS;
					let key = number * TILE + slice * TILE_TERMS + own;
					var weight = 0u;
					if (key >= sights[row].x && key < sights[row].y) {
						weight = scores[(tile * LINES + row) * TILE + slice * TILE_TERMS + own];
					}
					put_left(row, own, weight);
					let place = places[slice * TILE_TERMS + n * 4u + lane / 64u];
					var value = 0u;
					if (place != KV_NOWHERE) {
						value = v_bits((place * params.v[1].y + j) * params.v[1].z + min(column, params.v[1].z - 1u));
					}
					put_right(n * 4u + lane / 64u, lane % 64u, value);
					let size = abs(f64(bitcast<f32>(value)));
					largest = select(largest, size, size > largest);
				}
				workgroupBarrier();
