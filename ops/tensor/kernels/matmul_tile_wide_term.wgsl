// Term $ of 16, in matmul_tile_wide.wgsl.
		{
			let p = left[$u * 32u + row];
			let q = left[$u * 32u + 16u + row];
			let f = right[$u * 32u + column];
			let g = right[$u * 32u + 16u + column];
			s0 = step(V(p.x), f, s0);
			t0 = step(V(p.x), g, t0);
			s1 = step(V(p.y), f, s1);
			t1 = step(V(p.y), g, t1);
			s2 = step(V(p.z), f, s2);
			t2 = step(V(p.z), g, t2);
			s3 = step(V(p.w), f, s3);
			t3 = step(V(p.w), g, t3);
			s4 = step(V(q.x), f, s4);
			t4 = step(V(q.x), g, t4);
			s5 = step(V(q.y), f, s5);
			t5 = step(V(q.y), g, t5);
			s6 = step(V(q.z), f, s6);
			t6 = step(V(q.z), g, t6);
			s7 = step(V(q.w), f, s7);
			t7 = step(V(q.w), g, t7);
		}
