// expect: PC2418@4 PC2418@5 PC2418@6
@compute @workgroup_size(64)
fn main() {
	break;
	continue;
	switch 1 { default: { continue; } }
}
