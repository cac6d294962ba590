// expect: PC2402@3 PC2402@4 PC2402@5 PC2402@8 PC2437@9 PC2437@10 PC2437@11 PC2437@12 PC2437@13
const c = 1;
alias A = c;
alias Bad = vec3;
alias C = min;
@compute @workgroup_size(64)
fn main() {
	var x: array;
	let y = u32;
	let z = main;
	let w = A + 1;
	let v = workgroupBarrier();
	let t = S;
}
struct S { a: u32 }
