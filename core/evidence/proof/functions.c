/* The units of function ops: which domains parity and each law are checked on. Running them is functions_run.c. */
#include "evidence/proof/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/eval/float.h"
#include "evidence/proof/function.h"
#include "evidence/proof/gates.h"
#include "evidence/proof/regression.h"

static const uint32_t dtypes[] = {PCTL_SCALAR_U32,  PCTL_SCALAR_I32, PCTL_SCALAR_U64,
				  PCTL_SCALAR_I64,  PCTL_DTYPE_U128, PCTL_SCALAR_F16,
				  PCTL_SCALAR_BF16, PCTL_SCALAR_F32};

/* The function whose units are being listed. */
struct listing {
	pctl_proof_context *b;
	const pctl_selection *s;
	const pctl_call *call;
	pctl_units *list;
	pctl_functions *shared;
	pctl_op_function f;
	const char *subject, *op;
	char program[PCTL_CID_TEXT_SIZE];
	pctl_status status;
};

static const char *domain_name(uint32_t kind)
{
	static const char *const names[] = {
		"",	    "8 bits",	     "16 bits", "16 bits lattice", "16 bits pairs",
		"examples", "chosen values", "random"};

	return names[kind <= PCTL_DOMAIN_RANDOM ? kind : 0];
}

/* A unit over a domain; nothing where the domain has no cases. like: kind, level, run and name's first part. */
static void add(struct listing *l, const pctl_unit *like, const pctl_domain *d,
		const pctl_law_equation *law, uint32_t again)
{
	pctl_function_unit *ctx;
	pctl_unit u = *like;
	char domain[96];

	if (l->status != PCTL_OK || d->n_cases == 0)
		return;
	ctx = pctl_arena_alloc(l->list->arena, sizeof(*ctx));
	pctl_domain_describe(d, domain, sizeof(domain));
	u.domain = pctl_arena_dup(l->list->arena, domain);
	if (law != NULL)
		u.name = pctl_arena_printf(l->list->arena, "%s, %s", law->name,
					   u.kind == PCTL_UNIT_REGRESSION ? "kept"
									  : domain_name(d->kind));
	if (ctx == NULL || u.domain == NULL || u.name == NULL) {
		l->status = pctl_no_memory(l->call, "units of proof");
		return;
	}
	*ctx = (pctl_function_unit){l->shared, l->f, *d, law, again, 0};
	u.subject = l->subject;
	u.op = l->op;
	u.track = l->s->track;
	u.n_cases = d->n_cases;
	u.n_blocks = (d->n_cases + PCTL_PROOF_BLOCK - 1) / PCTL_PROOF_BLOCK;
	u.ctx = ctx;
	l->status = pctl_units_add(l->list, &u, l->call);
}

/* The counterexamples kept of this subject and law. */
static pctl_domain kept(struct listing *l, const char *law, uint32_t n_vars)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(l->f.dtype);
	pctl_domain d = {.kind = PCTL_DOMAIN_EXAMPLES, .dtype = l->f.dtype, .n_vars = n_vars};
	uint8_t(*values)[16] = NULL;

	if (l->b->n_regressions != 0)
		values = pctl_arena_array(l->list->arena, (size_t)l->b->n_regressions * 4,
					  sizeof(*values));
	for (uint32_t i = 0; values != NULL && n_vars != 0 && i < l->b->n_regressions; i++) {
		pctl_regression r;

		if (pctl_regression_parse(l->b->regressions[i], &r) &&
		    strcmp(r.subject, l->subject) == 0 && strcmp(r.law, law) == 0 &&
		    pctl_regression_values(r.inputs, n_vars, bytes, values + d.n_kept * n_vars))
			d.n_kept++;
	}
	if (l->b->n_regressions != 0 && values == NULL)
		l->status = pctl_no_memory(l->call, "units of proof");
	d.n_cases = d.n_kept;
	d.kept = (const uint8_t(*)[16])values;
	return d;
}

