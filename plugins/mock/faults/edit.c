/* Changing a decoded program; see edit.h. Operands are found by the letters of the opcode table. */
#include "faults/edit.h"

#include <stdlib.h>
#include <string.h>

/* n items in room for cap; NULL when there are none to copy from. */
static void *copy(const void *from, uint32_t n, uint32_t cap, size_t size, uint32_t *failed)
{
	void *out = calloc(cap + 1u, size);

	if (!out)
		*failed = 1;
	else if (n)
		memcpy(out, from, n * size);
	return out;
}

int mock_edit_open(const pctl_program *src, mock_edit *out)
{
	memset(out, 0, sizeof(*out));
	out->p = *src;
	out->p.origins = NULL;
	out->p.origin_files = NULL;
	out->p.n_origin_files = 0;
	out->cap_types = src->n_types + 16;
	out->cap_insts = src->n_insts;
	out->cap_words = src->n_words;
	out->p.types =
		copy(src->types, src->n_types, out->cap_types, sizeof(pctl_type), &out->failed);
	out->p.functions = copy(src->functions, src->n_functions, src->n_functions,
				sizeof(pctl_function), &out->failed);
	out->p.insts =
		copy(src->insts, src->n_insts, src->n_insts, sizeof(pctl_inst), &out->failed);
	out->p.words = copy(src->words, src->n_words, src->n_words, sizeof(uint32_t), &out->failed);
	return !out->failed;
}

void mock_edit_close(mock_edit *e)
{
	free(e->p.types);
	free(e->p.functions);
	free(e->p.insts);
	free(e->p.words);
	memset(e, 0, sizeof(*e));
}

static int reserve(mock_edit *e, void **items, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t grown = *cap ? *cap : 64;
	void *more;

	if (need <= *cap)
		return 1;
	while (grown < need)
		grown *= 2;
	more = realloc(*items, grown * size);
	if (!more) {
		e->failed = 1;
		return 0;
	}
	*items = more;
	*cap = grown;
	return 1;
}

uint32_t mock_edit_words(mock_edit *e, const uint32_t *words, uint32_t n)
{
	const uint32_t at = e->p.n_words;

	if (!reserve(e, (void **)&e->p.words, &e->cap_words, at + n, sizeof(uint32_t)))
		return 0;
	if (n)
		memcpy(e->p.words + at, words, n * sizeof(uint32_t));
	e->p.n_words += n;
	return at;
}

uint32_t mock_edit_type(mock_edit *e, uint8_t scalar, uint32_t width)
{
	const uint32_t bytes = pctl_scalar_bytes(scalar);
	pctl_type t = {.kind = PCTL_TYPE_SCALAR, .scalar = scalar, .size = bytes, .align = bytes};

	for (uint32_t i = 0; i < e->p.n_types; i++) {
		const pctl_type *o = &e->p.types[i];

		if (o->scalar == scalar &&
		    (width == 1 ? o->kind == PCTL_TYPE_SCALAR
				: o->kind == PCTL_TYPE_VECTOR && o->width == width))
			return i;
	}
	if (width > 1) {
		t.kind = PCTL_TYPE_VECTOR;
		t.elem = mock_edit_type(e, scalar, 1);
		t.width = (uint8_t)width;
		t.size = width * bytes;
		t.align = (width == 3 ? 4 : width) * bytes;
	}
	if (!reserve(e, (void **)&e->p.types, &e->cap_types, e->p.n_types + 1, sizeof(t)))
		return 0;
	e->p.types[e->p.n_types] = t;
	return e->p.n_types++;
}

/* ---- operands ----------------------------------------------------------------------------- */

