/* Refusals that no front end lets happen: wire forms cut and changed at a known place, tables patched behind the builder's
 * back, a builder used in the wrong order. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/analysis/analyse.h"
#include "compiler/analysis/extents.h"
#include "compiler/ir/wire.h"
#include "test_ir_samples.h"

typedef struct heard {
	pctl_diag_list *l;
} heard;

static const pctl_call *listen(heard *h)
{
	memset(h, 0, sizeof(*h));
	h->l = pctl_diag_list_create();
	assert_non_null(h->l);
	return pctl_diag_list_call(h->l);
}

/* A diagnostic of this code, whose status was returned, says these words. */
static void heard_one(heard *h, pctl_status s, uint32_t code, const char *words)
{
	uint32_t i, found = 0;

	for (i = 0; i < pctl_diag_list_count(h->l); i++) {
		const pctl_diag *d = pctl_diag_list_at(h->l, i);

		found += d->code == code && strstr(d->message, words);
	}
	if (!found) {
		pctl_diag_render_text(h->l, stderr, 0);
		fail_msg("wanted PC%04u: %s", code, words);
	}
	assert_int_equal(s, pctl_code_status(code));
	pctl_diag_list_destroy(h->l);
}

static pctl_program *finish(pctl_builder *b)
{
	pctl_program *p = NULL;

	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	return p;
}

static void refuses_wire(const uint8_t *wire, uint64_t n, uint32_t code, const char *words)
{
	pctl_program *p = NULL;
	heard h;
	const pctl_call *call = listen(&h);

	heard_one(&h, pctl_program_decode(wire, n, call, &p), code, words);
	assert_null(p);
}

static void wire_forms(void **state)
{
	enum { HEAD = PCTL_WIRE_HEADER_BYTES }; /* bytes before the first section */
	const uint64_t beyond = (16u << 20) + 1;
	pctl_program *p = finish(sample_guarded());
	uint8_t *wire = NULL, *longer;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	longer = calloc(1, beyond);
	assert_non_null(longer);
	refuses_wire(wire, n - 1, PC2002_WIRE_TRUNCATED, "");
	refuses_wire(wire, HEAD, PC2002_WIRE_TRUNCATED, "end before a section");
	memcpy(longer, wire, n);
	refuses_wire(longer, n + 1, PC2005_WIRE_FORM, "bytes behind the end");
	refuses_wire(longer, beyond, PC2004_WIRE_LIMIT, "more than 16 MiB");
	longer[HEAD] ^= 0x40;
	refuses_wire(longer, n, PC2005_WIRE_FORM, "another section was expected");
	/* The count of types as two bytes says the same number, and is another encoding. */
	assert_true(wire[HEAD + 1] < 0x80);
	memcpy(longer, wire, HEAD + 1);
	longer[HEAD + 1] = wire[HEAD + 1] | 0x80;
	longer[HEAD + 2] = 0;
	memcpy(longer + HEAD + 3, wire + HEAD + 2, n - HEAD - 2);
	refuses_wire(longer, n + 1, PC2003_WIRE_CANONICAL, "canonical");
	memset(longer + HEAD + 1, 0xff, 11);
	refuses_wire(longer, n, PC2005_WIRE_FORM, "longer than 64 bits");
	longer[HEAD + 1] = 0x7f;
	refuses_wire(longer, HEAD + 3, PC2002_WIRE_TRUNCATED, "a count is larger");
	free(longer);
	free(wire);
	pctl_program_destroy(p);
}

static void refuses_patched(pctl_program *p, uint32_t code, const char *words)
{
	heard h;
	const pctl_call *call = listen(&h);

	heard_one(&h, pctl_program_verify(p, call), code, words);
}

/* A value that stands in a table of a valid program, changed and put back. */
#define PATCH(place, value, code, words)                                 \
	do {                                                             \
		const uint64_t patch_old = (uint64_t)place;              \
		place = value;                                           \
		refuses_patched(p, code, words);                         \
		place = (__typeof__(place))patch_old;                    \
		assert_int_equal(pctl_program_verify(p, NULL), PCTL_OK); \
	} while (0)

