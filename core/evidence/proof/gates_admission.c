/* The six gates an op passes before it is proved: category, signature, zero overhead, a deterministic and an observable
 * reference, and rules to be judged by. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "evidence/proof/gates.h"
#include "evidence/proof/plans.h"
#include "runtime/graph/lookup.h"

/* ---- 1: category ------------------------------------------------------------------------------ */

static int has_form(pctl_gate *g)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n = pctl_gate_dtypes(g, dtypes);

	if (g->op.desc->kind == PCTL_OPDEF_PLAN)
		return g->op.lib->plan != NULL;
	for (uint32_t i = 0; i < n; i++)
		if (g->op.lib->function(g->op.inst, g->op.index, dtypes[i]) != NULL)
			return 1;
	return 0;
}

static void category(pctl_gate *g)
{
	const pctl_op_desc *d = g->op.desc;
	const char *why = NULL;

	if (d->category == 'C' && (d->hardware == NULL || *d->hardware == '\0'))
		why = "category C names no hardware";
	else if (d->category == 'A' && !has_form(g))
		why = "category A has neither WGSL for any of its types nor a plan";
	else if (d->category != 'A' && d->category != 'C')
		why = "the category is neither A nor C";
	(void)pctl_gate_check(g, "category", why == NULL, "%s", why);
}

/* ---- 2: signature ----------------------------------------------------------------------------- */

static int is_name(const char *s)
{
	if (s == NULL || !(isalpha((unsigned char)*s) || *s == '_'))
		return 0;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

static const char *ports_fault(pctl_gate *g, const pctl_port *p, uint32_t n)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_type_pattern pattern;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_name(p[i].name))
			return "a port has no proper name";
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(p[i].name, p[k].name) == 0)
				return "two ports have one name";
		if (p[i].type == NULL ||
		    pctl_port_parse(p[i].type, g->arena, NULL, &quiet, &pattern) != PCTL_OK)
			return "a port's type cannot be read";
		if (pattern.lanes != 0 && g->op.desc->kind != PCTL_OPDEF_FUNCTION)
			return "a port of a plan takes vectors";
	}
	return NULL;
}

/* A flag says something of an input port that can have it, or nothing at all. */
static const char *flags_fault(const pctl_op_desc *d)
{
	for (uint32_t i = 0; i < d->n_in; i++) {
		if (d->in[i].flags & ~(PCTL_PORT_LIST | PCTL_PORT_WHOLE | PCTL_PORT_THROUGH))
			return "a port has an unknown flag";
		if ((d->in[i].flags & PCTL_PORT_THROUGH) && d->kind == PCTL_OPDEF_FUNCTION)
			return "a port of a function goes through functions as it is";
		if ((d->in[i].flags & PCTL_PORT_LIST) &&
		    (i + 1 != d->n_in || d->kind == PCTL_OPDEF_FUNCTION))
			return "only the last input port of a plan can be a list";
		if ((d->in[i].flags & PCTL_PORT_WHOLE) &&
		    (d->kind != PCTL_OPDEF_FUNCTION || d->n_in == 1))
			return "only ports of a function of several operands can be whole";
	}
	for (uint32_t i = 0; i < d->n_out; i++) {
		if (d->out[i].flags & ~(PCTL_PORT_IN_PLACE(30u) | PCTL_PORT_THROUGH))
			return "an output port has a flag that is not for outputs";
		if ((d->out[i].flags & PCTL_PORT_THROUGH) &&
		    (d->kind == PCTL_OPDEF_FUNCTION || d->n_out != 1))
			return "only the one output of a plan can be written through functions";
	}
	return NULL;
}

/* An output in an input's place is of a plan, has its type, and the place for itself. */
static const char *places_fault(const pctl_op_desc *d)
{
	for (uint32_t i = 0; i < d->n_out; i++) {
		const uint32_t place = PCTL_PORT_PLACE(d->out[i].flags);

		if (place == 0)
			continue;
		if (place > d->n_in || d->kind != PCTL_OPDEF_PLAN ||
		    (d->in[place - 1].flags & PCTL_PORT_LIST))
			return "an output port lies in the place of no input of a plan";
		if (strcmp(d->out[i].type, d->in[place - 1].type) != 0)
			return "an output port lies in the place of an input of another type";
		for (uint32_t k = 0; k < i; k++)
			if (PCTL_PORT_PLACE(d->out[k].flags) == place)
				return "two output ports lie in the place of one input";
	}
	return NULL;
}

