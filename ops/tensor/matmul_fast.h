/* What the files of tensor.matmul in tiles share. */
#ifndef PIPECTL_OPS_TENSOR_MATMUL_FAST_H
#define PIPECTL_OPS_TENSOR_MATMUL_FAST_H

#include "common/codec.h"
#include "matmul.h"

/* Sums in an invocation, of factors as they lie; of matrix units, of packed factors; in an invocation, of packed factors; of matrix units, of packed
 * bytes; no tiles but lanes that share an element. */
enum {
	MATMUL_TILES_PLAIN,
	MATMUL_TILES_UNITS,
	MATMUL_TILES_WIDE,
	MATMUL_TILES_BYTES,
	MATMUL_TILES_THIN
};

/*
 * How tiles are cut for a kind of device.
 *
 * tiles         MATMUL_TILES_*
 * layout, tile  texts of kernels; term, end: what is put behind the latter, the first four times; or NULL
 * head          the type of sums, and of processors the lanes of a workgroup
 * step_type     what `step` takes and gives; NULL where sums are of matrix units
 * local         invocations of a workgroup
 * norms         invocations of a workgroup that finds norms
 * memory        bytes of a workgroup
 * rows, columns of a tile; block: terms that go through workgroup memory together
 * turns         that all loops make for a block of terms
 */
typedef struct matmul_cut {
	uint32_t tiles;
	const char *layout, *tile, *term, *end, *head, *step_type;
	uint32_t local, norms, memory, rows, columns, block, turns;
} matmul_cut;

typedef struct matmul_fast_plan {
	kit_plan *p;
	const matmul_shape *s;
	const matmul_cut *cut;
	uint64_t tiles, slots;
	uint32_t share; /* elements that an invocation of the settling kernel looks after */
	uint32_t params, temp, norms[2];
	uint32_t writes;     /* 1: what is run next writes the result */
	uint32_t reads;	     /* through which functions it reads */
	uint64_t first;	     /* and its first element */
	kit_slot in[2], out; /* the inputs and the result, of one window of columns */
	kit_slot factors[2]; /* as tiles read them: the inputs, or packed */
} matmul_fast_plan;

#define MATMUL_LOOK "const LOOK: u32 = 1024u;\n" /* terms from one look at sums to the next */
#define MATMUL_BUFFER(name, binding, access, T) \
	"@group(0) @binding(" binding ") var<storage, " access "> " name ": array<" T ">;\n"

/* n over `of`, rounded up. */
uint64_t matmul_parts(uint64_t n, uint64_t of);
/* The power of two from 16 on that is no less than n: a text is compiled for each `steps`, so that their numbers are few. */
uint64_t matmul_steps(uint64_t n);
int matmul_turns_fit(const pctl_plan_caps *caps, uint64_t turns);
int matmul_cut_fits(const matmul_fast_plan *f, const matmul_cut *c);
/* `name`_bits of elements of a type. */
void matmul_add_codec(kit_wgsl *w, uint32_t dtype, const char *name);
/* A text n times, '$' read as the numbers from `first` on (up to 15). */
void matmul_add_each(kit_wgsl *w, const char *text, uint32_t first, uint32_t n);
/* Dispatch a text, and free it. */
void matmul_run(matmul_fast_plan *f, const char *name, kit_wgsl *w, uint32_t local, uint64_t groups,
		uint64_t steps, const kit_slot *slots, uint32_t n_slots);
/* Can there be so many workgroups in two dimensions? */
int matmul_has_grid(const matmul_fast_plan *f, const uint64_t groups[2]);
/* matmul_run so; groups[1] 0: in one. */
void matmul_run_grid(matmul_fast_plan *f, const char *name, kit_wgsl *w, uint32_t local,
		     const uint64_t groups[2], uint64_t steps, const kit_slot *slots,
		     uint32_t n_slots);

/* The norms of factor i's vectors, 8 of them in cut->norms entries: f->norms. */
void matmul_norms(matmul_fast_plan *f, uint32_t i);

