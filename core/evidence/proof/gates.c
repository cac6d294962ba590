/* The units of gates: for each op its admission, the independence of what judges it, and its collisions. Here: what
 * they have in common, and their list. */
#include "evidence/proof/gates.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evidence/proof/function.h"

#define WITNESSES 256u

int pctl_gate_check(pctl_gate *g, const char *name, int good, const char *fmt, ...)
{
	pctl_counterexample *c = &g->out->first;
	va_list args;

	if (g->status != PCTL_OK)
		return good;
	g->out->cases++;
	pctl_gate_internal_failure(g, pctl_hasher_update(g->hash, name, strlen(name) + 1));
	pctl_gate_internal_failure(g, pctl_hasher_update(g->hash, good ? "+" : "-", 1));
	if (good || g->out->failures++ != 0)
		return good;
	snprintf(c->law, sizeof(c->law), "%s", name);
	snprintf(c->inputs, sizeof(c->inputs), "%s@%u",
		 g->op.desc->name == NULL ? "?" : g->op.desc->name, g->op.desc->version);
	va_start(args, fmt);
	vsnprintf(c->got, sizeof(c->got), fmt, args);
	va_end(args);
	snprintf(c->want, sizeof(c->want), "the gate's condition holds");
	c->minimal = 1;
	return good;
}

void pctl_gate_internal_failure(pctl_gate *g, pctl_status status)
{
	if (g->status == PCTL_OK)
		g->status = status;
}

pctl_status pctl_gate_run(const pctl_op_ref *op, pctl_gate_checks checks, pctl_proof_context *b,
			  const pctl_call *call, pctl_block *out)
{
	pctl_gate g = {.b = b, .call = call, .op = *op, .out = out, .arena = pctl_arena_create()};
	pctl_cid cid;

	memset(out, 0, sizeof(*out));
	g.rules = op->lib->rules(op->inst, op->index);
	if (g.arena == NULL)
		g.status = pctl_no_memory(call, "a gate");
	if (g.status == PCTL_OK)
		g.status = pctl_hasher_create(call, &g.hash);
	if (g.status == PCTL_OK)
		checks(&g);
	if (g.status == PCTL_OK) {
		g.status = pctl_hasher_finish(g.hash, &cid);
		memcpy(out->digest, cid.digest, sizeof(out->digest));
		g.hash = NULL;
	}
	pctl_hasher_destroy(g.hash);
	pctl_arena_destroy(g.arena);
	return g.status;
}

uint32_t pctl_gate_track(const pctl_op_desc *op)
{
	switch (op->op_class) {
	case PCTL_CLASS_STRICT:
		return PCTL_TRACK_FLOAT;
	case PCTL_CLASS_APPROXIMATE:
		return PCTL_TRACK_APPROXIMATE;
	default:
		return PCTL_TRACK_INTEGER;
	}
}

/* ---- asking the op ---------------------------------------------------------------------------- */

uint32_t pctl_gate_dtypes(pctl_gate *g, uint32_t out[PCTL_DTYPES_MAX])
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_type_pattern pattern;

	/* As plans.c has it where nothing comes in. */
	if (g->op.desc->n_in == 0) {
		out[0] = PCTL_SCALAR_U32;
		return 1;
	}
	if (g->op.desc->in[0].type == NULL ||
	    pctl_port_parse(g->op.desc->in[0].type, g->arena, NULL, &quiet, &pattern) != PCTL_OK)
		return 0;
	memcpy(out, pattern.dtype, sizeof(pattern.dtype));
	return pattern.n_dtypes;
}

int pctl_gate_as_plan(const pctl_op_desc *op)
{
	/* Literals, domains and compositions of functions know no f64. */
	return op->kind == PCTL_OPDEF_PLAN || pctl_op_has_vectors(op) ||
	       (op->n_in != 0 && op->in[0].type != NULL && strncmp(op->in[0].type, "f64[", 4) == 0);
}

int pctl_gate_function(const pctl_op_ref *op, uint32_t dtype, pctl_op_function *out)
{
	memset(out, 0, sizeof(*out));
	return !pctl_gate_as_plan(op->desc) && pctl_gate_form(op, dtype, out);
}

int pctl_gate_form(const pctl_op_ref *op, uint32_t dtype, pctl_op_function *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_function_query ask;

	memset(out, 0, sizeof(*out));
	if (op->desc->kind != PCTL_OPDEF_FUNCTION || !pctl_function_ask(op, dtype, 5, &ask) ||
	    op->lib->function(op->inst, op->index, dtype) == NULL ||
	    op->lib->infer(op->inst, &quiet, &ask.q, &result) != PCTL_OK || result.measure != NULL)
		return 0;
	*out = (pctl_op_function){.op = *op,
				  .dtype = dtype,
				  .out_dtype = result.out[0].dtype,
				  .n_in = op->desc->n_in};
	return 1;
}

#define GUARD 64u

