// The block that was fetched goes into arrays $, in matmul_tile_matrix.wgsl.
	left$[left_at(0u + lane).x * LEFT_LINE + left_at(0u + lane).y] = x0;
	right$[right_at(0u + lane).x * RIGHT_LINE + right_at(0u + lane).y] = y0;
	left$[left_at(256u + lane).x * LEFT_LINE + left_at(256u + lane).y] = x1;
	right$[right_at(256u + lane).x * RIGHT_LINE + right_at(256u + lane).y] = y1;
	left$[left_at(512u + lane).x * LEFT_LINE + left_at(512u + lane).y] = x2;
	right$[right_at(512u + lane).x * RIGHT_LINE + right_at(512u + lane).y] = y2;
	left$[left_at(768u + lane).x * LEFT_LINE + left_at(768u + lane).y] = x3;
	right$[right_at(768u + lane).x * RIGHT_LINE + right_at(768u + lane).y] = y3;
	left$[left_at(1024u + lane).x * LEFT_LINE + left_at(1024u + lane).y] = x4;
	right$[right_at(1024u + lane).x * RIGHT_LINE + right_at(1024u + lane).y] = y4;
	left$[left_at(1280u + lane).x * LEFT_LINE + left_at(1280u + lane).y] = x5;
	right$[right_at(1280u + lane).x * RIGHT_LINE + right_at(1280u + lane).y] = y5;
	left$[left_at(1536u + lane).x * LEFT_LINE + left_at(1536u + lane).y] = x6;
	right$[right_at(1536u + lane).x * RIGHT_LINE + right_at(1536u + lane).y] = y6;
	left$[left_at(1792u + lane).x * LEFT_LINE + left_at(1792u + lane).y] = x7;
	right$[right_at(1792u + lane).x * RIGHT_LINE + right_at(1792u + lane).y] = y7;
	workgroupBarrier();
	next += 16u;
