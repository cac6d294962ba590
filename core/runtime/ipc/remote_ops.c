/* The slots of an op library in a worker; see remote_ops.h. */
#include "runtime/ipc/remote_ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/ipc/ops_wire.h"
#include "runtime/ipc/remote_private.h"

#define MEASURES_MAX 64u
#define SPAN_ALIGN 64u

struct pctl_remote_ops {
	pctl_remote *r;
	pctl_oplib table;
	pctl_arena *arena;
	pctl_ops_described *ops;
	uint32_t n_ops;
	/* Names of measures that infer has given: they live as long as the instance. */
	const char *measures[MEASURES_MAX];
	uint32_t n_measures;
};

static pctl_remote_ops *of(pctl_instance *inst)
{
	return (pctl_remote_ops *)(void *)inst;
}

/* ---- what is known ------------------------------------------------------------------------ */

static uint32_t op_count(pctl_instance *inst)
{
	return of(inst)->n_ops;
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	return i < of(inst)->n_ops ? &of(inst)->ops[i].desc : NULL;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	return op < of(inst)->n_ops ? &of(inst)->ops[op].rules : NULL;
}

static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	uint32_t i;

	for (i = 0; op < of(inst)->n_ops && i < PCTL_OPS_DTYPES; i++)
		if (pctl_ops_dtypes[i] == dtype)
			return of(inst)->ops[op].functions[i];
	return NULL;
}

/* ---- what is asked ------------------------------------------------------------------------ */

/* A caller that is told whether the library said anything. */
typedef struct listening {
	pctl_call call;
	const pctl_call *to;
	uint32_t n_heard;
} listening;

static void hear(void *ctx, const pctl_diag *d)
{
	listening *l = ctx;

	l->n_heard++;
	if (l->to->diag)
		l->to->diag(l->to->ctx, d);
}

static uint32_t is_cancelled(void *ctx)
{
	const listening *l = ctx;

	return pctl_is_cancelled(l->to);
}

static const pctl_call *listen_for(listening *l, const pctl_call *to)
{
	memset(l, 0, sizeof(*l));
	l->to = to;
	l->call = (pctl_call){PCTL_HEAD(pctl_call), l, hear, is_cancelled, to ? to->trace_id : 0};
	return to ? &l->call : NULL;
}

/* A refusal says why. */
static pctl_status said(const pctl_remote_ops *o, const listening *l, const char *what,
			const pctl_op_query *q, pctl_status s)
{
	if (s && l->to && !l->n_heard)
		pctl_refuse(l->to, PC3118_WORKER_WORDLESS,
			    "op library \"%s\" refused %s of %s with \"%s\" and no word", o->r->id,
			    what, o->ops[q->op].desc.name, pctl_status_name(s));
	return s;
}

/* Lock, and begin a request about one op. 0 and *s: it cannot be asked, nothing is locked. */
static int begin(pctl_remote_ops *o, uint16_t op, const char *what, const pctl_op_query *q,
		 const pctl_call *call, pctl_status *s)
{
	if (q->op >= o->n_ops) {
		*s = pctl_refuse(call, PC1_INTERNAL, "op library \"%s\" has no op %u", o->r->id,
				 q->op);
		return 0;
	}
	pthread_mutex_lock(&o->r->lock);
	snprintf(o->r->doing, sizeof(o->r->doing), "%s of %.96s", what, o->ops[q->op].desc.name);
	if (!pctl_remote_begin(o->r, op, call)) {
		*s = pctl_code_status(o->r->lost_code);
		goto out;
	}
	if (pctl_ops_put_query(&o->r->ch.out, q))
		return 1;
	o->r->ch.out.n = o->r->ch.frame_at;
	*s = pctl_refuse(call, PC3109_WORKER_LIMIT, "a question about %s is too large",
			 o->ops[q->op].desc.name);
out:
	pthread_mutex_unlock(&o->r->lock);
	return 0;
}

static const char *keep_measure(pctl_remote_ops *o, const char *name)
{
	uint32_t i;

	for (i = 0; i < o->n_measures; i++)
		if (!strcmp(o->measures[i], name))
			return o->measures[i];
	if (i == MEASURES_MAX || !(name = pctl_arena_dup(o->arena, name)))
		return NULL;
	return o->measures[o->n_measures++] = name;
}

