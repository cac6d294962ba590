/* Laws of plan ops: the op's library says what is to be run and compared, or judges bytes; the host runs it on the device
 * under proof, holds all bytes and compares them itself (pctl_law_sink of oplib.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/plans.h"
#include "runtime/graph/type.h"

#define ROUNDS_MOST 16u
#define TENSORS_MOST 1024u
#define BYTES_MOST (1ull << 30) /* of what one case makes */

int pctl_plan_law_of(const pctl_op_ref *op, uint32_t index, pctl_plan_law *out)
{
	const pctl_op_rules *rules = op->lib->rules(op->inst, op->index);
	const pctl_law *said = rules == NULL ? NULL : &rules->laws[index];

	if (said == NULL || said->law != PCTL_LAW_CUSTOM || !(said->a & PCTL_LAW_JUDGED) ||
	    said->other == NULL || said->custom == NULL || !PCTL_HAS(op->lib, pctl_oplib, law) ||
	    op->lib->law == NULL)
		return 0;
	*out = (pctl_plan_law){.text = said->custom,
			       .name = said->other,
			       .index = index,
			       .measured = (said->a & PCTL_LAW_MEASURED) != 0,
			       .composed = (said->a & PCTL_LAW_COMPOSED) != 0};
	return 1;
}

int pctl_plan_law_find(const pctl_op_ref *op, const char *text, pctl_plan_law *out)
{
	const pctl_op_rules *rules = op->lib->rules(op->inst, op->index);

	for (uint32_t i = 0; rules != NULL && i < rules->n_laws; i++)
		if (pctl_plan_law_of(op, i, out) && strcmp(out->text, text) == 0)
			return 1;
	return 0;
}

/* One case under check. Tensors do not move while the library looks at them. */
typedef struct checking {
	const pctl_plan_judge *judge;
	const pctl_problem *p;
	const pctl_call *call;
	pctl_verdict *out;
	pctl_tensor_type types[TENSORS_MOST];
	pctl_span tensors[TENSORS_MOST];
	const char *names[TENSORS_MOST]; /* of ports, for messages */
	uint32_t n, n_borrowed;		 /* the problem's and its answer's come first */
	uint32_t n_claims, again;
	uint64_t bytes;
	pctl_status ended; /* what every further call of the library gets */
} checking;

static pctl_status end(checking *c, pctl_status status)
{
	c->ended = status;
	return status;
}

static pctl_status senseless(checking *c, const char *what, uint64_t found, uint64_t allowed)
{
	return end(c, pctl_refuse(c->call, PC5353_PLAN_LAW,
				  "%s@%" PRIu32 ", \"%.120s\": %s %" PRIu64 ", where %" PRIu64
				  " is right",
				  c->p->op.desc->name, c->p->op.desc->version, c->judge->law->text,
				  what, found, allowed));
}

static pctl_status broken(checking *c)
{
	c->out->failed = 1;
	return end(c, PCTL_E_MISMATCH);
}

/* Takes data over. */
static pctl_status add(checking *c, const pctl_tensor_type *t, uint8_t *data, uint64_t bytes,
		       const char *name)
{
	if (c->n == TENSORS_MOST || bytes > BYTES_MOST - c->bytes) {
		free(data);
		return senseless(c, "tensors or bytes over a limit:", c->n, TENSORS_MOST);
	}
	c->types[c->n] = *t;
	c->tensors[c->n] = (pctl_span){data, bytes};
	c->names[c->n++] = name;
	c->bytes += bytes;
	return PCTL_OK;
}

static pctl_status add_tensor(void *ctx, const pctl_tensor_type *t, const void *data,
			      uint64_t n_bytes, uint32_t *number)
{
	checking *c = ctx;
	uint8_t *copy;
	uint64_t n;

	*number = c->n;
	if (c->ended != PCTL_OK)
		return c->ended;
	if (t->rank > PCTL_RANK_MAX || !pctl_type_bytes(t, &n) || n > BYTES_MOST)
		return senseless(c, "a tensor of rank", t->rank, PCTL_RANK_MAX);
	if (n_bytes != n)
		return senseless(c, "a tensor of bytes", n_bytes, n);
	copy = calloc(1, n + 16);
	if (copy == NULL)
		return end(c, pctl_no_memory(c->call, "a law"));
	if (n != 0)
		memcpy(copy, data, n);
	return add(c, t, copy, n, "tensor");
}

