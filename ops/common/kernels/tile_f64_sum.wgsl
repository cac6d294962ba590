// Sums of 16 rows, number $: an invocation has four columns of row lane / 16.
	var s$ = vec4<f64>();
