@compute @workgroup_size(64)
fn main() @diagnostic(off, derivative_uniformity) {
	var a = 1u;
	let b = 2u;
	const c = 3u;
	a = b;
	@diagnostic(off, derivative_uniformity) if a == 3u { }
	@diagnostic(off, derivative_uniformity) @diagnostic(info, some.rule)
	switch a @diagnostic(warning, a.b) { default: @diagnostic(error, a.c,) { } }
	@diagnostic(off, derivative_uniformity) for (var i = 0u; i < c; i++)
		@diagnostic(off, derivative_uniformity) { }
	if a == 1u @diagnostic(off, derivative_uniformity) { }
	if a == 1u { } else @diagnostic(off, derivative_uniformity) { }
	@diagnostic(off, derivative_uniformity) { }
}