static const char *attributes_fault(const pctl_op_desc *d)
{
	uint64_t v;

	for (uint32_t i = 0; i < d->n_attr; i++) {
		const pctl_attr_desc *a = &d->attr[i];

		if (!is_name(a->name) || a->kind < PCTL_ATTR_U64 || a->kind > PCTL_ATTR_BOOL)
			return "an attribute has no proper name or kind";
		if (a->kind == PCTL_ATTR_U64 && a->default_text != NULL &&
		    (!pctl_num_parse_u64(a->default_text, strlen(a->default_text), &v) ||
		     v < a->min || (a->max != 0 && v > a->max)))
			return "the default of an attribute is out of its range";
	}
	return NULL;
}

static const char *lookup_fault(pctl_gate *g)
{
	const pctl_op_desc *d = g->op.desc;
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_type_pattern index, table;

	if (pctl_port_parse(d->in[0].type, g->arena, NULL, &quiet, &index) != PCTL_OK ||
	    pctl_port_parse(d->in[pctl_lookup_port(d)].type, g->arena, NULL, &quiet, &table) !=
		    PCTL_OK)
		return "a port's type cannot be read";
	return pctl_lookup_fault(d, &index, &table);
}

static const char *description_fault(pctl_gate *g)
{
	const pctl_op_desc *d = g->op.desc;
	const char *why;
	uint32_t lookup = 0;

	/* What a plan makes may come from its attributes alone. */
	if (d->n_in > PCTL_PORTS_MAX || d->n_out > PCTL_PORTS_MAX || d->n_out == 0 ||
	    (d->n_in == 0 && d->kind == PCTL_OPDEF_FUNCTION))
		return "the number of ports is 0 or over the limit";
	if (d->n_attr > PCTL_PORTS_MAX)
		return "there are too many attributes";
	why = ports_fault(g, d->in, d->n_in);
	if (why == NULL)
		why = ports_fault(g, d->out, d->n_out);
	if (why == NULL)
		why = attributes_fault(d);
	if (why != NULL)
		return why;
	why = flags_fault(d);
	if (why == NULL)
		why = places_fault(d);
	if (why != NULL)
		return why;
	for (uint32_t i = 0; i < d->n_in; i++)
		lookup += strcmp(d->in[i].name, "lookup") == 0;
	if ((d->convention == 2) != (lookup == 1))
		return "convention 2 and a port \"lookup\" go together";
	return lookup == 0 ? NULL : lookup_fault(g);
}

static int allows(pctl_gate *g, uint32_t dtype)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_type_pattern pattern;

	return pctl_port_parse(g->op.desc->out[0].type, g->arena, NULL, &quiet, &pattern) ==
		       PCTL_OK &&
	       pctl_pattern_has_dtype(&pattern, dtype);
}

/* A function op on one type of its first port: WGSL and infer say the same, and the WGSL fits the ports. */
static const char *form_fault(pctl_gate *g, uint32_t dtype, pctl_kernels *kernels, char why[128])
{
	const int has_text = g->op.lib->function(g->op.inst, g->op.index, dtype) != NULL;
	pctl_op_function f, again;
	const pctl_program *program;

	if (pctl_gate_form(&g->op, dtype, &f) != has_text)
		return "infer refuses a type that the function has WGSL for";
	if (!has_text)
		return NULL;
	if (!pctl_gate_form(&g->op, dtype, &again) || again.out_dtype != f.out_dtype)
		return "infer answers differently when asked again";
	if (!allows(g, f.out_dtype))
		return "infer gives a type that the output port does not allow";
	if (pctl_gate_kernel(kernels, &f, PCTL_GATE_USED, NULL, &program, why) != PCTL_OK)
		return why;
	return NULL;
}

static void signature(pctl_gate *g, pctl_kernels *kernels)
{
	const char *why = description_fault(g);
	const pctl_op_desc *d = g->op.desc;
	uint32_t dtypes[PCTL_DTYPES_MAX], n = 0;
	char text[128];

	if (why == NULL && d->kind == PCTL_OPDEF_FUNCTION && (d->n_out != 1 || d->n_in > 4))
		why = "a function op has one output and at most four operands";
	if (why == NULL && d->kind == PCTL_OPDEF_FUNCTION)
		n = pctl_gate_dtypes(g, dtypes);
	for (uint32_t i = 0; why == NULL && i < n; i++)
		why = form_fault(g, dtypes[i], kernels, text);
	(void)pctl_gate_check(g, "signature", why == NULL, "%s", why);
}

