//# max dispatch = 1024,1,1
// Choices that compilers know by their shape (sums and differences cut at the border, distances, extremes), beside
// quotients, which make some compilers write all 64-bit arithmetic of a kernel in another way. Eight results an item.
@group(0) @binding(0) var<storage, read> left: array<u64>;
@group(0) @binding(1) var<storage, read> right: array<u64>;
@group(0) @binding(2) var<storage, read_write> results: array<u64>;

const MOST = 0xfffffffffffffffflu;

fn shapes(at: u32, x: u64, y: u64) {
	let sum = x + y;
	results[at] = select(x - y, 0lu, x < y);
	results[at + 1u] = select(sum, MOST, sum < x);
	results[at + 2u] = select(x - y, y - x, x < y);
	results[at + 3u] = select(0lu, x - y, x > y) + select(y, x, x >= y);
	results[at + 4u] = (x << (u32(y) & 63u)) | (x >> ((64u - (u32(y) & 63u)) & 63u));
	results[at + 5u] = min(x, y) * max(x, y) - (x ^ y);
}

fn shapes_signed(at: u32, x: i64, y: i64) {
	let sum = x + y;
	let difference = x - y;
	let end = (x >> 63u) ^ 0x7fffffffffffffffli;
	results[at] = bitcast<u64>(select(difference, end, ((x ^ y) & (x ^ difference)) < 0li));
	results[at + 1u] = bitcast<u64>(select(sum, end, ((x ^ sum) & (y ^ sum)) < 0li));
	results[at + 2u] = bitcast<u64>(select(difference, y - x, x < y));
	results[at + 3u] = bitcast<u64>(select(0li, difference, x > y) + select(y, x, x >= y));
	results[at + 4u] = bitcast<u64>((x >> (u32(y) & 63u)) ^ y);
	results[at + 5u] = bitcast<u64>(min(x, y) * max(x, y) - (x ^ y));
}

@compute @workgroup_size(64)
fn alone(@builtin(global_invocation_id) gid: vec3<u32>) {
	let x = left[gid.x];
	let y = right[gid.x];
	shapes(gid.x * 8u, x, y);
	results[gid.x * 8u + 6u] = x * y;
	results[gid.x * 8u + 7u] = x & y;
}

@compute @workgroup_size(64)
fn quotient(@builtin(global_invocation_id) gid: vec3<u32>) {
	let x = left[gid.x];
	let y = right[gid.x];
	shapes(gid.x * 8u, x, y);
	results[gid.x * 8u + 6u] = x / (y | 1lu);
	results[gid.x * 8u + 7u] = y % (x | 1lu);
}

@compute @workgroup_size(64)
fn known_divisor(@builtin(global_invocation_id) gid: vec3<u32>) {
	let x = left[gid.x];
	let y = right[gid.x];
	results[gid.x * 8u + 6u] = x / 1000003lu;
	results[gid.x * 8u + 7u] = y % 0x100000007lu;
	shapes(gid.x * 8u, x, y);
}

@compute @workgroup_size(64)
fn signed_quotient(@builtin(global_invocation_id) gid: vec3<u32>) {
	let x = bitcast<i64>(left[gid.x]);
	let y = bitcast<i64>(right[gid.x]);
	shapes_signed(gid.x * 8u, x, y);
	results[gid.x * 8u + 6u] = bitcast<u64>(x / (y | 1li));
	results[gid.x * 8u + 7u] = bitcast<u64>(y % (x | 1li));
}

@compute @workgroup_size(64)
fn words(@builtin(global_invocation_id) gid: vec3<u32>) {
	let x = u32(left[gid.x]);
	let y = u32(right[gid.x]);
	let at = gid.x * 8u;
	let sum = x + y;
	results[at] = u64(select(x - y, 0u, x < y));
	results[at + 1u] = u64(select(sum, 0xffffffffu, sum < x));
	results[at + 2u] = u64(select(x - y, y - x, x < y));
	results[at + 3u] = u64(select(0u, x - y, x > y) + select(y, x, x >= y));
	results[at + 4u] = u64((x << (y & 31u)) | (x >> ((32u - (y & 31u)) & 31u)));
	results[at + 5u] = u64(min(x, y) * max(x, y) - (x ^ y));
	results[at + 6u] = u64(x / (y | 1u));
	results[at + 7u] = left[gid.x] / (right[gid.x] | 1lu);
}
