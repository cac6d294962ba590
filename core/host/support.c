/* Asking ops about element types; see support.h. Nothing runs: an op's infer is given small inputs of many shapes until it takes
 * some of the type asked for, or all were refused. */
#include "host/support.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "foundation/dtype/dtype.h"
#include "runtime/graph/type.h"

#define SIDE 4u /* elements along a dimension, where no block needs more */
#define SHAPES 9u
#define NOTHING UINT64_MAX /* a dimension without elements */
#define TRIES 30000u

/* Shapes for a port that leaves its shape open: 0 stands for SIDE, or for a block. */
static const struct {
	uint32_t rank;
	uint64_t dim[4];
} shapes[SHAPES] = {{2, {1, 0}},       {1, {0}},    {2, {0, 0}}, {2, {0, 1}},	{3, {1, 1, 0}},
		    {4, {1, 1, 1, 0}}, {2, {1, 1}}, {1, {1}},	 {1, {NOTHING}}};
/* Values for attributes that must be given. */
static const char *const texts[] = {"",	   "f32", "1",	   "0",	  "add",    "4",  "1,4",
				    "0,1", "4,4", "1,1,4", "0.5", "ab->ab", "i8", "q8_0"};
#define N_TEXTS ((uint32_t)(sizeof(texts) / sizeof(texts[0])))

typedef struct asking {
	const pctl_op_ref *op;
	const pctl_call *call;
	pctl_type_pattern pattern[PCTL_PORTS_MAX];
	uint32_t port, dtype, tries, text;
	uint32_t shape[PCTL_PORTS_MAX];
	const char *
		name; /* of a dimension that is `times` the side, since it is there for as many parts */
	uint32_t times;
	uint32_t other; /* type of the ports but `port`, where they declare it; else their first */
	pctl_support_cell *cell;
} asking;

static uint64_t side(const asking *a)
{
	const pctl_dtype *t = pctl_dtype_of(a->dtype);
	const pctl_dtype *made = pctl_dtype_named(texts[a->text], strlen(texts[a->text]));
	const uint64_t n = made != NULL && made->block > t->block ? made->block : t->block;

	return n > SIDE ? n : SIDE;
}

/* A number that the attribute takes. */
static int is_number(const pctl_attr_desc *d, const pctl_attr *a)
{
	int64_t v;

	if (d->kind == PCTL_ATTR_U64)
		return pctl_num_parse_u64(a->text, strlen(a->text), &(uint64_t){0}) &&
		       (d->max == 0 || (a->u64 >= d->min && a->u64 <= d->max));
	return d->kind != PCTL_ATTR_I64 || pctl_num_parse_i64(a->text, strlen(a->text), &v);
}

/* 0: the text is none for an attribute that must be given. */
static int give_attrs(asking *a, uint32_t text)
{
	int fits = 1;

	const pctl_op_desc *d = a->op->desc;

	a->cell->n_attr = d->n_attr;
	for (uint32_t i = 0; i < d->n_attr; i++) {
		const pctl_attr_desc *from = &d->attr[i];
		pctl_attr *to = &a->cell->attr[i];

		to->name = from->name;
		to->text = from->default_text != NULL ? from->default_text : texts[text];
		to->u64 = 0;
		if (from->kind == PCTL_ATTR_BOOL)
			to->u64 = strcmp(to->text, "true") == 0 || strcmp(to->text, "1") == 0;
		else if (from->kind == PCTL_ATTR_I64)
			(void)pctl_num_parse_i64(to->text, strlen(to->text), (int64_t *)&to->u64);
		else if (from->kind == PCTL_ATTR_U64)
			(void)pctl_num_parse_u64(to->text, strlen(to->text), &to->u64);
		fits = fits && (from->default_text != NULL || is_number(from, to));
	}
	return fits;
}

static int is_named(const asking *a, const pctl_type_pattern *p, uint32_t k)
{
	return a->name != NULL && !p->any_shape && p->dim[k].name != NULL &&
	       strcmp(p->dim[k].name, a->name) == 0;
}

