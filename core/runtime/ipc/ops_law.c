/* Laws and problems of an op library, recorded in its worker and put into the host's sinks; see ops_wire.h. The host's sink
 * judges what it means, and whatever the library claims is compared by the host. */
#include "runtime/ipc/ops_wire.h"

#include <stdlib.h>
#include <string.h>

/* ---- recording ---------------------------------------------------------------------------- */

static int begin(pctl_ops_recorder *r, uint32_t command)
{
	if (r->out.failed)
		return 0;
	pctl_ipc_put_u32(&r->out, command);
	return 1;
}

static pctl_status end(pctl_ops_recorder *r)
{
	if (r->out.n > PCTL_OPS_PLAN_BYTES)
		r->out.failed = 1;
	r->n_commands++;
	return r->out.failed ? PCTL_E_LIMIT : PCTL_OK;
}

/* A tensor's type and its data. 0: too large. */
static int put_data(pctl_ops_recorder *r, const pctl_tensor_type *t, const void *data, uint64_t n)
{
	if (!t || n > PCTL_OPS_PLAN_BYTES || (n && !data)) {
		r->out.failed = 1;
		return 0;
	}
	pctl_ops_put_type(&r->out, t);
	pctl_ipc_put_blob(&r->out, data, (size_t)n);
	return 1;
}

static pctl_status record_tensor(void *ctx, const pctl_tensor_type *t, const void *data, uint64_t n,
				 uint32_t *number)
{
	pctl_ops_recorder *r = ctx;

	*number = r->next_buffer;
	if (!begin(r, PCTL_OPS_LAW_TENSOR) || !put_data(r, t, data, n))
		return PCTL_E_LIMIT;
	r->next_buffer++;
	return end(r);
}

static pctl_status record_use(void *ctx, const char *op, uint32_t version, const uint32_t *inputs,
			      uint32_t n_in, const pctl_attr *attr, uint32_t n_attr, uint32_t n_out,
			      uint32_t *first)
{
	pctl_ops_recorder *r = ctx;

	*first = r->next_buffer;
	if (n_in > PCTL_PORTS_MAX || n_out > PCTL_PORTS_MAX || n_attr > PCTL_OPS_ATTRS_MAX)
		return PCTL_E_LIMIT;
	if ((n_in && !inputs) || (n_attr && !attr))
		return PCTL_E_INVALID;
	if (!begin(r, PCTL_OPS_LAW_USE))
		return PCTL_E_LIMIT;
	pctl_ops_put_text(&r->out, op);
	pctl_ipc_put_u32(&r->out, version);
	pctl_ipc_put_u32(&r->out, n_in);
	pctl_ipc_put(&r->out, inputs, n_in * sizeof(*inputs));
	pctl_ops_put_attrs(&r->out, attr, n_attr);
	pctl_ipc_put_u32(&r->out, n_out);
	r->next_buffer += n_out;
	return end(r);
}

static pctl_status record_equal(void *ctx, uint32_t got, uint32_t want)
{
	pctl_ops_recorder *r = ctx;

	if (!begin(r, PCTL_OPS_LAW_EQUAL))
		return PCTL_E_LIMIT;
	pctl_ipc_put_u32(&r->out, got);
	pctl_ipc_put_u32(&r->out, want);
	return end(r);
}

static pctl_status record_judged(void *ctx, uint32_t holds, const char *got, const char *want)
{
	pctl_ops_recorder *r = ctx;

	if (!begin(r, PCTL_OPS_LAW_JUDGED))
		return PCTL_E_LIMIT;
	pctl_ipc_put_u32(&r->out, holds);
	pctl_ops_put_text(&r->out, got);
	pctl_ops_put_text(&r->out, want);
	return end(r);
}

static pctl_status record_again(void *ctx)
{
	pctl_ops_recorder *r = ctx;

	return begin(r, PCTL_OPS_LAW_AGAIN) ? end(r) : PCTL_E_LIMIT;
}

void pctl_ops_record_law(pctl_ops_recorder *r, pctl_law_sink *sink)
{
	*sink = (pctl_law_sink){PCTL_HEAD(pctl_law_sink),
				r,
				record_tensor,
				record_use,
				record_equal,
				record_judged,
				record_again};
}

static pctl_status record_input(void *ctx, uint32_t port, const pctl_tensor_type *t,
				const void *data, uint64_t n)
{
	pctl_ops_recorder *r = ctx;

	if (!begin(r, PCTL_OPS_PROBLEM_INPUT))
		return PCTL_E_LIMIT;
	pctl_ipc_put_u32(&r->out, port);
	return put_data(r, t, data, n) ? end(r) : PCTL_E_LIMIT;
}

static pctl_status record_attr(void *ctx, uint32_t i, const char *text)
{
	pctl_ops_recorder *r = ctx;

	if (!begin(r, PCTL_OPS_PROBLEM_ATTR))
		return PCTL_E_LIMIT;
	pctl_ipc_put_u32(&r->out, i);
	pctl_ops_put_text(&r->out, text);
	return end(r);
}

static pctl_status record_measured(void *ctx, uint64_t value)
{
	pctl_ops_recorder *r = ctx;

	if (!begin(r, PCTL_OPS_PROBLEM_MEASURED))
		return PCTL_E_LIMIT;
	pctl_ipc_put_u64(&r->out, value);
	return end(r);
}

static pctl_status record_rigid(void *ctx)
{
	pctl_ops_recorder *r = ctx;

	return begin(r, PCTL_OPS_PROBLEM_RIGID) ? end(r) : PCTL_E_LIMIT;
}

void pctl_ops_record_problem(pctl_ops_recorder *r, pctl_problem_sink *sink)
{
	*sink = (pctl_problem_sink){PCTL_HEAD(pctl_problem_sink),
				    r,
				    record_input,
				    record_attr,
				    record_measured,
				    record_rigid};
}

