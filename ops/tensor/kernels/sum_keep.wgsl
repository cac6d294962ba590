// The sum of a run as it is: its digits, and what was seen.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		sum_clear();
		accumulate(i);
		sum_carry();
		for (var digit = 0u; digit < DIGITS; digit++) {
			y[i][digit] = u32(total[digit]);
		}
		y[i][20] = saw;
	}
}
