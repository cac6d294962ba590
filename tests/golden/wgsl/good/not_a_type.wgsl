const c = 1;
alias A = u32;
alias V = vec3<A>;
@compute @workgroup_size(64)
fn main() {
	var x: array<V, c>;
	let y = u32(3);
	let w = A(1);
	workgroupBarrier();
	let t = S(1);
}
struct S { a: u32 }
