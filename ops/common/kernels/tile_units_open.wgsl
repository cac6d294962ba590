// Begin of the products of 16 terms.
	{
		let r = subgroupMatrixLoad<R, row_major>(&right, lane / 32u * EIGHT, 8u);