static pctl_status set_attrs(checking *c, pctl_problem *q, const pctl_attr *attr, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < q->n_attr && strcmp(q->op.desc->attr[k].name, attr[i].name) != 0)
			k++;
		if (k == q->n_attr)
			return senseless(c, "a use with an unknown attribute, number", i, 0);
		pctl_problem_set(q, k, attr[i].text);
	}
	return PCTL_OK;
}

static pctl_status set_inputs(checking *c, pctl_problem *q, const uint32_t *inputs, uint32_t n,
			      uint32_t n_out)
{
	pctl_status status = PCTL_OK;

	if (!pctl_op_takes(q->op.desc, n) || n_out != q->op.desc->n_out)
		return senseless(c, "a use with inputs", n, q->n_in);
	q->n_in = n;
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		if (inputs[i] >= c->n)
			return senseless(c, "a use of tensor", inputs[i], c->n - 1u);
		status = pctl_problem_port(q, i, &c->types[inputs[i]], c->call);
		if (status == PCTL_OK && q->bytes[i] != c->tensors[inputs[i]].n_bytes)
			return senseless(c, "a use of bytes", c->tensors[inputs[i]].n_bytes,
					 q->bytes[i]);
		if (status == PCTL_OK && q->bytes[i] != 0)
			memcpy(q->data[i], c->tensors[inputs[i]].data, q->bytes[i]);
	}
	return status == PCTL_OK ? PCTL_OK : end(c, status);
}

/* Of a composition: what the reference says of this use, against what the device said. */
static pctl_status confirm(checking *c, const pctl_problem *q, const pctl_answer *a)
{
	const pctl_solver *reference = c->judge->reference;
	pctl_answer want;
	pctl_status status;

	if (!c->judge->law->composed)
		return PCTL_OK;
	status = reference->solve(reference->ctx, q, c->call, &want);
	if (status == PCTL_OK && pctl_answer_differs(q, a, &want, c->out))
		status = broken(c);
	pctl_answer_clear(&want);
	return status;
}

/* They go on with its answers, so one that the device refuses, or after which bytes beside were changed, is where the law
 * ends. */
static pctl_status solve(checking *c, const pctl_problem *q)
{
	const pctl_solver *device = c->judge->device;
	pctl_answer a;
	pctl_status status = device->solve(device->ctx, q, c->call, &a);

	if (status == PCTL_OK && (a.refused || a.touched[0] != '\0')) {
		snprintf(c->out->got, sizeof(c->out->got), "%s", a.refused ? "refused" : a.touched);
		snprintf(c->out->want, sizeof(c->out->want),
			 "an answer, and nothing written beside it");
		status = broken(c);
	}
	if (status == PCTL_OK)
		status = confirm(c, q, &a);
	for (uint32_t i = 0; i < a.n_out && status == PCTL_OK; i++) {
		status = add(c, &a.out[i], a.data[i], a.bytes[i], q->op.desc->out[i].name);
		a.data[i] = NULL;
	}
	pctl_answer_clear(&a);
	return status == PCTL_OK ? PCTL_OK : end(c, status);
}

static pctl_status use(void *ctx, const char *op, uint32_t version, const uint32_t *inputs,
		       uint32_t n_in, const pctl_attr *attr, uint32_t n_attr, uint32_t n_out,
		       uint32_t *first)
{
	checking *c = ctx;
	pctl_problem q;
	pctl_status status;

	*first = c->n;
	if (c->ended != PCTL_OK)
		return c->ended;
	status = pctl_problem_other(c->judge->ops, op, version, c->call, &q);
	if (status != PCTL_OK)
		return end(c, status);
	status = set_inputs(c, &q, inputs, n_in, n_out);
	if (status == PCTL_OK)
		status = set_attrs(c, &q, attr, n_attr);
	if (status == PCTL_OK && !pctl_problem_valid(&q))
		status = senseless(c, "a use that its op does not take, with inputs", n_in, n_in);
	if (status == PCTL_OK)
		status = solve(c, &q);
	pctl_problem_clear(&q);
	return status;
}