static pctl_domain examples(struct listing *l)
{
	const pctl_op_rules *r = l->f.op.lib->rules(l->f.op.inst, l->f.op.index);
	const uint32_t n = r == NULL ? 0 : r->n_classes + r->n_boundaries;
	const pctl_example **all = pctl_arena_array(l->list->arena, n + 1u, sizeof(*all));
	pctl_domain d =
		pctl_domain_make(PCTL_DOMAIN_EXAMPLES, l->f.dtype, l->f.n_in, l->b->seed, n);

	if (all == NULL) {
		l->status = pctl_no_memory(l->call, "units of proof");
		return d;
	}
	for (uint32_t i = 0; i < n; i++)
		all[i] = i < r->n_classes ? &r->classes[i] : &r->boundaries[i - r->n_classes];
	d.examples = all;
	return d;
}

static int is_half(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16;
}

/* The domains that are as large as they are, whatever --cases says; pairs only of parity. */
static uint32_t fixed_kinds(uint32_t dtype, uint32_t flags, uint32_t out[4])
{
	uint32_t n = 0;

	if (is_half(dtype)) {
		out[n++] = PCTL_DOMAIN_EXHAUSTIVE16;
		out[n++] = PCTL_DOMAIN_LATTICE16;
		if (flags & PCTL_PROOF_PAIRS)
			out[n++] = PCTL_DOMAIN_PAIRS16;
	} else {
		out[n++] = PCTL_DOMAIN_EXHAUSTIVE8;
	}
	out[n++] = PCTL_DOMAIN_ADVERSARIAL;
	return n;
}

static void parity(struct listing *l)
{
	pctl_unit u = {.kind = PCTL_UNIT_PARITY, .level = 1, .run = pctl_function_run_parity};
	pctl_domain d = examples(l);
	uint32_t kinds[4], n = fixed_kinds(l->f.dtype, l->b->flags, kinds);

	memcpy(u.program, l->program, sizeof(u.program));
	u.name = domain_name(PCTL_DOMAIN_EXAMPLES);
	add(l, &u, &d, NULL, 0);
	for (uint32_t i = 0; i < n; i++) {
		d = pctl_domain_make(kinds[i], l->f.dtype, l->f.n_in, l->b->seed, 0);
		u.name = domain_name(kinds[i]);
		add(l, &u, &d, NULL, 0);
	}
	d = pctl_domain_make(PCTL_DOMAIN_RANDOM, l->f.dtype, l->f.n_in, l->b->seed, l->b->cases);
	u.name = domain_name(PCTL_DOMAIN_RANDOM);
	add(l, &u, &d, NULL, 0);
	/* A unit of its own: whoever replays a certificate may have kept others. */
	d = kept(l, "parity", l->f.n_in);
	u.kind = PCTL_UNIT_REGRESSION;
	u.name = "parity, kept";
	add(l, &u, &d, NULL, 0);
}

/* 1 when no op but f is called. */
static int speaks_of_itself(const pctl_law_term *t, const pctl_op_function *f)
{
	if (t->kind != PCTL_LAW_TERM_CALL)
		return 1;
	for (uint32_t i = 0; i < t->fn.n_in; i++)
		if (!speaks_of_itself(t->args[i], f))
			return 0;
	return pctl_function_same(&t->fn, f);
}

static void law(struct listing *l, const pctl_law_equation *e)
{
	/* A guard leaves out some of them; the witnesses must not become few. */
	const uint64_t cases = e->n_guards != 0 ? 2 * l->b->cases : l->b->cases;
	pctl_unit u = {.kind = PCTL_UNIT_LAW, .level = 2, .run = pctl_function_run_law};
	uint32_t kinds[4], n = fixed_kinds(l->f.dtype, 0, kinds);
	pctl_domain d;

	if (speaks_of_itself(e->claim.left, &l->f) && speaks_of_itself(e->claim.right, &l->f))
		memcpy(u.program, l->program, sizeof(u.program));
	/* Of no operands there is one case. */
	d = pctl_domain_make(PCTL_DOMAIN_EXAMPLES, l->f.dtype, e->n_vars, l->b->seed, 0);
	add(l, &u, &d, e, 0);
	for (uint32_t i = 0; i < n; i++) {
		d = pctl_domain_make(kinds[i], l->f.dtype, e->n_vars, l->b->seed, 0);
		add(l, &u, &d, e, 0);
	}
	d = pctl_domain_make(PCTL_DOMAIN_RANDOM, l->f.dtype, e->n_vars, l->b->seed, cases);
	add(l, &u, &d, e, 0);
	d = kept(l, e->text, e->n_vars);
	u.kind = PCTL_UNIT_REGRESSION;
	add(l, &u, &d, e, 0);
}