static int get_result(pctl_remote_ops *o, pctl_ipc_in *body, uint32_t op, pctl_op_result *out)
{
	const char *measure = pctl_ops_get_words(body);
	pctl_tensor_type t;
	uint32_t i;

	/* While something is to be measured the types are open. */
	out->measure = measure ? keep_measure(o, measure) : NULL;
	if (measure && (!*measure || !out->measure))
		return 0;
	for (i = 0; i < o->ops[op].desc.n_out; i++) {
		if (!measure) {
			pctl_ops_get_type(body, &out->out[i]);
			continue;
		}
		pctl_ipc_get(body, &t, sizeof(t));
		body->failed |= t.rank > PCTL_RANK_MAX;
		out->out[i] = t;
	}
	return pctl_ipc_in_done(body);
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_in body;
	listening l;
	pctl_status s;

	memset(out, 0, sizeof(*out));
	out->head = (pctl_head)PCTL_HEAD(pctl_op_result);
	call = listen_for(&l, call);
	if (!begin(o, PCTL_IPC_OPS_INFER, "infer", q, call, &s))
		return s;
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	if (!s && !get_result(o, &body, q->op, out))
		s = pctl_remote_bad_reply(o->r, call, "infer");
	if (s)
		memset(out->out, 0, sizeof(out->out));
	pthread_mutex_unlock(&o->r->lock);
	return said(o, &l, "infer", q, s);
}

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	pctl_remote_ops *o = of(inst);
	pctl_plan_caps known = {.head = PCTL_HEAD(pctl_plan_caps)};
	uint8_t *record = NULL;
	uint32_t next;
	pctl_ipc_in body;
	listening l;
	pctl_status s;

	call = listen_for(&l, call);
	if (!begin(o, PCTL_IPC_OPS_PLAN, "plan", q, call, &s))
		return s;
	memcpy(&known, caps, caps->head.size < sizeof(known) ? caps->head.size : sizeof(known));
	known.head.size = sizeof(known);
	next = q->n_in + (flags & PCTL_PLAN_MEASURE ? 0 : o->ops[q->op].desc.n_out);
	pctl_ipc_put(&o->r->ch.out, &known, sizeof(known));
	pctl_ipc_put_u32(&o->r->ch.out, flags);
	pctl_ipc_put_u32(&o->r->ch.out, next);
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	/* The sink may ask this library again: what came is copied, and the lock given back. */
	if (!s && !(record = malloc(body.n - body.pos + 1)))
		s = pctl_refuse(call, PC2_NOMEM, "no memory for a plan");
	if (!s) {
		pctl_ipc_in in = {record, body.n - body.pos, 0, 0};

		memcpy(record, body.data + body.pos, in.n);
		pthread_mutex_unlock(&o->r->lock);
		if (pctl_ops_replay(&in, sink, next, &s)) {
			free(record);
			return s;
		}
		pthread_mutex_lock(&o->r->lock);
		s = o->r->lost ? pctl_code_status(o->r->lost_code)
			       : pctl_remote_bad_reply(o->r, call, "plan");
	}
	pthread_mutex_unlock(&o->r->lock);
	free(record);
	/* 'Unsupported' of a function op is an answer, not a refusal. */
	if (s == PCTL_E_UNSUPPORTED && o->ops[q->op].desc.kind == PCTL_OPDEF_FUNCTION)
		return s;
	return said(o, &l, "plan", q, s);
}

/* Offsets of n spans behind *total, which grows. */
static int lay_out(const pctl_span *spans, uint32_t n, uint64_t *offsets, uint64_t *total)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		offsets[i] = *total;
		if (!pctl_num_add(*total, spans[i].n_bytes, total) ||
		    *total > UINT64_MAX - SPAN_ALIGN)
			return 0;
		*total = pctl_num_align(*total, SPAN_ALIGN);
	}
	return 1;
}

static void put_spans(pctl_ipc_out *out, const pctl_ipc_window *w, const pctl_span *spans,
		      const uint64_t *offsets, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		pctl_ipc_put_u64(out, offsets[i]);
		pctl_ipc_put_u64(out, spans[i].n_bytes);
		if (spans[i].n_bytes)
			memcpy(w->data + offsets[i], spans[i].data, spans[i].n_bytes);
	}
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	pctl_remote_ops *o = of(inst);
	uint64_t from[PCTL_PORTS_MAX], to[PCTL_PORTS_MAX], total = 0;
	pctl_ipc_window w = {.fd = -1};
	pctl_ipc_in body;
	uint32_t i, n_out;
	listening l;
	pctl_status s;

	call = listen_for(&l, call);
	if (!begin(o, PCTL_IPC_OPS_REFERENCE, "reference", q, call, &s))
		return s;
	n_out = o->ops[q->op].desc.n_out;
	if (!lay_out(in, q->n_in, from, &total) || !lay_out(out, n_out, to, &total) ||
	    !pctl_ipc_window_create(total ? total : SPAN_ALIGN, &w)) {
		o->r->ch.out.n = o->r->ch.frame_at;
		s = pctl_refuse(call, PC3109_WORKER_LIMIT,
				"the data for a reference of %s do not fit into shared memory",
				o->ops[q->op].desc.name);
		goto out;
	}
	pctl_ipc_put_u32(&o->r->ch.out, n_out);
	put_spans(&o->r->ch.out, &w, in, from, q->n_in);
	put_spans(&o->r->ch.out, &w, out, to, n_out);
	o->r->ch.out_fds[0] = w.fd;
	o->r->ch.n_out_fds = 1;
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	if (!s && !pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(o->r, call, "reference");
	/* Read once: what the caller compares is what it gets here, whatever the worker still does to its memory. */
	for (i = 0; !s && i < n_out; i++)
		if (out[i].n_bytes)
			memcpy(out[i].data, w.data + to[i], out[i].n_bytes);
out:
	o->r->ch.n_out_fds = 0;
	pthread_mutex_unlock(&o->r->lock);
	pctl_ipc_window_close(&w);
	return said(o, &l, "reference", q, s);
}

