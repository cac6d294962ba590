/* Constant tables (LOOKUP): all of a program stand in one read-only storage block that belongs to
 * the kernel, each distinct list of words once. Variables with constant initialisers would say the
 * same, but lavapipe (Mesa 22.3) fills such an array anew in every invocation and takes minutes to
 * compile one of 1024 elements. Behind a table's last element stands one of zero, and an index that is
 * outside reads that one, so that no access leaves the table. */
#include <stdlib.h>
#include <string.h>

#include "spirv/spirv.h"

static int by_content(const void *a, const void *b)
{
	const pctl_spv_table *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits < y->bits ? 1 : -1;
	if (x->n_words != y->n_words)
		return x->n_words < y->n_words ? -1 : 1;
	return memcmp(x->words, y->words, (size_t)x->n_words * sizeof(*x->words));
}

static pctl_spv_table table_of(const pctl_program *p, const pctl_inst *in)
{
	return (pctl_spv_table){.words = p->words + in->first_arg + 1,
				.n_words = in->n_args - 1,
				.bits = pctl_scalar_bits(p->types[in->type].scalar)};
}

static uint32_t length_of(const pctl_spv_table *t)
{
	return t->n_words / (t->bits / 32);
}

/* Wide elements come first, so that all of them lie at multiples of their size. The wire form of a
 * program bounds the sums. */
static void place(pctl_spv_table *tables, uint32_t n)
{
	uint32_t i, next = 0;

	for (i = 0; i < n; i++) {
		tables[i].base = next / (tables[i].bits / 32);
		next += tables[i].n_words + tables[i].bits / 32;
	}
}

int pctl_spv_tables_find(const pctl_program *p, pctl_spv_table **out, uint32_t *n_out)
{
	pctl_spv_table *tables;
	uint32_t i, n = 0, last = 0;

	*out = NULL;
	*n_out = 0;
	for (i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_LOOKUP;
	if (!n)
		return 1;
	tables = calloc(n, sizeof(*tables));
	if (!tables)
		return 0;
	for (i = 0, n = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_LOOKUP)
			tables[n++] = table_of(p, &p->insts[i]);
	qsort(tables, n, sizeof(*tables), by_content);
	for (i = 1; i < n; i++)
		if (by_content(&tables[last], &tables[i]) != 0)
			tables[++last] = tables[i];
	place(tables, last + 1);
	*out = tables;
	*n_out = last + 1;
	return 1;
}

uint32_t *pctl_spv_table_block(const pctl_program *p, uint32_t *n)
{
	pctl_spv_table *tables, *t;
	uint32_t i, n_tables, *words = NULL;

	*n = 0;
	if (!pctl_spv_tables_find(p, &tables, &n_tables) || !n_tables)
		return NULL;
	t = &tables[n_tables - 1];
	*n = (t->base + length_of(t) + 1) * (t->bits / 32);
	words = calloc(*n, sizeof(*words));
	for (i = 0; words && i < n_tables; i++)
		memcpy(words + (size_t)tables[i].base * (tables[i].bits / 32), tables[i].words,
		       (size_t)tables[i].n_words * sizeof(*words));
	free(tables);
	return words;
}

/* The block seen as an array of u32 or of vec2<u32>: two variables at one descriptor. */
static uint32_t declare(pctl_spv *e, uint32_t width)
{
	const uint32_t elem = pctl_spv_type(e, 32, width);
	const uint32_t array = pctl_spv_id(e), block = pctl_spv_id(e);
	uint32_t pointer, id;

	PCTL_SPV_PUT(e, &e->globals, SpvOpTypeRuntimeArray, array, elem);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, array, SpvDecorationArrayStride, 4 * width);
	PCTL_SPV_PUT(e, &e->globals, SpvOpTypeStruct, block, array);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpMemberDecorate, block, 0, SpvDecorationOffset, 0);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, block, SpvDecorationBlock);
	pointer = pctl_spv_pointer(e, SpvStorageClassStorageBuffer, block);
	id = pctl_spv_id(e);
	PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, id, SpvStorageClassStorageBuffer);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationDescriptorSet, 0);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationBinding,
		     e->interface.n_bindings);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationNonWritable);
	return id;
}

static uint32_t block_of(pctl_spv *e, uint32_t bits)
{
	uint32_t *var = bits == 64 ? &e->table_pairs : &e->table_words;

	if (!*var)
		*var = declare(e, bits / 32);
	return *var;
}

/* An index that is known picks its element at once. */
static uint32_t known(pctl_spv *e, pctl_spv_shape s, const pctl_spv_table *t, uint32_t i)
{
	uint64_t bits = 0;

	if (i < length_of(t))
		bits = s.bits == 64 ? t->words[2 * i] | (uint64_t)t->words[2 * i + 1] << 32
				    : t->words[i];
	return pctl_spv_shape_const(e, s, bits);
}

uint32_t pctl_spv_lookup(pctl_spv *e, const pctl_inst *in)
{
	const pctl_spv_table key = table_of(e->p, in);
	const pctl_spv_table *t =
		bsearch(&key, e->tables, e->n_tables, sizeof(*e->tables), by_content);
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t index = pctl_spv_arg(e, in, 0);
	uint32_t word, at;
	pctl_spv_shape s;
	uint64_t lane[4];

	pctl_spv_shape_get(e->p, in->type, &s);
	if (!t) {
		pctl_spv_fail(e, PCTL_E_INTERNAL);
		return 0;
	}
	if (pctl_spv_literal(e, pctl_arg(e->p, in, 0), lane) == 1)
		return known(e, s, t, (uint32_t)lane[0]);
	index = PCTL_SPV_GLSL(e, u32, GLSLstd450UMin, index, pctl_spv_u32(e, length_of(t)));
	if (t->base)
		index = PCTL_SPV_VALUE(e, SpvOpIAdd, u32, index, pctl_spv_u32(e, t->base));
	word = pctl_spv_type(e, 32, s.bits / 32);
	at = pctl_spv_pointer(e, SpvStorageClassStorageBuffer, word);
	at = PCTL_SPV_VALUE(e, SpvOpAccessChain, at, block_of(e, s.bits), pctl_spv_u32(e, 0),
			    index);
	at = PCTL_SPV_VALUE(e, SpvOpLoad, word, at);
	return word == e->plain[in->type] ? at
					  : PCTL_SPV_VALUE(e, SpvOpBitcast, e->plain[in->type], at);
}