/* ---- replaying ---------------------------------------------------------------------------- */

/* Whether they belong together is the sink's to judge. NULL and a failure when it is malformed. */
static const void *get_data(pctl_ipc_in *in, pctl_tensor_type *t, size_t *n)
{
	const uint8_t *data;

	if (!pctl_ops_get_type(in, t))
		return NULL;
	data = pctl_ipc_get_blob(in, n);
	if (in->failed)
		return NULL;
	return *n ? (const void *)data : (const void *)"";
}

static pctl_status replay_tensor(pctl_ipc_in *in, const pctl_law_sink *sink, uint32_t *next)
{
	pctl_tensor_type t;
	uint32_t got = 0;
	pctl_status s;
	size_t n = 0;
	const void *data = get_data(in, &t, &n);

	if (!data)
		return PCTL_OK;
	s = sink->tensor(sink->ctx, &t, data, n, &got);
	in->failed |= !s && got != (*next)++;
	return s;
}

static pctl_status replay_use(pctl_ipc_in *in, const pctl_law_sink *sink, uint32_t *next)
{
	uint32_t inputs[PCTL_PORTS_MAX], version, n_in, n_attr, n_out, first = 0, i;
	pctl_attr attr[PCTL_OPS_ATTRS_MAX];
	const char *op = pctl_ops_get_words(in);
	pctl_status s;

	version = pctl_ipc_get_u32(in);
	n_in = pctl_ops_get_count(in, PCTL_PORTS_MAX);
	for (i = 0; i < n_in; i++)
		inputs[i] = pctl_ipc_get_u32(in);
	n_attr = pctl_ops_get_attrs(in, attr);
	for (i = 0; i < n_attr; i++)
		in->failed |= !attr[i].name || !attr[i].text;
	n_out = pctl_ipc_get_u32(in);
	in->failed |= !op || n_out > PCTL_PORTS_MAX;
	if (in->failed)
		return PCTL_OK;
	s = sink->use(sink->ctx, op, version, inputs, n_in, attr, n_attr, n_out, &first);
	in->failed |= !s && first != *next;
	*next += n_out;
	return s;
}

static pctl_status replay_judged(pctl_ipc_in *in, const pctl_law_sink *sink)
{
	const uint32_t holds = pctl_ipc_get_u32(in);
	const char *got = pctl_ops_get_words(in), *want = pctl_ops_get_words(in);

	return in->failed ? PCTL_OK : sink->judged(sink->ctx, holds, got, want);
}

static pctl_status replay_equal(pctl_ipc_in *in, const pctl_law_sink *sink)
{
	const uint32_t got = pctl_ipc_get_u32(in), want = pctl_ipc_get_u32(in);

	return in->failed ? PCTL_OK : sink->equal(sink->ctx, got, want);
}

static pctl_status replay_problem(pctl_ipc_in *in, const pctl_problem_sink *sink, uint32_t what)
{
	pctl_tensor_type t;
	const void *data;
	const char *text;
	uint64_t value;
	size_t n = 0;
	uint32_t i;

	switch (what) {
	case PCTL_OPS_PROBLEM_INPUT:
		i = pctl_ipc_get_u32(in);
		data = get_data(in, &t, &n);
		return data ? sink->input(sink->ctx, i, &t, data, n) : PCTL_OK;
	case PCTL_OPS_PROBLEM_ATTR:
		i = pctl_ipc_get_u32(in);
		text = pctl_ops_get_words(in);
		return in->failed ? PCTL_OK : sink->attr(sink->ctx, i, text ? text : "");
	case PCTL_OPS_PROBLEM_MEASURED:
		value = pctl_ipc_get_u64(in);
		return in->failed ? PCTL_OK : sink->measured(sink->ctx, value);
	case PCTL_OPS_PROBLEM_RIGID:
		return sink->rigid(sink->ctx);
	default:
		in->failed = 1;
		return PCTL_OK;
	}
}

static pctl_status replay_law(pctl_ipc_in *in, const pctl_law_sink *sink, uint32_t what,
			      uint32_t *next)
{
	switch (what) {
	case PCTL_OPS_LAW_TENSOR:
		return replay_tensor(in, sink, next);
	case PCTL_OPS_LAW_USE:
		return replay_use(in, sink, next);
	case PCTL_OPS_LAW_EQUAL:
		return replay_equal(in, sink);
	case PCTL_OPS_LAW_JUDGED:
		return replay_judged(in, sink);
	case PCTL_OPS_LAW_AGAIN:
		return sink->again(sink->ctx);
	default:
		in->failed = 1;
		return PCTL_OK;
	}
}

int pctl_ops_replay_law(pctl_ipc_in *in, const pctl_law_sink *sink, uint32_t next,
			pctl_status *status)
{
	const uint32_t n = pctl_ops_get_count(in, PCTL_OPS_PLAN_BYTES / sizeof(uint32_t));

	*status = PCTL_OK;
	for (uint32_t i = 0; i < n && !in->failed && !*status; i++)
		*status = replay_law(in, sink, pctl_ipc_get_u32(in), &next);
	return !in->failed && (*status || pctl_ipc_in_done(in));
}

int pctl_ops_replay_problem(pctl_ipc_in *in, const pctl_problem_sink *sink, pctl_status *status)
{
	const uint32_t n = pctl_ops_get_count(in, PCTL_OPS_PLAN_BYTES / sizeof(uint32_t));

	*status = PCTL_OK;
	for (uint32_t i = 0; i < n && !in->failed && !*status; i++)
		*status = replay_problem(in, sink, pctl_ipc_get_u32(in));
	return !in->failed && (*status || pctl_ipc_in_done(in));
}
