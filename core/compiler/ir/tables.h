/* What the files of the SDK's program part share: an index from content to id, the interned string
 * table, layout of types, and the packing of loose tables into a program. Not for third parties. */
#ifndef PIPECTL_COMPILER_IR_TABLES_H
#define PIPECTL_COMPILER_IR_TABLES_H

#include "foundation/base/arena.h"
#include "pipectl/program.h"

#define PCTL_WIRE_BYTES_MAX (16u << 20)
#define PCTL_INSTS_MAX (1u << 20)
#define PCTL_REGION_DEPTH_MAX 256u
#define PCTL_TYPE_DEPTH_MAX 15u /* WGSL's limit on nesting of composites */
#define PCTL_NONE 0xffffffffu

/* Ids by content: an open-addressed table of (hash, id + 1). The content itself lives with the
 * user. */
typedef struct pctl_index {
	struct {
		uint32_t hash;
		uint32_t id_plus_1;
	} * slots;
	uint32_t n, cap;
} pctl_index;

typedef int (*pctl_index_same)(const void *ctx, uint32_t id);
/* The id for which `same` holds, or PCTL_NONE. */
uint32_t pctl_index_find(const pctl_index *x, uint32_t hash, pctl_index_same same, const void *ctx);
/* 1, or 0 for lack of memory. The caller knows that no equal id is there. */
int pctl_index_add(pctl_index *x, uint32_t hash, uint32_t id);
void pctl_index_drop(pctl_index *x);
/* FNV-1a over n bytes, continuing from `seed` (0 to start). */
uint32_t pctl_index_hash(uint32_t seed, const void *data, size_t n);

/* NUL-terminated strings back to back, each once; offset 0 is "". */
typedef struct pctl_strings {
	char *data;
	uint32_t n, cap;
	pctl_index index;
} pctl_strings;

/* 1 and the offset of s[0..n), which holds no NUL; 0 for lack of memory. */
int pctl_strings_put(pctl_strings *t, const char *s, size_t n, uint32_t *out);
void pctl_strings_drop(pctl_strings *t);

/*
 * Compute stride, size and align of *t from its other members; structs are left alone (their
 * layout is data). types are those before *t. 1, or 0 when an id is out of range or a size does not
 * fit.
 */
int pctl_type_layout(const pctl_type *types, uint32_t n_types, pctl_type *t);
/* Hash and equality of types as tables hold them; struct members are compared by name text. */
uint32_t pctl_type_hash(const pctl_type *t, const pctl_member *members, const char *strings);
int pctl_type_same(const pctl_type *a, const pctl_member *ma, const char *sa, const pctl_type *b,
		   const pctl_member *mb, const char *sb);

/* Where instruction `inst`, counted over all functions, stands in its text; nowhere (file NULL) in a program without origins. */
pctl_pos pctl_program_pos(const pctl_program *p, uint32_t inst);

/* What pctl_tables_pack keeps; NULL keeps all. One byte for each function or variable. */
typedef struct pctl_keep {
	const uint8_t *functions;
	const uint8_t *vars;
	uint32_t drop_overrides;
} pctl_keep;

/*
 * Pack loose tables (pointers and counts of `raw`; its arena is not used) into a new program in
 * canonical order: types made unique and unused ones dropped, variables sorted, functions back to
 * back, strings in the order of the wire form. Then verify. Ids out of range stay out of range, for
 * verify to refuse.
 */
pctl_status pctl_tables_pack(const pctl_program *raw, const pctl_keep *keep, const pctl_call *call,
			     pctl_program **out);

/* Number of leading `v` arguments of an op with a place, and whether it has one. */
int pctl_op_place_values(uint16_t op, uint8_t *n_values);

#endif
