/* The slots of an op library in a worker; see remote_ops.h. */
#include "runtime/ipc/remote_ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/ipc/recording.h"
#include "runtime/ipc/remote_private.h"

#define MEASURES_MAX 64u
#define SPAN_ALIGN 64u

struct pctl_remote_ops {
	pctl_remote *r;
	pctl_oplib table;
	pctl_arena *arena;
	const pctl_ipc_described *ops;
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

	l->n_heard += d->severity >= PCTL_SEVERITY_ERROR;
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
		pctl_refuse(
			l->to, PC3118_WORKER_WORDLESS,
			"op library \"%s\" refused %s of %s with status \"%s\" and gave no reason",
			o->r->id, what, o->ops[q->op].desc.name, pctl_status_name(s));
	return s;
}

/* Lock, and begin a request about one op. 0 and *s: it cannot be asked, nothing is locked. */
static int begin(pctl_remote_ops *o, uint16_t op, const char *what, const pctl_op_query *q,
		 const void *ask, const pctl_call *call, pctl_status *s)
{
	if (q->op >= o->n_ops) {
		*s = pctl_refuse(call, PC1_INTERNAL, "op library \"%s\" has no op %u", o->r->id,
				 q->op);
		return 0;
	}
	if (q->n_in > PCTL_PORTS_MAX || q->n_attr > PCTL_OPS_ATTRS_MAX ||
	    q->n_measured > PCTL_OPS_ATTRS_MAX) {
		*s = pctl_refuse(call, PC3109_WORKER_LIMIT, "a question about %s is too large",
				 o->ops[q->op].desc.name);
		return 0;
	}
	pthread_mutex_lock(&o->r->lock);
	snprintf(o->r->doing, sizeof(o->r->doing), "%s of %.96s", what, o->ops[q->op].desc.name);
	if (pctl_remote_begin(o->r, op, ask, call))
		return 1;
	*s = pctl_code_status(o->r->lost_code);
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

static int take_result(pctl_remote_ops *o, const pctl_ipc_inferred *reply, uint32_t op,
		       pctl_op_result *out)
{
	const uint32_t n = o->ops[op].desc.n_out;

	out->measure = reply->measure ? keep_measure(o, reply->measure) : NULL;
	if ((reply->measure && (!*reply->measure || !out->measure)) || reply->n_types != n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		out->out[i] = reply->types[i];
		/* While something is to be measured the types are open. */
		if (!reply->measure && !pctl_ops_dtype_known(out->out[i].dtype))
			return 0;
	}
	out->is_view = reply->is_view;
	out->view_offset = reply->view_offset;
	memcpy(out->view_stride, reply->view_stride, sizeof(out->view_stride));
	out->n_cut = reply->n_cut;
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		out->cut[i] = (uint32_t)reply->cut[i];
	return 1;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_inferred reply;
	listening l;
	pctl_status s;

	memset(out, 0, sizeof(*out));
	out->head = (pctl_head)PCTL_HEAD(pctl_op_result);
	call = listen_for(&l, call);
	if (!begin(o, PCTL_IPC_OPS_INFER, "infer", q, q, call, &s))
		return s;
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &reply);
	if (!s && !take_result(o, &reply, q->op, out))
		s = pctl_remote_bad_reply(o->r, call, "infer");
	if (s)
		memset(out->out, 0, sizeof(out->out));
	pthread_mutex_unlock(&o->r->lock);
	return said(o, &l, "infer", q, s);
}