static void tables(void **state)
{
	pctl_program *p = finish(sample_everything());
	uint32_t i, wide = 0;

	(void)state;
	for (i = 1; i < p->n_types; i++)
		if (p->types[i].kind == PCTL_TYPE_STRUCT)
			wide = i;
	PATCH(p->types[0].kind, PCTL_TYPE_SCALAR, PC2010_PROGRAM_TYPE, "type 0 is not void");
	PATCH(p->types[wide].size, p->types[wide].size + 4, PC2010_PROGRAM_TYPE, "breaks a rule");
	PATCH(p->types[wide].count, p->types[wide].count - 1, PC2010_PROGRAM_TYPE, "");
	PATCH(p->overrides[0].type, wide, PC2012_PROGRAM_OVERRIDE, "is not a scalar");
	PATCH(p->overrides[0].has_default, 2, PC2012_PROGRAM_OVERRIDE, "a default that is not one");
	PATCH(p->overrides[0].default_value, 77, PC2012_PROGRAM_OVERRIDE, "of another type");
	PATCH(p->maxima[0].var, 1, PC2015_PROGRAM_MAXIMUM, "not of an integer in a uniform");
	PATCH(p->maxima[0].path[0], 2, PC2015_PROGRAM_MAXIMUM, "not of an integer in a uniform");
	PATCH(p->maxima[0].value, 1ull << 40, PC2015_PROGRAM_MAXIMUM, "does not fit its type");
	PATCH(p->strings[0], 'x', PC2016_PROGRAM_TABLE, "the string table");
	PATCH(p->functions[1].name, p->n_strings, PC2016_PROGRAM_TABLE, "outside the string table");
	PATCH(p->insts[0].type, p->n_types, PC2016_PROGRAM_TABLE, "not in the table");
	PATCH(p->insts[0].first_arg, p->n_words + 1, PC2016_PROGRAM_TABLE, "outside the table");
	PATCH(p->max_turns, PCTL_TURNS_MAX + 1, PC2016_PROGRAM_TABLE, "the maximum of turns");
	pctl_program_destroy(p);
}

static void built(pctl_builder *b, uint32_t code, const char *words)
{
	pctl_program *p = NULL;
	heard h;
	const pctl_call *call = listen(&h);

	heard_one(&h, pctl_builder_finish(b, call, &p), code, words);
	assert_null(p);
	pctl_builder_destroy(b);
}

static void instructions(void **state)
{
	uint32_t i, one, args[2];
	sample s;

	(void)state;
	for (i = 0; i < 2; i++) {
		sample_begin(&s);
		pctl_build_function_begin(s.b, "main", NULL, 0, 0);
		one = sample_const(&s, 1);
		args[0] = args[1] = one;
		if (i)
			pctl_build_inst(s.b, PCTL_OP_RETURN, s.u32, NULL, 0);
		else
			pctl_build_inst(s.b, PCTL_OP_ADD, 0, args, 2);
		sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
		built(s.b, PC2023_PROGRAM_RESULT, i ? "but no result" : "has no result type");
	}
	for (i = 256; i <= 257; i++) {
		pctl_program *p = NULL;
		uint32_t d;

		sample_begin(&s);
		pctl_build_function_begin(s.b, "main", NULL, 0, 0);
		for (d = 0; d < i; d++)
			pctl_build_inst(s.b, PCTL_OP_BLOCK, 0, NULL, 0);
		for (d = 0; d < i; d++)
			pctl_build_inst(s.b, PCTL_OP_END_BLOCK, 0, NULL, 0);
		sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
		if (i == 257) {
			built(s.b, PC2028_PROGRAM_DEPTH, "deeper than 256");
			continue;
		}
		assert_int_equal(pctl_builder_finish(s.b, NULL, &p), PCTL_OK);
		pctl_program_destroy(p);
		pctl_builder_destroy(s.b);
	}
}

static void wrong_order(void **state)
{
	pctl_analysis *a = NULL;
	pctl_extents e;
	pctl_program *p;
	heard h;
	const pctl_call *call;
	sample s;

	(void)state;
	sample_begin(&s);
	sample_const(&s, 1);
	built(s.b, PC2030_PROGRAM_BUILD, "");
	sample_begin(&s);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	built(s.b, PC2030_PROGRAM_BUILD, "left open");
	p = finish(sample_everything());
	call = listen(&h);
	heard_one(&h, pctl_program_analyse(p, NULL, call, &a), PC2052_ANALYSE_ENTRY,
		  "1 entry points and overrides");
	call = listen(&h);
	heard_one(&h, pctl_program_extents(p, NULL, call, &e), PC2052_ANALYSE_ENTRY,
		  "1 entry points and overrides");
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(wire_forms), PCTL_TEST(tables), PCTL_TEST(instructions),
		PCTL_TEST(wrong_order))