/* ---- laws and problems -------------------------------------------------------------------- */

static const pctl_op_problems *problems(pctl_instance *inst, uint32_t op)
{
	return op < of(inst)->n_ops && of(inst)->ops[op].problems.n ? &of(inst)->ops[op].problems
								    : NULL;
}

/* What was recorded, copied, and the lock given back: the sink may ask this library again. NULL and *s: no memory. */
static uint8_t *take_record(pctl_remote_ops *o, const pctl_ipc_in *body, const pctl_call *call,
			    pctl_ipc_in *in, pctl_status *s)
{
	uint8_t *record = malloc(body->n - body->pos + 1);

	if (!record) {
		*s = pctl_refuse(call, PC2_NOMEM, "no memory for what a law asks for");
		return NULL;
	}
	memcpy(record, body->data + body->pos, body->n - body->pos);
	*in = (pctl_ipc_in){record, body->n - body->pos, 0, 0};
	pthread_mutex_unlock(&o->r->lock);
	return record;
}

/* After a record that makes no sense. */
static pctl_status bad_record(pctl_remote_ops *o, const pctl_call *call, const char *what)
{
	pctl_status s;

	pthread_mutex_lock(&o->r->lock);
	s = o->r->lost ? pctl_code_status(o->r->lost_code)
		       : pctl_remote_bad_reply(o->r, call, what);
	pthread_mutex_unlock(&o->r->lock);
	return s;
}

static pctl_status problem(pctl_instance *inst, const pctl_call *call, uint32_t op, uint32_t dtype,
			   uint64_t number, uint64_t seed, const pctl_problem_sink *sink)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_in body, in;
	uint8_t *record;
	pctl_status s;

	pthread_mutex_lock(&o->r->lock);
	snprintf(o->r->doing, sizeof(o->r->doing), "making a problem");
	if (!pctl_remote_begin(o->r, PCTL_IPC_OPS_PROBLEM, call)) {
		pthread_mutex_unlock(&o->r->lock);
		return pctl_code_status(o->r->lost_code);
	}
	pctl_ipc_put_u32(&o->r->ch.out, op);
	pctl_ipc_put_u32(&o->r->ch.out, dtype);
	pctl_ipc_put_u64(&o->r->ch.out, number);
	pctl_ipc_put_u64(&o->r->ch.out, seed);
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	record = s ? NULL : take_record(o, &body, call, &in, &s);
	if (!record) {
		pthread_mutex_unlock(&o->r->lock);
		return s;
	}
	if (!pctl_ops_replay_problem(&in, sink, &s))
		s = bad_record(o, call, "problem");
	free(record);
	return s;
}

/* Types and bytes of all tensors. 0: too large to travel. */
static int put_case(pctl_remote_ops *o, const pctl_law_case *c, pctl_ipc_window *w)
{
	uint64_t *offsets = calloc(c->n_tensors + 1u, sizeof(*offsets)), total = 0;
	const int ok = offsets && c->n_tensors <= PCTL_OPS_TENSORS_MAX &&
		       lay_out(c->tensors, c->n_tensors, offsets, &total) &&
		       pctl_ipc_window_create(total ? total : SPAN_ALIGN, w);

	if (ok) {
		pctl_ipc_put_u32(&o->r->ch.out, c->law);
		pctl_ipc_put_u32(&o->r->ch.out, c->round);
		pctl_ipc_put_u32(&o->r->ch.out, c->n_out);
		pctl_ipc_put_u32(&o->r->ch.out, c->n_tensors);
		for (uint32_t i = 0; i < c->n_tensors; i++)
			pctl_ops_put_type(&o->r->ch.out, &c->types[i]);
		put_spans(&o->r->ch.out, w, c->tensors, offsets, c->n_tensors);
		o->r->ch.out_fds[0] = w->fd;
		o->r->ch.n_out_fds = 1;
	}
	free(offsets);
	return ok;
}