/* What was recorded, copied, since the sink may ask this library again: the lock is given back. NULL and *s: no memory. */
static uint8_t *take_record(pctl_remote_ops *o, const pctl_ipc_recording *reply,
			    const pctl_call *call, const char *what, pctl_status *s)
{
	uint8_t *record = malloc(reply->commands.n + 1);

	if (record)
		memcpy(record, reply->commands.data, reply->commands.n);
	else
		*s = pctl_no_memory(call, what);
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

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_plan ask = {.query = *q, .flags = flags};
	uint8_t *record = NULL;
	pctl_ipc_recording reply;
	listening l;
	pctl_status s;

	call = listen_for(&l, call);
	memcpy(&ask.caps, caps,
	       caps->head.size < sizeof(ask.caps) ? caps->head.size : sizeof(ask.caps));
	ask.next_buffer = q->n_in;
	if (!(flags & PCTL_PLAN_MEASURE) && q->op < o->n_ops)
		ask.next_buffer += o->ops[q->op].desc.n_out;
	if (!begin(o, PCTL_IPC_OPS_PLAN, "plan", q, &ask, call, &s))
		return s;
	s = pctl_remote_ask(o->r, call, o->r->call_ms, &reply);
	if (!s) {
		record = take_record(o, &reply, call, "a plan", &s);
		if (record &&
		    pctl_ops_replay_plan(record, reply.commands.n, sink, ask.next_buffer, &s)) {
			free(record);
			return s;
		}
		if (record)
			s = bad_record(o, call, "plan");
	} else {
		pthread_mutex_unlock(&o->r->lock);
	}
	free(record);
	/* 'Unsupported' of a function op is an answer, not a refusal, and so it is of a plan through functions. */
	if (s == PCTL_E_UNSUPPORTED &&
	    (o->ops[q->op].desc.kind == PCTL_OPDEF_FUNCTION || flags > PCTL_PLAN_MEASURE))
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

/* Copies of n spans in shared memory, and where they lie there. */
static void put_spans(const pctl_ipc_window *w, const pctl_span *spans, const uint64_t *offsets,
		      uint32_t n, pctl_ipc_span *out)
{
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (pctl_ipc_span){offsets[i], spans[i].n_bytes};
		if (spans[i].n_bytes)
			memcpy(w->data + offsets[i], spans[i].data, spans[i].n_bytes);
	}
}

static pctl_status no_room(const pctl_remote_ops *o, const char *what, const pctl_op_query *q,
			   const pctl_call *call)
{
	return pctl_refuse(call, PC3109_WORKER_LIMIT,
			   "the data for a %s of %s do not fit into shared memory", what,
			   q->op < o->n_ops ? o->ops[q->op].desc.name : "an op");
}

