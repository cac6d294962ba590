// Begin of the products of a block of terms.
	{
		let r = subgroupMatrixLoad<R, row_major>(&right, lane / 32u * EIGHT, 8u);