static void give_types(asking *a)
{
	for (uint32_t i = 0; i < a->op->desc->n_in; i++) {
		const pctl_type_pattern *p = &a->pattern[i];
		pctl_tensor_type *t = &a->cell->in[i];

		memset(t, 0, sizeof(*t));
		t->dtype = i == a->port				 ? a->dtype
			   : pctl_pattern_has_dtype(p, a->other) ? a->other
								 : p->dtype[0];
		t->rank = p->any_shape ? shapes[a->shape[i]].rank : p->rank;
		t->rank += p->lanes != 0;
		for (uint32_t k = 0; k < t->rank; k++) {
			t->dim[k] = p->lanes != 0 && k + 1 == t->rank ? p->lanes
				    : p->any_shape		      ? shapes[a->shape[i]].dim[k]
				    : p->dim[k].name != NULL	      ? 0
								      : p->dim[k].value;
			if (t->dim[k] == 0)
				t->dim[k] = side(a) * (is_named(a, p, k) ? a->times : 1);
			else if (t->dim[k] == NOTHING)
				t->dim[k] = 0;
		}
	}
}

static pctl_status infer(asking *a, const pctl_call *call)
{
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query),
				 .op = a->op->index,
				 .n_in = a->op->desc->n_in,
				 .in = a->cell->in,
				 .attr = a->cell->attr,
				 .n_attr = a->cell->n_attr};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < q.n_in && status == PCTL_OK; i++) {
		uint64_t n;

		/* Rows that are no whole blocks are no type. */
		if (!pctl_type_bytes(&q.in[i], &n))
			status = PCTL_E_INVALID;
	}
	return status == PCTL_OK ? a->op->lib->infer(a->op->inst, call, &q, &result) : status;
}

/* All shapes of the ports from i on. */
static int any_shape_fits(asking *a, uint32_t i)
{
	if (i == a->op->desc->n_in) {
		give_types(a);
		return ++a->tries <= TRIES && infer(a, NULL) == PCTL_OK;
	}
	for (a->shape[i] = 0; a->shape[i] < (a->pattern[i].any_shape ? SHAPES : 1u); a->shape[i]++)
		if (any_shape_fits(a, i + 1))
			return 1;
	return 0;
}

/* All dimensions alike; then each of those that have a name three and four times as long, as gates of a cell are. */
static int any_sizes_fit(asking *a)
{
	a->name = NULL;
	if (any_shape_fits(a, 0))
		return 1;
	for (uint32_t p = 0; p < a->op->desc->n_in; p++)
		for (uint32_t k = 0; !a->pattern[p].any_shape && k < a->pattern[p].rank; k++)
			for (a->times = 3; a->times <= 4; a->times++) {
				a->name = a->pattern[p].dim[k].name;
				if (a->name != NULL && any_shape_fits(a, 0))
					return 1;
			}
	a->name = NULL;
	return 0;
}

/* All types of the other ports: first the type asked for, then those that some port declares. */
static int any_types_fit(asking *a)
{
	a->other = a->dtype;
	if (any_sizes_fit(a))
		return 1;
	for (uint32_t p = 0; p < a->op->desc->n_in; p++)
		for (uint32_t k = 0; p != a->port && k < a->pattern[p].n_dtypes; k++) {
			a->other = a->pattern[p].dtype[k];
			if (any_sizes_fit(a))
				return 1;
		}
	return 0;
}

/* ---- what hangs together ----------------------------------------------------------------- */

#define PROBLEMS 64u
#define SEED 1u

static pctl_status take_input(void *ctx, uint32_t port, const pctl_tensor_type *t, const void *data,
			      uint64_t n_bytes)
{
	asking *a = ctx;

	(void)data;
	(void)n_bytes;
	if (port < a->op->desc->n_in)
		a->cell->in[port] = *t;
	return PCTL_OK;
}

/* Attributes have their defaults: what others would be needed for is left to what was tried before. */
static pctl_status take_attr(void *ctx, uint32_t i, const char *text)
{
	(void)ctx;
	(void)i;
	(void)text;
	return PCTL_OK;
}

static pctl_status take_measured(void *ctx, uint64_t value)
{
	(void)ctx;
	(void)value;
	return PCTL_OK;
}