/* With more rows, tiles read plain factors less often. */
#define MATMUL_ROWS_MOST 16u
/* Do all batches meet the same b, and do the elements of a of one lie behind those of the one before? */
int matmul_batches_share(const matmul_shape *s);
/* Rows of a lie one behind the other, and all meet the same transposed b; k is a multiple of so many terms. */
int matmul_rows_share(const matmul_shape *s, uint64_t terms);
/* A text (of fewer than 300 bytes) with numbers: # a column of the invocation, @ a row, ~ a term. */
void matmul_add(kit_wgsl *w, const char *text, uint32_t c, uint32_t r, uint32_t j);
/*
 * Sums of few rows, of the variables x@_~ (term ~ of row @), w#_~ (of column #), n# and s#_@ and the function step(a, b, s); terms
 * counts those of a lane in a turn. block NULL: b's elements are f32.
 *
 * row_sum  u@, what an offset of blocks meets; nothing where they have none
 * scales   of blocks d# and l#, scale and offset, and the bound `most` of a magnitude. e is where the block is read
 * norm     w's squares join n#, of blocks those of the bound, behind their scales
 * sums     the terms join s#_@; of blocks the integers are summed, and their scale joins the sum once
 */
void matmul_add_row_sum(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t r);
void matmul_add_scales(kit_wgsl *w, const kit_block_format *block, uint32_t c, const char *e,
		       const char *most);
void matmul_add_norm(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t c,
		     const char *e, const char *most);
void matmul_add_sums(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t c,
		     uint32_t r);
/* Where tiles and their elements lie: f->cut->layout, with what all layouts have. */
void matmul_add_layout(const matmul_fast_plan *f, kit_wgsl *w);
/* const NAME: u32 = value; */
void matmul_number(kit_wgsl *w, const char *name, uint32_t value);

/* matmul_gemv.c: few rows, or any where b is packed, on a GPU, all of it in a dispatch for MATMUL_ROWS_MOST rows; 0: not here. */
int matmul_gemv(matmul_fast_plan *f);
/* matmul_thin.c: on a processor, marks and norms of few rows, or of any where b is packed: f->cut, temp and norms; 0: not here. */
int matmul_thin(matmul_fast_plan *f);
/* Where marks and norms of that lie. */
void matmul_add_thin(const matmul_fast_plan *f, kit_wgsl *w);

/* matmul_thin_words.c: the same where b is q8_0 and lanes may have words of its blocks; 0: not here, nothing was done. Of what matmul_thin takes. */
int matmul_thin_by_words(const matmul_fast_plan *f);
int matmul_thin_words(matmul_fast_plan *f);
void matmul_add_thin_words(const matmul_fast_plan *f, kit_wgsl *w);

/* matmul_bytes.c: of bytes, on a processor with an instruction for products of them; 0: not here, nothing was done. */
int matmul_bytes(matmul_fast_plan *f);

/* Integers of a byte are multiplied four at a time, or more. */
int matmul_of_bytes(const matmul_fast_plan *f);
/* matmul_packed.c: tiles of packed factors, where they fit and are worth it; else f->cut stays. */
void matmul_choose_packed(matmul_fast_plan *f, uint64_t batches);
/* Factor i is packed, and normed where sums are of matrix units: f->factors and f->norms. */
void matmul_pack(matmul_fast_plan *f, uint32_t i);
/* The tiles' text, behind the layout. */
void matmul_add_units(kit_wgsl *w);
void matmul_add_wide(const matmul_fast_plan *f, kit_wgsl *w);
/* Where packed panels lie (matmul_packed_wide.wgsl). */
void matmul_add_panels(const matmul_fast_plan *f, kit_wgsl *w);

/* matmul_byte_tiles.c: tiles of packed bytes by matrix units. What they are cut like, where the device's units are proven for the factors' type, else
 * NULL. */
const matmul_cut *matmul_byte_cut(const matmul_fast_plan *f);
/* Where batches meet the same b and their rows lie one behind the other, one matrix of all rows: *out, and 1. */
int matmul_byte_joined(const matmul_fast_plan *f, matmul_shape *out);
/* The product of one matrix, written to where it belongs; 0: not here, nothing was done. */
int matmul_byte_rows(matmul_fast_plan *f);
/* Tiles into f->temp. */
void matmul_byte_tiles(matmul_fast_plan *f);

#endif