/* Ask with shared memory beside the request. */
static pctl_status ask_with(pctl_remote_ops *o, const pctl_ipc_window *w, const pctl_call *call,
			    void *reply)
{
	pctl_status s;

	o->r->ch.out_fds[0] = w->fd;
	o->r->ch.n_out_fds = 1;
	s = pctl_remote_ask(o->r, call, o->r->call_ms, reply);
	o->r->ch.n_out_fds = 0;
	return s;
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	pctl_remote_ops *o = of(inst);
	const uint32_t n_out = q->op < o->n_ops ? o->ops[q->op].desc.n_out : 0;
	const uint32_t n_in = q->n_in < PCTL_PORTS_MAX ? q->n_in : PCTL_PORTS_MAX;
	uint64_t from[PCTL_PORTS_MAX], to[PCTL_PORTS_MAX], total = 0;
	pctl_ipc_span inputs[PCTL_PORTS_MAX], outputs[PCTL_PORTS_MAX];
	const pctl_ipc_reference ask = {*q, inputs, n_in, outputs, n_out};
	pctl_ipc_window w = {.fd = -1};
	listening l;
	pctl_status s;

	call = listen_for(&l, call);
	if (!lay_out(in, n_in, from, &total) || !lay_out(out, n_out, to, &total) ||
	    !pctl_ipc_window_create(total ? total : SPAN_ALIGN, &w))
		return no_room(o, "reference", q, call);
	put_spans(&w, in, from, n_in, inputs);
	put_spans(&w, out, to, n_out, outputs);
	if (!begin(o, PCTL_IPC_OPS_REFERENCE, "reference", q, &ask, call, &s)) {
		pctl_ipc_window_close(&w);
		return s;
	}
	s = ask_with(o, &w, call, NULL);
	/* Read once: what the caller compares is what it gets here, whatever the worker still does to its memory. */
	for (uint32_t i = 0; !s && i < n_out; i++)
		if (out[i].n_bytes)
			memcpy(out[i].data, w.data + to[i], out[i].n_bytes);
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

static pctl_status problem(pctl_instance *inst, const pctl_call *call, uint32_t op, uint32_t dtype,
			   uint64_t number, uint64_t seed, const pctl_problem_sink *sink)
{
	const pctl_ipc_problem ask = {op, dtype, number, seed};
	pctl_remote_ops *o = of(inst);
	pctl_ipc_recording reply;
	uint8_t *record;
	pctl_status s;

	pthread_mutex_lock(&o->r->lock);
	snprintf(o->r->doing, sizeof(o->r->doing), "making a problem");
	s = pctl_remote_begin(o->r, PCTL_IPC_OPS_PROBLEM, &ask, call)
		    ? pctl_remote_ask(o->r, call, o->r->call_ms, &reply)
		    : pctl_code_status(o->r->lost_code);
	if (s) {
		pthread_mutex_unlock(&o->r->lock);
		return s;
	}
	record = take_record(o, &reply, call, "what a law asks for", &s);
	if (record && !pctl_ops_replay_problem(record, reply.commands.n, sink, &s))
		s = bad_record(o, call, "problem");
	free(record);
	return s;
}

/* The tensors of a case, copied into shared memory. NULL: too large to travel. */
static pctl_ipc_span *share(const pctl_law_case *c, pctl_ipc_window *w)
{
	uint64_t *offsets = calloc(c->n_tensors + 1u, sizeof(*offsets)), total = 0;
	pctl_ipc_span *spans = calloc(c->n_tensors + 1u, sizeof(*spans));

	if (offsets && spans && c->n_tensors <= PCTL_OPS_TENSORS_MAX &&
	    lay_out(c->tensors, c->n_tensors, offsets, &total) &&
	    pctl_ipc_window_create(total ? total : SPAN_ALIGN, w)) {
		put_spans(w, c->tensors, offsets, c->n_tensors, spans);
	} else {
		free(spans);
		spans = NULL;
	}
	free(offsets);
	return spans;
}

/* The library sees copies of all bytes; those that are compared stay here. */
static pctl_status law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
		       const pctl_law_sink *sink)
{
	pctl_remote_ops *o = of(inst);
	pctl_ipc_window w = {.fd = -1};
	pctl_ipc_span *spans = share(c, &w);
	const pctl_ipc_law_case ask = {*c->op,	 c->law,       c->round, c->n_out,
				       c->types, c->n_tensors, spans,	 c->n_tensors};
	pctl_ipc_recording reply;
	uint8_t *record = NULL;
	listening l;
	pctl_status s;

	call = listen_for(&l, call);
	if (!spans)
		return no_room(o, "law", c->op, call);
	if (!begin(o, PCTL_IPC_OPS_LAW, "a law", c->op, &ask, call, &s)) {
		free(spans);
		pctl_ipc_window_close(&w);
		return s;
	}
	s = ask_with(o, &w, call, &reply);
	if (s)
		pthread_mutex_unlock(&o->r->lock);
	else
		record = take_record(o, &reply, call, "what a law asks for", &s);
	free(spans);
	pctl_ipc_window_close(&w);
	if (!record)
		return said(o, &l, "a law", c->op, s);
	if (!pctl_ops_replay_law(record, reply.commands.n, sink, c->n_tensors, &s))
		s = bad_record(o, call, "law");
	free(record);
	return s;
}

/* ---- opening and closing ------------------------------------------------------------------ */

/* Some kinds of laws speak of other ops, or say something. */
static int is_law(const pctl_law *l)
{
	switch (l->law) {
	case PCTL_LAW_CUSTOM:
		return l->custom && (!(l->a & PCTL_LAW_JUDGED) || l->other);
	case PCTL_LAW_DISTRIBUTIVE_OVER:
		return l->other != NULL;
	case PCTL_LAW_DE_MORGAN:
		return l->other && l->dual;
	default:
		return 1;
	}
}

static int are_rules(const pctl_op_rules *r)
{
	for (uint32_t i = 0; i < r->n_laws; i++)
		if (!is_law(&r->laws[i]))
			return 0;
	return 1;
}

/* Texts stay where they were received: the bytes of the whole reply are kept. */
static pctl_status describe(pctl_remote_ops *o, const pctl_call *call)
{
	pctl_ipc_described_list reply;
	pctl_status s;

	snprintf(o->r->doing, sizeof(o->r->doing), "listing its ops");
	if (!pctl_remote_begin(o->r, PCTL_IPC_OPS_DESCRIBE, NULL, call))
		return pctl_code_status(o->r->lost_code);
	s = pctl_remote_ask_keep(o->r, call, o->r->call_ms, o->arena, &reply);
	for (uint32_t i = 0; !s && i < reply.n_ops; i++)
		if (!are_rules(&reply.ops[i].rules))
			s = pctl_remote_bad_reply(o->r, call, "ops");
	if (!s) {
		o->ops = reply.ops;
		o->n_ops = reply.n_ops;
	}
	return s;
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