static void laws(struct listing *l)
{
	const pctl_unit unchecked = {.kind = PCTL_UNIT_LAW,
				     .level = 2,
				     .name = "laws that cannot be checked",
				     .run = pctl_function_run_unchecked};
	pctl_domain one = {.kind = PCTL_DOMAIN_EXAMPLES, .dtype = l->f.dtype, .n_cases = 1};
	pctl_law_equation *all;
	uint32_t n, n_prose;
	/* What is wrong is told when the unit is run, which stands for all that cannot be. */
	pctl_status status =
		pctl_laws_of(l->b->ops, &l->f, l->list->arena, NULL, &all, &n, &n_prose);

	if (status == PCTL_E_NOMEM)
		l->status = pctl_no_memory(l->call, "units of proof");
	for (uint32_t i = 0; l->status == PCTL_OK && i < n; i++)
		law(l, &all[i]);
	if (status != PCTL_OK || n_prose != 0)
		add(l, &unchecked, &one, NULL, 0);
}

static void determinism(struct listing *l)
{
	static const char *const names[] = {"", "repeated", "shuffled", "another session"};
	const uint64_t n = l->b->cases < PCTL_PROOF_BLOCK ? l->b->cases : PCTL_PROOF_BLOCK;
	pctl_unit u = {.kind = PCTL_UNIT_DETERMINISM, .level = 2, .run = pctl_function_run_again};
	const pctl_domain d = pctl_domain_make(PCTL_DOMAIN_RANDOM, l->f.dtype, l->f.n_in,
					       l->b->seed, n == 0 ? 1 : n);

	memcpy(u.program, l->program, sizeof(u.program));
	for (uint32_t again = PCTL_AGAIN_REPEAT; again <= PCTL_AGAIN_SESSION; again++) {
		if (again == PCTL_AGAIN_SESSION && l->b->open_again == NULL)
			continue;
		u.name = names[again];
		add(l, &u, &d, NULL, again);
	}
}

static void function_units(struct listing *l)
{
	char subject[PCTL_FUNCTION_NAME];

	l->subject = pctl_arena_dup(l->list->arena, pctl_function_name(&l->f, subject));
	if (l->subject == NULL || l->op == NULL) {
		l->status = pctl_no_memory(l->call, "units of proof");
		return;
	}
	l->status = pctl_function_program(l->b, &l->f, l->call, l->program);
	if (l->status == PCTL_OK)
		parity(l);
	if (l->s->level >= 2) {
		laws(l);
		determinism(l);
	}
}

static uint32_t track_of(const pctl_op_desc *op)
{
	return op->op_class == PCTL_CLASS_INTEGER  ? PCTL_TRACK_INTEGER
	       : op->op_class == PCTL_CLASS_STRICT ? PCTL_TRACK_FLOAT
						   : PCTL_TRACK_APPROXIMATE;
}

pctl_status pctl_function_units(pctl_proof_context *b, const pctl_selection *s,
				const pctl_call *call, pctl_units *list)
{
	struct listing l = {.b = b, .s = s, .call = call, .list = list};

	l.shared = calloc(1, sizeof(*l.shared));
	if (l.shared == NULL)
		return pctl_no_memory(call, "units of proof");
	l.shared->b = b;
	l.status = pctl_units_on_destroy(list, pctl_functions_release, l.shared, call);
	if (l.status != PCTL_OK) {
		free(l.shared);
		return l.status;
	}
	for (uint32_t i = 0; l.status == PCTL_OK && i < b->ops->count(b->ops->ctx); i++) {
		pctl_op_ref op;

		b->ops->at(b->ops->ctx, i, &op);
		if (pctl_gate_as_plan(op.desc) || track_of(op.desc) != s->track ||
		    s->track == PCTL_TRACK_APPROXIMATE || !pctl_selection_has(s, op.desc))
			continue;
		l.op = pctl_arena_printf(list->arena, "%s@%" PRIu32, op.desc->name,
					 op.desc->version);
		for (uint32_t k = 0;
		     l.status == PCTL_OK && l.op != NULL && k < sizeof(dtypes) / sizeof(dtypes[0]);
		     k++)
			if (pctl_function_find(b->ops, l.op, NULL, dtypes[k], &l.f))
				function_units(&l);
		if (l.op == NULL)
			l.status = pctl_no_memory(call, "units of proof");
	}
	return l.status;
}
