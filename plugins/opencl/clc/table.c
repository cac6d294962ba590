/* Constant tables (LOOKUP): one program-scope array in constant memory for each distinct list of
 * words. An element of zero stands behind the last, and an index that is outside reads that one, so
 * that no access leaves the table. */
#include "clc/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_content(const void *a, const void *b)
{
	const emit_table *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	if (x->n_words != y->n_words)
		return x->n_words < y->n_words ? -1 : 1;
	return memcmp(x->words, y->words, (size_t)x->n_words * sizeof(*x->words));
}

static emit_table table_of(const emitter *e, const pctl_inst *in)
{
	return (emit_table){.words = e->p->words + in->first_arg + 1,
			    .n_words = in->n_args - 1,
			    .bits = pctl_scalar_bits(e->p->types[in->type].scalar)};
}

/* Of the functions that are reached. */
static uint32_t gather(const emitter *e, emit_table *out)
{
	const pctl_program *p = e->p;
	uint32_t n = 0;

	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; e->reached[f] && i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + i];

			if (in->op != PCTL_OP_LOOKUP)
				continue;
			if (out)
				out[n] = table_of(e, in);
			n++;
		}
	return n;
}

pctl_status emit_tables_find(emitter *e)
{
	const uint32_t n = gather(e, NULL);
	uint32_t last = 0;

	if (!n)
		return PCTL_OK;
	e->tables = calloc(n, sizeof(*e->tables));
	if (!e->tables)
		return pctl_refuse(e->call, PC2_NOMEM, "opencl: writing the source of a kernel");
	gather(e, e->tables);
	qsort(e->tables, n, sizeof(*e->tables), by_content);
	for (uint32_t i = 1; i < n; i++)
		if (by_content(&e->tables[last], &e->tables[i]) != 0)
			e->tables[++last] = e->tables[i];
	e->n_tables = last + 1;
	return PCTL_OK;
}

uint64_t emit_table_bytes(const emitter *e)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < e->n_tables; k++)
		n += 4ull * e->tables[k].n_words + e->tables[k].bits / 8;
	return n;
}

void emit_tables(emitter *e)
{
	for (uint32_t k = 0; k < e->n_tables; k++) {
		const emit_table *t = &e->tables[k];
		const uint32_t step = t->bits / 32;

		text_printf(&e->types, "__constant %s c%u[%u] = {", step == 2 ? "ulong" : "uint", k,
			    t->n_words / step + 1);
		for (uint32_t i = 0; i < t->n_words; i += step) {
			text_add(&e->types, i / step % 4 ? " " : "\n\t");
			if (step == 2)
				text_printf(&e->types, "0x%016" PRIx64 "ul,",
					    t->words[i] | (uint64_t)t->words[i + 1] << 32);
			else
				text_printf(&e->types, "0x%08" PRIx32 "u,", t->words[i]);
		}
		text_add(&e->types, "\n\t0};\n");
	}
}

void emit_lookup_at(emitter *e, const pctl_inst *in, const char *index)
{
	const emit_table key = table_of(e, in);
	const emit_table *t = bsearch(&key, e->tables, e->n_tables, sizeof(*e->tables), by_content);
	const uint8_t scalar = e->p->types[in->type].scalar;
	const int is_float = emit_is_float(scalar);

	if (!t)
		return;
	emit_nofold_open(e, &e->code, in->type);
	if (is_float)
		text_printf(&e->code, "as_%s(", emit_scalar_name(scalar));
	text_printf(&e->code, "c%u[min(", (uint32_t)(t - e->tables));
	if (index)
		text_add(&e->code, index);
	else
		emit_arg(e, in, 0);
	text_printf(&e->code, ", %uu)]%s", key.n_words / (key.bits / 32), is_float ? ")" : "");
	emit_nofold_close(e, &e->code, in->type);
}
