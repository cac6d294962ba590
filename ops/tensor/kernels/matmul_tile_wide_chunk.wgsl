// Row $ at the end of a chunk, in matmul_tile_wide.wgsl.
			u$ = select(u$ + s$, s$, is_first);
			v$ = select(v$ + t$, t$, is_first);
			s$ = V();
			t$ = V();
