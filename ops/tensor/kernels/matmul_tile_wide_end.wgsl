// The end of an invocation's row $, in matmul_tile_wide.wgsl.
	temp[tile * 16384u + ($u * 8u + 0u) * 256u + lane] = bitcast<u32>(s$.x);
	temp[tile * 16384u + ($u * 8u + 1u) * 256u + lane] = bitcast<u32>(s$.y);
	temp[tile * 16384u + ($u * 8u + 2u) * 256u + lane] = bitcast<u32>(s$.z);
	temp[tile * 16384u + ($u * 8u + 3u) * 256u + lane] = bitcast<u32>(s$.w);
	temp[tile * 16384u + ($u * 8u + 4u) * 256u + lane] = bitcast<u32>(t$.x);
	temp[tile * 16384u + ($u * 8u + 5u) * 256u + lane] = bitcast<u32>(t$.y);
	temp[tile * 16384u + ($u * 8u + 6u) * 256u + lane] = bitcast<u32>(t$.z);
	temp[tile * 16384u + ($u * 8u + 7u) * 256u + lane] = bitcast<u32>(t$.w);