static pctl_status take_rigid(void *ctx)
{
	(void)ctx;
	return PCTL_OK;
}

/* The types of a problem that the op has for proofs, where its inputs hang together as no shapes of ours would: a graph and what lies on its nodes. */
static int any_problem_fits(asking *a)
{
	const pctl_oplib *lib = a->op->lib;
	const pctl_problem_sink sink = {
		PCTL_HEAD(pctl_problem_sink), a, take_input, take_attr, take_measured, take_rigid};
	const pctl_op_problems *of =
		PCTL_HAS(lib, pctl_oplib, problem) && lib->problems != NULL && lib->problem != NULL
			? lib->problems(a->op->inst, a->op->index)
			: NULL;

	for (uint64_t i = 0; of != NULL && i < of->n && i < PROBLEMS; i++)
		for (uint32_t k = 0; k < a->pattern[0].n_dtypes; k++) {
			memset(a->cell->in, 0, sizeof(a->cell->in));
			if (lib->problem(a->op->inst, NULL, a->op->index, a->pattern[0].dtype[k], i,
					 SEED, &sink) == PCTL_OK &&
			    a->cell->in[a->port].dtype == a->dtype && infer(a, NULL) == PCTL_OK)
				return 1;
		}
	return 0;
}

static int needs_text(const pctl_op_desc *d)
{
	for (uint32_t i = 0; i < d->n_attr; i++)
		if (d->attr[i].default_text == NULL)
			return 1;
	return 0;
}

/* What infer says, of all that was tried, to inputs of one shape and as far as possible one type. */
static pctl_status refusal(asking *a, pctl_arena *arena)
{
	pctl_diag_list *said = pctl_diag_list_create();
	const pctl_diag *d;

	if (said == NULL)
		return pctl_no_memory(a->call, "a question");
	a->other = a->dtype;
	for (uint32_t s = 0; s < SHAPES && pctl_diag_list_count(said) == 0; s++) {
		for (uint32_t i = 0; i < a->op->desc->n_in; i++)
			a->shape[i] = s;
		give_types(a);
		(void)infer(a, pctl_diag_list_call(said));
	}
	d = pctl_diag_list_count(said) == 0 ? NULL : pctl_diag_list_at(said, 0);
	a->cell->code = d == NULL ? PC4201_OP_TYPE : d->code;
	a->cell->reason = pctl_arena_dup(arena, d == NULL ? "refused without a word" : d->message);
	pctl_diag_list_destroy(said);
	return a->cell->reason == NULL ? pctl_no_memory(a->call, "a question") : PCTL_OK;
}

pctl_status pctl_support_ask(const pctl_op_ref *op, uint32_t port, uint32_t dtype,
			     pctl_arena *arena, const pctl_call *call, pctl_support_cell *out)
{
	const pctl_op_desc *d = op->desc;
	asking a = {.op = op, .call = call, .port = port, .dtype = dtype, .cell = out};
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	out->n_in = d->n_in;
	for (uint32_t i = 0; i < d->n_in && status == PCTL_OK; i++)
		status = pctl_port_parse(d->in[i].type, arena, NULL, call, &a.pattern[i]);
	if (status != PCTL_OK)
		return status;
	if (!pctl_pattern_has_dtype(&a.pattern[port], dtype)) {
		out->code = PC4102_EDGE_TYPE;
		out->why = pctl_support_why(op, port, dtype);
		out->reason = pctl_arena_printf(arena, "port \"%s\" wants %s", d->in[port].name,
						d->in[port].type);
		return out->reason == NULL ? pctl_no_memory(call, "a question") : PCTL_OK;
	}
	for (uint32_t t = 0; t < (needs_text(d) ? N_TEXTS : 1u) && d->n_attr <= PCTL_SUPPORT_ATTRS;
	     t++) {
		a.tries = 0;
		a.text = t;
		if (give_attrs(&a, t) && any_types_fit(&a))
			return PCTL_OK;
	}
	a.text = needs_text(d) ? 1 : 0;
	(void)give_attrs(&a, a.text);
	if (any_problem_fits(&a))
		return PCTL_OK;
	out->why = pctl_support_why(op, port, dtype);
	return refusal(&a, arena);
}
