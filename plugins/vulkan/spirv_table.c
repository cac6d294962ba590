/* Constant tables (LOOKUP): a private variable with a constant initialiser, which drivers that have
 * constant memory keep there, one for each distinct list of words. An element of zero stands behind
 * the last, and an index that is outside reads that one, so that no access leaves the table. */
#include <stdlib.h>
#include <string.h>

#include "spirv.h"

static int by_content(const void *a, const void *b)
{
	const pctl_spv_table *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->n_words != y->n_words)
		return x->n_words < y->n_words ? -1 : 1;
	return memcmp(x->words, y->words, (size_t)x->n_words * sizeof(*x->words));
}

static pctl_spv_table table_of(const pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_shape s;

	pctl_spv_shape_get(e->p, in->type, &s);
	return (pctl_spv_table){.words = e->p->words + in->first_arg + 1,
				.n_words = in->n_args - 1,
				.type = s.bits << 1 | s.is_float};
}

int pctl_spv_tables_find(pctl_spv *e)
{
	const pctl_program *p = e->p;
	uint32_t i, n = 0, kept = 0;

	for (i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_LOOKUP;
	if (!n)
		return 1;
	e->tables = calloc(n, sizeof(*e->tables));
	if (!e->tables) {
		pctl_spv_fail(e, PCTL_E_NOMEM);
		return 0;
	}
	for (i = 0, n = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_LOOKUP)
			e->tables[n++] = table_of(e, &p->insts[i]);
	qsort(e->tables, n, sizeof(*e->tables), by_content);
	for (i = 1; i < n; i++)
		if (by_content(&e->tables[kept], &e->tables[i]) != 0)
			e->tables[++kept] = e->tables[i];
	e->n_tables = kept + 1;
	return 1;
}

static uint64_t element(const uint32_t *words, pctl_spv_shape s, uint32_t i)
{
	return s.bits == 64 ? words[2 * i] | (uint64_t)words[2 * i + 1] << 32 : words[i];
}

static uint32_t declare(pctl_spv *e, const pctl_spv_table *t, pctl_spv_shape s, uint32_t n)
{
	const uint32_t length = pctl_spv_u32(e, n + 1);
	const uint32_t scalar = pctl_spv_shape_type(e, s);
	const uint32_t type = pctl_spv_id(e);
	pctl_spv_words w = {0};
	uint32_t head[2], pointer, id, i;

	PCTL_SPV_PUT(e, &e->globals, SpvOpTypeArray, type, scalar, length);
	head[0] = type;
	head[1] = pctl_spv_id(e);
	pctl_spv_append(e, &w, head, 2);
	for (i = 0; i <= n; i++) {
		id = pctl_spv_shape_const(e, s, i < n ? element(t->words, s, i) : 0);
		pctl_spv_append(e, &w, &id, 1);
	}
	pctl_spv_inst(e, &e->globals, SpvOpConstantComposite, w.at, w.n);
	free(w.at);
	pointer = pctl_spv_pointer(e, SpvStorageClassPrivate, type);
	id = pctl_spv_id(e);
	PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, id, SpvStorageClassPrivate, head[1]);
	return id;
}

uint32_t pctl_spv_lookup(pctl_spv *e, const pctl_inst *in)
{
	const pctl_spv_table key = table_of(e, in);
	pctl_spv_table *t = bsearch(&key, e->tables, e->n_tables, sizeof(*e->tables), by_content);
	uint32_t index = pctl_spv_arg(e, in, 0);
	pctl_spv_shape s;
	uint64_t lane[4];
	uint32_t n, at;

	pctl_spv_shape_get(e->p, in->type, &s);
	n = key.n_words / (s.bits / 32);
	if (!t) {
		pctl_spv_fail(e, PCTL_E_INTERNAL);
		return 0;
	}
	if (pctl_spv_literal(e, pctl_arg(e->p, in, 0), lane) == 1)
		return pctl_spv_shape_const(
			e, s, (uint32_t)lane[0] < n ? element(key.words, s, (uint32_t)lane[0]) : 0);
	if (!t->id)
		t->id = declare(e, t, s, n);
	index = PCTL_SPV_GLSL(e, pctl_spv_type(e, 32, 1), GLSLstd450UMin, index,
			      pctl_spv_u32(e, n));
	at = pctl_spv_pointer(e, SpvStorageClassPrivate, pctl_spv_shape_type(e, s));
	at = PCTL_SPV_VALUE(e, SpvOpAccessChain, at, t->id, index);
	return pctl_spv_raw_load(e, pctl_spv_shape_type(e, s), at, SpvStorageClassPrivate);
}