/* The library sees copies of all bytes; those that are compared stay here. */
static pctl_status law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
		       const pctl_law_sink *sink)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_window w = {.fd = -1};
	uint8_t *record = NULL;
	pctl_ipc_in body, in;
	listening l;
	pctl_status s;
	int is_said;

	call = listen_for(&l, call);
	if (!begin(o, PCTL_IPC_OPS_LAW, "a law", c->op, call, &s))
		return s;
	if (put_case(o, c, &w)) {
		s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	} else {
		o->r->ch.out.n = o->r->ch.frame_at;
		s = pctl_refuse(call, PC3109_WORKER_LIMIT,
				"the data for a law of %s do not fit into shared memory",
				o->ops[c->op->op].desc.name);
	}
	o->r->ch.n_out_fds = 0;
	if (!s)
		record = take_record(o, &body, call, &in, &s);
	if (!record)
		pthread_mutex_unlock(&o->r->lock);
	else if (!pctl_ops_replay_law(&in, sink, c->n_tensors, &s))
		s = bad_record(o, call, "law");
	is_said = record != NULL;
	free(record);
	pctl_ipc_window_close(&w);
	return is_said ? s : said(o, &l, "a law", c->op, s);
}

/* ---- opening and closing ------------------------------------------------------------------ */

static pctl_status describe(pctl_remote_ops *o, const pctl_call *call)
{
	pctl_ipc_in body, in;
	uint8_t *copy;
	pctl_status s;
	uint32_t i;

	snprintf(o->r->doing, sizeof(o->r->doing), "listing its ops");
	if (!pctl_remote_begin(o->r, PCTL_IPC_OPS_DESCRIBE, call))
		return pctl_code_status(o->r->lost_code);
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	if (s)
		return s;
	/* Texts stay where they were received. */
	copy = pctl_arena_alloc(o->arena, body.n - body.pos);
	if (!copy)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
	memcpy(copy, body.data + body.pos, body.n - body.pos);
	in = (pctl_ipc_in){copy, body.n - body.pos, 0, 0};
	o->n_ops = pctl_ops_get_count(&in, PCTL_OPS_MAX);
	o->ops = pctl_arena_array(o->arena, o->n_ops, sizeof(*o->ops));
	if (!o->ops)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
	for (i = 0; i < o->n_ops; i++)
		if (!pctl_ops_get_described(&in, o->arena, &o->ops[i]))
			return pctl_remote_bad_reply(o->r, call, "ops");
	return pctl_ipc_in_done(&in) ? PCTL_OK : pctl_remote_bad_reply(o->r, call, "ops");
}

pctl_status pctl_remote_ops_open(const pctl_remote_options *options, const pctl_call *call,
				 pctl_remote_ops **out)
{
	static const pctl_oplib table = {PCTL_HEAD(pctl_oplib),
					 op_count,
					 op_at,
					 infer,
					 plan,
					 function,
					 reference,
					 rules,
					 problems,
					 problem,
					 law};
	pctl_remote_options mine = *options;
	pctl_remote_ops *o = calloc(1, sizeof(*o));
	pctl_status s;

	*out = NULL;
	if (o)
		o->arena = pctl_arena_create();
	if (!o || !o->arena) {
		free(o);
		return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
	}
	mine.lost_code = PC3111_WORKER_OPLIB;
	s = pctl_remote_open(&mine, call, &o->r);
	if (!s)
		s = describe(o, call);
	if (s) {
		pctl_remote_ops_close(o);
		return s;
	}
	o->table = table;
	*out = o;
	return PCTL_OK;
}

void pctl_remote_ops_close(pctl_remote_ops *o)
{
	if (!o)
		return;
	pctl_remote_close(o->r);
	pctl_arena_destroy(o->arena);
	free(o);
}

const pctl_oplib *pctl_remote_ops_table(const pctl_remote_ops *o)
{
	return &o->table;
}

pctl_instance *pctl_remote_ops_instance(pctl_remote_ops *o)
{
	/* An instance is opaque to its users. */
	return (pctl_instance *)(void *)o;
}

const char *pctl_remote_ops_lost(const pctl_remote_ops *o, int *at_fault)
{
	*at_fault = pctl_remote_at_fault(o->r);
	return pctl_remote_lost(o->r);
}
