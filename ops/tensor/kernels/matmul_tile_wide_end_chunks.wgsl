// The end of an invocation's row $ of chunks, in matmul_tile_wide.wgsl.
	temp[tile * 16384u + ($u * 8u + 0u) * 256u + lane] = bitcast<u32>(u$.x);
	temp[tile * 16384u + ($u * 8u + 1u) * 256u + lane] = bitcast<u32>(u$.y);
	temp[tile * 16384u + ($u * 8u + 2u) * 256u + lane] = bitcast<u32>(u$.z);
	temp[tile * 16384u + ($u * 8u + 3u) * 256u + lane] = bitcast<u32>(u$.w);
	temp[tile * 16384u + ($u * 8u + 4u) * 256u + lane] = bitcast<u32>(v$.x);
	temp[tile * 16384u + ($u * 8u + 5u) * 256u + lane] = bitcast<u32>(v$.y);
	temp[tile * 16384u + ($u * 8u + 6u) * 256u + lane] = bitcast<u32>(v$.z);
	temp[tile * 16384u + ($u * 8u + 7u) * 256u + lane] = bitcast<u32>(v$.w);
