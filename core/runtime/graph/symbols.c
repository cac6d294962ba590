/* Unification of symbols with sizes. */
#include "runtime/graph/symbols.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/diag/diag.h"

/* 1: the symbol has that value, or had none and gets it. */
static int bind(pctl_port_symbols *s, const char *name, const char *port, uint32_t dim,
		uint64_t value, const pctl_port_symbol **known)
{
	for (uint32_t i = 0; i < s->n; i++) {
		*known = &s->at[i];
		if (strcmp(s->at[i].name, name) == 0)
			return s->at[i].value == value;
	}
	if (s->n < sizeof(s->at) / sizeof(s->at[0]))
		s->at[s->n++] = (pctl_port_symbol){name, port, value, dim, 0};
	return 1;
}

int pctl_port_symbols_unify(pctl_port_symbols *s, const char *port, const pctl_type_pattern *p,
			    const pctl_tensor_type *t, uint32_t *bad,
			    const pctl_port_symbol **known)
{
	const uint32_t ahead = t->rank < p->rank ? 0 : t->rank - p->rank;

	*bad = UINT32_MAX;
	*known = NULL;
	if (p->lanes != 0 &&
	    (t->rank == 0 || t->rank > PCTL_RANK_MAX || t->dim[t->rank - 1] != p->lanes))
		return 0;
	if (t->rank > PCTL_RANK_MAX || t->rank < p->rank || (!p->any_shape && ahead != 0))
		return 0;
	for (uint32_t d = 0; d < p->rank; d++) {
		const uint64_t value = t->dim[ahead + d];

		*bad = ahead + d;
		*known = NULL;
		if (p->dim[d].name == NULL ? value != p->dim[d].value
					   : !bind(s, p->dim[d].name, port, *bad, value, known))
			return 0;
	}
	return 1;
}

/* An input does not fit, with both places: its own, and the one that the symbol has its value from. */
static pctl_status refuse_input(const pctl_op_ref *op, const pctl_op_query *q, uint32_t i,
				uint32_t bad, const pctl_port_symbol *known, const char *job,
				const pctl_pos *pos, pctl_arena *arena, const pctl_call *call)
{
	const pctl_port *port = pctl_op_input(op->desc, i);
	const char *is = pctl_type_text(arena, &q->in[i]);

	if (known == NULL)
		return pctl_refuse_at(call, PC4106_DIMENSION, pos, NULL,
				      "job \"%s\" port \"%s\" wants %s, what feeds it is %s", job,
				      port->name, port->type, is);
	return pctl_refuse_at(call, PC4106_DIMENSION, pos, NULL,
			      "job \"%s\" port \"%s\" wants %s, what feeds it is %s: %s is %" PRIu64
			      " in dimension %" PRIu32 ", port \"%s\" has %s = %" PRIu64
			      " in dimension %" PRIu32,
			      job, port->name, port->type, is, known->name, q->in[i].dim[bad], bad,
			      known->port, known->name, known->value, known->dim);
}

static pctl_status hold_inputs(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			       const pctl_pos *pos, pctl_arena *arena, pctl_port_symbols *s,
			       const pctl_call *call)
{
	pctl_type_pattern p;
	const pctl_port_symbol *known;
	uint32_t bad;

	for (uint32_t i = 0; i < q->n_in; i++) {
		const pctl_port *port = pctl_op_input(op->desc, i);
		const pctl_status status = pctl_port_parse(port->type, arena, NULL, call, &p);

		if (status != PCTL_OK)
			return status;
		if (!pctl_port_symbols_unify(s, port->name, &p, &q->in[i], &bad, &known))
			return refuse_input(op, q, i, bad, known, job, pos, arena, call);
	}
	return PCTL_OK;
}

static pctl_status hold_outputs(const pctl_op_ref *op, const pctl_tensor_type *out,
				pctl_arena *arena, pctl_port_symbols *s, const pctl_call *call)
{
	pctl_type_pattern p;
	const pctl_port_symbol *known;
	uint32_t bad;

	for (uint32_t i = 0; i < op->desc->n_out; i++) {
		const pctl_port *port = &op->desc->out[i];
		const pctl_status status = pctl_port_parse(port->type, arena, NULL, call, &p);

		if (status != PCTL_OK)
			return status;
		if (!pctl_pattern_has_dtype(&p, out[i].dtype) ||
		    !pctl_port_symbols_unify(s, port->name, &p, &out[i], &bad, &known))
			return pctl_refuse(
				call, PC4132_PLAN,
				"op \"%s\" of \"%s\" infers %s for its port \"%s\", which "
				"is declared as %s",
				op->desc->name, op->plugin,
				out[i].rank > PCTL_RANK_MAX ? "more than 8 dimensions"
							    : pctl_type_text(arena, &out[i]),
				port->name, port->type);
	}
	return PCTL_OK;
}

pctl_status pctl_op_symbols(const pctl_op_ref *op, const pctl_op_query *q,
			    const pctl_tensor_type *out, const char *job, const pctl_pos *pos,
			    const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_port_symbols s = {.n = 0};
	pctl_status status;

	if (arena == NULL)
		return pctl_no_memory(call, "symbols of an op");
	status = hold_inputs(op, q, job, pos, arena, &s, call);
	if (status == PCTL_OK && out != NULL)
		status = hold_outputs(op, out, arena, &s, call);
	pctl_arena_destroy(arena);
	return status;
}