static pctl_status equal(void *ctx, uint32_t got, uint32_t want)
{
	checking *c = ctx;

	if (c->ended != PCTL_OK)
		return c->ended;
	if (got >= c->n || want >= c->n)
		return senseless(c, "a comparison of tensor", got < c->n ? want : got, c->n - 1u);
	c->n_claims++;
	return pctl_bytes_differ(c->names[got], c->types[want].dtype, &c->tensors[got],
				 &c->tensors[want], c->out)
		       ? broken(c)
		       : PCTL_OK;
}

static pctl_status judged(void *ctx, uint32_t holds, const char *got, const char *want)
{
	checking *c = ctx;

	if (c->ended != PCTL_OK)
		return c->ended;
	c->n_claims++;
	if (holds)
		return PCTL_OK;
	snprintf(c->out->got, sizeof(c->out->got), "%s", got == NULL ? "" : got);
	snprintf(c->out->want, sizeof(c->out->want), "%s", want == NULL ? "" : want);
	return broken(c);
}

static pctl_status again(void *ctx)
{
	checking *c = ctx;

	if (c->ended == PCTL_OK)
		c->again = 1;
	return c->ended;
}

static void begin(checking *c, const pctl_answer *a)
{
	const pctl_problem *p = c->p;

	for (uint32_t i = 0; i < p->n_in; i++, c->n++) {
		c->types[c->n] = p->in[i];
		c->tensors[c->n] = (pctl_span){p->data[i], p->bytes[i]};
		c->names[c->n] = pctl_op_input(p->op.desc, i)->name;
	}
	for (uint32_t i = 0; i < a->n_out; i++, c->n++) {
		c->types[c->n] = a->out[i];
		c->tensors[c->n] = (pctl_span){a->data[i], a->bytes[i]};
		c->names[c->n] = p->op.desc->out[i].name;
	}
	c->n_borrowed = c->n;
}

static pctl_status ask(checking *c, const pctl_answer *a)
{
	const pctl_law_sink sink = {
		PCTL_HEAD(pctl_law_sink), c, add_tensor, use, equal, judged, again};
	const pctl_op_ref *op = &c->p->op;
	pctl_attr attr[PCTL_ATTRS_MAX];
	const pctl_op_query q = pctl_problem_query(c->p, attr, NULL, 0);
	pctl_status status = PCTL_OK;

	for (uint32_t round = 0; status == PCTL_OK; round++) {
		const pctl_law_case known = {PCTL_HEAD(pctl_law_case),
					     c->judge->law->index,
					     round,
					     a->n_out,
					     c->n,
					     &q,
					     c->types,
					     c->tensors};

		if (round == ROUNDS_MOST)
			return senseless(c, "rounds", round + 1u, ROUNDS_MOST);
		c->again = 0;
		status = op->lib->law(op->inst, c->call, &known, &sink);
		if (c->ended != PCTL_OK || !c->again)
			break;
	}
	return c->ended != PCTL_OK ? c->ended : status;
}

pctl_status pctl_plan_law_check(const pctl_plan_judge *j, const pctl_problem *p,
				const pctl_answer *a, const pctl_call *call, pctl_verdict *out)
{
	checking *c = calloc(1, sizeof(*c));
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (c == NULL)
		return pctl_no_memory(call, "a law");
	c->judge = j;
	c->p = p;
	c->call = call;
	c->out = out;
	begin(c, a);
	status = ask(c, a);
	if (out->failed)
		status = PCTL_OK;
	out->skipped = status == PCTL_OK && !out->failed && c->n_claims == 0;
	for (uint32_t i = c->n_borrowed; i < c->n; i++)
		free(c->tensors[i].data);
	free(c);
	return status;
}