/* Call `each` with every argument that names a value, in place. */
static void operands(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		     uint32_t *words, void (*each)(void *ctx, uint32_t *word), void *ctx)
{
	const char *letter = pctl_op_get(in->op)->args;
	pctl_place place = {0};
	uint32_t type = 0;

	for (uint32_t i = 0; i < in->n_args; i++) {
		const uint32_t word = words[i];
		int is_value = *letter == 'v';

		if (*letter == 'c') {
			is_value = p->types[type].kind != PCTL_TYPE_STRUCT;
			type = pctl_type_step(p, type, word);
		} else if (*letter == 'g' && pctl_place_get(p, fn, in, &place)) {
			type = place.root_type;
		}
		if (*letter != 'c' && letter[1] && letter[1] != '*')
			letter++;
		if (is_value)
			each(ctx, &words[i]);
	}
}

static void count_use(void *ctx, uint32_t *word)
{
	((uint32_t *)ctx)[*word]++;
}

uint32_t *mock_edit_uses(mock_edit *e, const pctl_function *fn)
{
	uint32_t *uses = calloc(fn->n_insts + 1u, sizeof(*uses));

	if (!uses)
		e->failed = 1;
	for (uint32_t v = 0; uses && v < fn->n_insts; v++) {
		const pctl_inst *in = &e->p.insts[fn->first_inst + v];

		operands(&e->p, fn, in, e->p.words + in->first_arg, count_use, uses);
	}
	return uses;
}

/* ---- writing functions anew --------------------------------------------------------------- */

uint32_t mock_emit(mock_edit *e, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n)
{
	const uint32_t first = mock_edit_words(e, args, n);
	const uint32_t at = e->p.n_insts;

	if (!reserve(e, (void **)&e->p.insts, &e->cap_insts, at + 1, sizeof(pctl_inst)))
		return 0;
	e->p.insts[at] = (pctl_inst){.op = op, .type = type, .first_arg = first, .n_args = n};
	e->p.n_insts++;
	return e->n_new++;
}

static void rename_value(void *ctx, uint32_t *word)
{
	*word = ((const uint32_t *)ctx)[*word];
}

uint32_t mock_emit_copy(mock_edit *e, uint32_t v)
{
	const pctl_inst in = e->old[e->fn->first_inst + v];
	uint32_t *args = calloc(in.n_args + 1u, sizeof(*args));
	uint32_t value = 0;

	if (!args) {
		e->failed = 1;
		return 0;
	}
	memcpy(args, e->p.words + in.first_arg, in.n_args * sizeof(*args));
	operands(&e->p, e->fn, &in, args, rename_value, e->map);
	value = mock_emit(e, in.op, in.type, args, in.n_args);
	if (!e->failed)
		e->p.insts[e->p.n_insts - 1].flags = in.flags;
	free(args);
	return value;
}

void mock_rewrite(mock_edit *e, uint32_t (*each)(mock_edit *e, uint32_t v, const pctl_inst *in,
						 const uint32_t *uses))
{
	pctl_function *functions = e->p.functions;
	const uint32_t n_old = e->p.n_insts;
	uint32_t *uses = NULL;

	for (uint32_t f = 0; f < e->p.n_functions && !e->failed; f++) {
		const pctl_function before = functions[f];

		/* Old instructions lie below the new ones until all are written. */
		e->fn = &before;
		e->n_new = 0;
		e->map = calloc(before.n_insts + 1u, sizeof(uint32_t));
		uses = mock_edit_uses(e, &before);
		e->failed |= !e->map;
		for (uint32_t v = 0; v < before.n_insts && !e->failed; v++) {
			const pctl_inst in = e->p.insts[before.first_inst + v];

			e->old = e->p.insts;
			e->map[v] = each(e, v, &in, uses);
		}
		free(uses);
		free(e->map);
		e->map = NULL;
		functions[f].n_insts = e->n_new;
	}
	if (e->failed)
		return;
	memmove(e->p.insts, e->p.insts + n_old, (e->p.n_insts - n_old) * sizeof(*e->p.insts));
	e->p.n_insts -= n_old;
	for (uint32_t f = 0, at = 0; f < e->p.n_functions; f++) {
		functions[f].first_inst = at;
		at += functions[f].n_insts;
	}
}