/* ---- 3: zero overhead ------------------------------------------------------------------------- */

static const char *overhead(const pctl_op_function *f, pctl_kernels *kernels, char why[128])
{
	const pctl_program *used, *in_place;
	uint64_t cost, least;

	if (pctl_gate_kernel(kernels, f, PCTL_GATE_USED, NULL, &used, why) != PCTL_OK ||
	    pctl_gate_kernel(kernels, f, PCTL_GATE_IN_PLACE, NULL, &in_place, why) != PCTL_OK)
		return why;
	cost = pctl_gate_cost(used);
	least = pctl_gate_cost(in_place);
	if (cost != 0 && least != 0 && cost <= least)
		return NULL;
	if (cost == 0)
		snprintf(why, 128,
			 "a function returns before its end: the call cannot be written out");
	else
		snprintf(why, 128, "%llu instructions by call, %llu written by hand",
			 (unsigned long long)cost, (unsigned long long)least);
	return why;
}

static void zero_overhead(pctl_gate *g, pctl_kernels *kernels)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n =
		g->op.desc->kind == PCTL_OPDEF_FUNCTION ? pctl_gate_dtypes(g, dtypes) : 0;
	const char *why = NULL;
	pctl_op_function f;
	char text[128];

	for (uint32_t i = 0; why == NULL && i < n; i++)
		if (pctl_gate_form(&g->op, dtypes[i], &f))
			why = overhead(&f, kernels, text);
	(void)pctl_gate_check(g, "zero overhead", why == NULL, "%s", why);
}

/* ---- 4 and 5: the reference ------------------------------------------------------------------- */

/* What was seen of a reference over all that it was asked. */
typedef struct seen {
	const char *nondeterministic;
	uint64_t n_bytes; /* of answers */
	uint32_t varies, asked;
} seen;

static void look_at(seen *s, const uint8_t *data, uint64_t n, uint64_t element, uint8_t first[16],
		    uint32_t *has_first)
{
	s->n_bytes += n;
	for (uint64_t i = 0; element != 0 && i + element <= n; i += element) {
		if (!*has_first)
			memcpy(first, data + i, element);
		*has_first = 1;
		s->varies |= memcmp(first, data + i, element) != 0;
	}
}

static void ask_function(pctl_gate *g, const pctl_op_function *f, seen *s)
{
	uint64_t n, n_bytes, n_again;
	const pctl_column *in = pctl_gate_witnesses(g, f, &n);
	const uint64_t element = pctl_dtype_bytes(f->out_dtype);
	uint8_t *poison = pctl_arena_alloc(g->arena, n * element + 1), first[16];
	const uint8_t *once, *twice;
	uint32_t has_first = 0;

	if (poison == NULL || in == NULL || element > sizeof(first))
		return;
	s->asked++;
	once = pctl_gate_answer(g, f, in, n, poison, &n_bytes);
	memset(poison, 0xa5, n * element);
	twice = pctl_gate_answer(g, f, in, n, poison, &n_again);
	if (once == NULL || twice == NULL)
		s->nondeterministic = "the reference refused a witness or wrote past its output";
	else if (memcmp(once, twice, n_bytes) != 0)
		s->nondeterministic = "the same witness gave other bytes in other memory";
	else
		look_at(s, once, n_bytes, element, first, &has_first);
}

/* A problem of a plan op, answered twice into poisoned memory. 0 when its sizes are not known beforehand. */
static int ask_problem(pctl_gate *g, const pctl_problem *p, uint8_t **out, uint64_t *n_out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_op_result r = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_attr attr[PCTL_ATTRS_MAX], measured = {.u64 = p->size};
	pctl_op_query q = pctl_problem_query(p, attr, NULL, 0);
	pctl_span in[PCTL_PORTS_MAX], spans[PCTL_PORTS_MAX];
	uint64_t total = 0, bytes;

	if (p->op.lib->infer(p->op.inst, &quiet, &q, &r) != PCTL_OK)
		return 0;
	if (r.measure != NULL) {
		measured.name = r.measure;
		q = pctl_problem_query(p, attr, &measured, 1);
		r.measure = NULL;
		if (p->size == UINT64_MAX ||
		    p->op.lib->infer(p->op.inst, &quiet, &q, &r) != PCTL_OK)
			return 0;
	}
	for (uint32_t i = 0; i < p->n_in; i++)
		in[i] = (pctl_span){p->data[i], p->bytes[i]};
	for (uint32_t i = 0; i < p->op.desc->n_out; i++) {
		if (!pctl_type_bytes(&r.out[i], &bytes))
			return 0;
		spans[i] = (pctl_span){NULL, bytes};
		total += bytes;
	}
	for (uint32_t round = 0; round < 2; round++) {
		uint8_t *at = pctl_arena_alloc(g->arena, total + 1);

		if (at == NULL)
			return 0;
		memset(at, round == 0 ? 0 : 0xa5, total);
		out[round] = at;
		for (uint32_t i = 0; i < p->op.desc->n_out; i++, at += spans[i - 1].n_bytes)
			spans[i].data = at;
		if (pctl_lookup_check(&p->op, &q, in, &quiet) != PCTL_OK ||
		    p->op.lib->reference(p->op.inst, &quiet, &q, in, spans) != PCTL_OK)
			return 0;
	}
	*n_out = total;
	return 1;
}