const uint8_t *pctl_gate_answer(pctl_gate *g, const pctl_op_function *f, const pctl_column *in,
				uint64_t n, const uint8_t *poison, uint64_t *n_bytes)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_function_query ask;
	pctl_span spans[4], out = {.n_bytes = n * pctl_dtype_bytes(f->out_dtype)};
	uint8_t *data = pctl_arena_alloc(g->arena, out.n_bytes + GUARD);

	*n_bytes = out.n_bytes;
	if (data == NULL || !pctl_function_ask(&f->op, f->dtype, n, &ask)) {
		pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
		return NULL;
	}
	memset(data + out.n_bytes, 0x5c, GUARD);
	memcpy(data, poison, out.n_bytes);
	for (uint32_t i = 0; i < f->n_in; i++)
		spans[i] = (pctl_span){in[i].data, n * pctl_dtype_bytes(f->dtype)};
	out.data = data;
	if (f->op.lib->reference(f->op.inst, &quiet, &ask.q, spans, &out) != PCTL_OK)
		return NULL;
	for (uint32_t i = 0; i < GUARD; i++)
		if (data[out.n_bytes + i] != 0x5c)
			return NULL;
	return data;
}

const pctl_column *pctl_gate_witnesses(pctl_gate *g, const pctl_op_function *f, uint64_t *n)
{
	const pctl_domain some = pctl_domain_make(PCTL_DOMAIN_ADVERSARIAL, f->dtype, f->n_in, 0, 0);
	const pctl_domain any =
		pctl_domain_make(PCTL_DOMAIN_RANDOM, f->dtype, f->n_in, g->b->seed, WITNESSES);
	const uint64_t bytes = pctl_dtype_bytes(f->dtype);
	const uint64_t half = some.n_cases < WITNESSES ? some.n_cases : WITNESSES;
	pctl_column *columns = pctl_arena_array(g->arena, f->n_in, sizeof(*columns));
	pctl_column rest[4];

	*n = half + WITNESSES;
	for (uint32_t i = 0; columns != NULL && i < f->n_in; i++) {
		columns[i] = (pctl_column){f->dtype, 0, *n, pctl_arena_alloc(g->arena, *n * bytes)};
		if (columns[i].data == NULL)
			columns = NULL;
		else
			rest[i] = (pctl_column){f->dtype, 0, WITNESSES,
						columns[i].data + half * bytes};
	}
	if (columns == NULL) {
		pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
		return NULL;
	}
	/* From all over the domain, and its first tuple, which is zeros. */
	for (uint64_t i = 0; i < half; i++) {
		pctl_column at[4];

		for (uint32_t k = 0; k < f->n_in; k++)
			at[k] = (pctl_column){f->dtype, 0, 1, columns[k].data + i * bytes};
		pctl_domain_fill(&some, i * some.n_cases / half, 1, at);
	}
	pctl_domain_fill(&any, 0, WITNESSES, rest);
	return columns;
}

/* ---- units ------------------------------------------------------------------------------------ */

typedef struct gate_unit {
	pctl_op_ref op;
	pctl_gate_checks checks;
} gate_unit;

static pctl_status run(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
		       const pctl_call *call, pctl_block *out)
{
	const gate_unit *unit = u->ctx;

	(void)block;
	return pctl_gate_run(&unit->op, unit->checks, b, call, out);
}

static pctl_status add(pctl_units *list, const pctl_op_ref *op, const char *name,
		       const char *domain, uint64_t n_cases, pctl_gate_checks checks,
		       const pctl_call *call)
{
	gate_unit *ctx = pctl_arena_alloc(list->arena, sizeof(*ctx));
	pctl_unit u = {.name = name,
		       .domain = domain,
		       .kind = PCTL_UNIT_GATE,
		       .level = 1,
		       .track = pctl_gate_track(op->desc),
		       .flags = PCTL_UNIT_HOST,
		       .n_cases = n_cases,
		       .n_blocks = 1,
		       .ctx = ctx,
		       .run = run};

	u.op = u.subject =
		pctl_arena_printf(list->arena, "%s@%u", op->desc->name, op->desc->version);
	if (ctx == NULL || u.op == NULL)
		return pctl_no_memory(call, "units of proof");
	*ctx = (gate_unit){*op, checks};
	return pctl_units_add(list, &u, call);
}

pctl_status pctl_gate_units(pctl_proof_context *b, const pctl_selection *s, const pctl_call *call,
			    pctl_units *list)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < b->ops->count(b->ops->ctx); i++) {
		const pctl_op_rules *rules;
		pctl_op_ref op;
		uint32_t peers;

		b->ops->at(b->ops->ctx, i, &op);
		if (pctl_gate_track(op.desc) != s->track || !pctl_selection_has(s, op.desc))
			continue;
		status = add(list, &op, "admission", "six gates", 6, pctl_gate_admission, call);
		if (pctl_gate_as_plan(op.desc))
			continue;
		rules = op.lib->rules(op.inst, op.index);
		peers = pctl_gate_peers(b->ops, &op);
		if (status == PCTL_OK)
			status = add(list, &op, "independence",
				     "the op's laws, alternates and oracle",
				     rules == NULL ? 1 : 2ull + rules->n_laws + rules->n_alternates,
				     pctl_gate_independence, call);
		if (status == PCTL_OK && peers != 0)
			status = add(list, &op, "collisions",
				     "ops of the same library, arity and class", peers,
				     pctl_gate_collisions, call);
	}
	return status;
}
