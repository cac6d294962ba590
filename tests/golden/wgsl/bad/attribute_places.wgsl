// expect: PC2113@4 PC2113@5 PC2113@6 PC2113@7 PC2113@8 PC2113@9 PC2113@10 PC2113@11 PC2113@11 PC2113@11 PC2113@12 PC2113@13 PC2113@14 PC2113@15 PC2113@17 PC2113@19
// rules 1: nothing
@compute @workgroup_size(64)
fn main() @align(4) {
	@diagnostic(off, derivative_uniformity) var a = 1u;
	@must_use let b = 2u;
	@size(4) const c = 3u;
	@align(16) a = b;
	@id(1) a++;
	@const if a == 3u { }
	@workgroup_size(1) switch a @group(0) { default: @binding(1) { } }
	@compute for (var i = 0u; i < c; i++) { }
	if a == 1u @foo { }
	if a == 1u { } else @vertex { }
	@builtin(position) { }
	for (var i = 0u; i < 2u; i++) {
		@diagnostic(off, derivative_uniformity) continue;
	}
	@diagnostic(off, derivative_uniformity) return;
}