#define PROBLEMS 24u

static void ask_plan(pctl_gate *g, uint32_t dtype, seen *s)
{
	pctl_problems problems = {0};
	uint8_t first[16] = {0};
	uint32_t has_first = 0;

	if (pctl_problems_of(g->b, &g->op, dtype, g->arena, g->call, &problems) != PCTL_OK)
		return;
	for (uint64_t i = 0; i < problems.n && i < PROBLEMS; i++) {
		pctl_problem p = {0};
		uint8_t *out[2];
		uint64_t n;

		/* Spread over all of them: the first are the smallest. */
		if (pctl_problems_make(&problems, i * problems.n / PROBLEMS % problems.n, g->call,
				       &p) == PCTL_OK &&
		    ask_problem(g, &p, out, &n)) {
			s->asked++;
			if (memcmp(out[0], out[1], n) != 0)
				s->nondeterministic =
					"the same problem gave other bytes in other memory";
			look_at(s, out[0], n, n < 16 ? n : 16, first, &has_first);
		}
		pctl_problem_clear(&p);
	}
}

static void reference(pctl_gate *g)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n = pctl_gate_dtypes(g, dtypes);
	seen s = {0}, all = {.varies = 1};
	pctl_op_function f;

	for (uint32_t i = 0; i < n && g->status == PCTL_OK; i++) {
		s = (seen){0};
		if (pctl_gate_as_plan(g->op.desc))
			ask_plan(g, dtypes[i], &s);
		else if (pctl_gate_function(&g->op, dtypes[i], &f))
			ask_function(g, &f, &s);
		all.asked += s.asked;
		all.n_bytes += s.n_bytes;
		if (s.asked != 0) /* on every type */
			all.varies &= s.varies;
		if (s.nondeterministic != NULL)
			all.nondeterministic = s.nondeterministic;
	}
	(void)pctl_gate_check(g, "deterministic reference",
			      all.asked != 0 && all.nondeterministic == NULL, "%s",
			      all.asked == 0 ? "no witness could be made" : all.nondeterministic);
	(void)pctl_gate_check(g, "observable reference", all.n_bytes != 0 && all.varies, "%s",
			      all.n_bytes == 0 ? "no byte of output"
					       : "every witness has the same answer");
}

/* ---- 6: rules --------------------------------------------------------------------------------- */

static const char *rules_fault(const pctl_op_rules *r)
{
	if (r == NULL || r->n_laws + r->n_classes + r->n_boundaries + r->n_alternates == 0)
		return "no law, class, boundary or alternate";
	if ((r->n_laws != 0 && r->laws == NULL) || (r->n_classes != 0 && r->classes == NULL) ||
	    (r->n_boundaries != 0 && r->boundaries == NULL) ||
	    (r->n_alternates != 0 && r->alternates == NULL))
		return "the op gives a number of rules, but no table of them";
	for (uint32_t i = 0; i < r->n_laws; i++)
		if (r->laws[i].law < PCTL_LAW_COMMUTATIVE || r->laws[i].law > PCTL_LAW_CUSTOM)
			return "a law of an unknown kind";
	return NULL;
}

void pctl_gate_admission(pctl_gate *g)
{
	pctl_kernels *kernels = pctl_kernels_create(g->b->ops);
	const char *why = rules_fault(g->rules);

	if (kernels == NULL) {
		pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
		return;
	}
	category(g);
	signature(g, kernels);
	zero_overhead(g, kernels);
	reference(g);
	(void)pctl_gate_check(g, "rules", why == NULL, "%s", why);
	pctl_kernels_destroy(kernels);
}
