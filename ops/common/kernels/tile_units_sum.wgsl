// Sums of 16 rows, number $.
	var s$ = S();
