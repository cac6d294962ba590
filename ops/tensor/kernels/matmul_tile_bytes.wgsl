// Sums of products of bytes by matrix units, in workgroups of 128: tiles of 128 x 128, 64 x 64 a subgroup. Blocks of 64 terms, as matmul_packed_wide.wgsl and matmul_pack_lines.wgsl lay
// them, come through two pairs of arrays in workgroup memory: while subgroups multiply out of one, the next block's words are on their way in registers, and go into the other. In front:
// the types L, R, S of matrix tiles, T of a sum and W of four words; behind: `panels_at`, which panels a workgroup multiplies, and `give`, where a result goes
// (matmul_bytes_rows.wgsl or matmul_bytes_apart.wgsl); in main matmul_tile_bytes_*.wgsl.
const LINE: u32 = 5u; // vectors of 16 bytes from one line to the next: no two of eight lines share a bank

var<workgroup> left0: array<W, 640>; // [row][term]
var<workgroup> left1: array<W, 640>;
var<workgroup> right0: array<W, 640>; // [column][term]
var<workgroup> right1: array<W, 640>;
var<workgroup> room: array<T, 1024>; // a result of each subgroup

