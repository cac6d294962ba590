// tile_f64.wgsl by matrix units: each of the eight subgroups has eight columns of all rows. The same sums: a product by a unit is the chain of fma in the order of terms (SEMANTICS.md 12.4).
alias L = subgroup_matrix_left<f32, 16, 16>;
alias R = subgroup_matrix_right<f32, 8, 16>;
alias S = subgroup_matrix_result<f64, 8, 16>;
const TILE_TERMS: u32 = 16u;
const LEFT_LINE: u32 = 20u; // no two rows, and no two eights of columns, that are read at once share a bank
const EIGHT: u32 = 136u;

var<workgroup> left: array<u32, TILE_ROWS * LEFT_LINE>; // [row][term]: bits
var<workgroup> right: array<u32, 8u * EIGHT>; // [column / 8][term][column % 8]
var<workgroup> room: array<f64, 1024>;

fn put_left(row: u32, k: u32, bits: u32) {
	left[row * LEFT_LINE + k] = bits;
}

fn put_right(k: u32, column: u32, bits: u32) {
	right[(column >> 3u) * EIGHT + k * 8u + (column & 7u)] = bits;
}

fn staged(i: u32) -> f64 {
	return room[(i & 63u) / 8u * 128u + (i >> 6u) * 8u + (i & 7u)];
}
