/* A plan of an op library, recorded in its worker and put into the host's sink; see ops_wire.h. Between the two lies the
 * boundary: everything that is put comes from bytes whose lengths were checked, and the sink judges what it means. */
#include "runtime/ipc/ops_wire.h"

#include <stdlib.h>
#include <string.h>

/* ---- recording ---------------------------------------------------------------------------- */

static pctl_status begin(pctl_ops_recorder *r, uint32_t command)
{
	pctl_ipc_put_u32(&r->out, command);
	return PCTL_OK;
}

/* A plan without end stops here, whatever it does with the answer. */
static pctl_status end(pctl_ops_recorder *r)
{
	if (r->out.n > PCTL_OPS_PLAN_BYTES)
		r->out.failed = 1;
	r->n_commands++;
	return r->out.failed ? PCTL_E_LIMIT : PCTL_OK;
}

static int is_full(const pctl_ops_recorder *r)
{
	return r->out.failed;
}

static pctl_status record_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	pctl_ops_recorder *r = ctx;

	*buffer = 0;
	if (is_full(r))
		return PCTL_E_LIMIT;
	begin(r, PCTL_OPS_TEMP);
	pctl_ipc_put_u64(&r->out, n_bytes);
	*buffer = r->next_buffer++;
	return end(r);
}

static pctl_status record_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	pctl_ops_recorder *r = ctx;

	*buffer = 0;
	if (is_full(r) || n_bytes > PCTL_OPS_PLAN_BYTES)
		return PCTL_E_LIMIT;
	if (!bytes && n_bytes)
		return PCTL_E_INVALID;
	begin(r, PCTL_OPS_PARAMS);
	pctl_ipc_put_blob(&r->out, bytes, (size_t)n_bytes);
	*buffer = r->next_buffer++;
	return end(r);
}

static pctl_status record_kernel(void *ctx, const pctl_plan_kernel *k)
{
	pctl_ops_recorder *r = ctx;
	uint32_t i;

	if (is_full(r) || k->n_overrides > PCTL_OPS_ROWS_MAX || k->n_bindings > PCTL_OPS_ROWS_MAX)
		return PCTL_E_LIMIT;
	if ((k->n_overrides && !k->overrides) || (k->n_bindings && !k->bindings))
		return PCTL_E_INVALID;
	begin(r, PCTL_OPS_KERNEL);
	pctl_ops_put_text(&r->out, k->name);
	pctl_ops_put_text(&r->out, k->wgsl);
	pctl_ops_put_text(&r->out, k->entry);
	pctl_ipc_put_u32(&r->out, k->n_overrides);
	for (i = 0; i < k->n_overrides; i++) {
		pctl_ops_put_text(&r->out, k->overrides[i].name);
		pctl_ipc_put_u64(&r->out, k->overrides[i].value);
	}
	pctl_ipc_put_u32(&r->out, k->n_bindings);
	pctl_ipc_put(&r->out, k->bindings, k->n_bindings * sizeof(*k->bindings));
	pctl_ipc_put(&r->out, k->groups, sizeof(k->groups));
	return end(r);
}

static pctl_status record_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			       uint32_t word)
{
	pctl_ops_recorder *r = ctx;

	if (is_full(r))
		return PCTL_E_LIMIT;
	begin(r, PCTL_OPS_FILL);
	pctl_ipc_put_u32(&r->out, buffer);
	pctl_ipc_put_u64(&r->out, offset);
	pctl_ipc_put_u64(&r->out, n_bytes);
	pctl_ipc_put_u32(&r->out, word);
	return end(r);
}

static pctl_status record_copy(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			       uint64_t to_offset, uint64_t n_bytes)
{
	pctl_ops_recorder *r = ctx;

	if (is_full(r))
		return PCTL_E_LIMIT;
	begin(r, PCTL_OPS_COPY);
	pctl_ipc_put_u32(&r->out, from);
	pctl_ipc_put_u64(&r->out, from_offset);
	pctl_ipc_put_u32(&r->out, to);
	pctl_ipc_put_u64(&r->out, to_offset);
	pctl_ipc_put_u64(&r->out, n_bytes);
	return end(r);
}

static pctl_status record_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			     const pctl_tensor_type *types, uint32_t n_buffers,
			     const pctl_attr *attr, uint32_t n_attr)
{
	pctl_ops_recorder *r = ctx;
	uint32_t i;

	if (is_full(r) || n_buffers > 2 * PCTL_PORTS_MAX || n_attr > PCTL_OPS_ATTRS_MAX)
		return PCTL_E_LIMIT;
	if ((n_buffers && (!buffers || !types)) || (n_attr && !attr))
		return PCTL_E_INVALID;
	begin(r, PCTL_OPS_OP);
	pctl_ops_put_text(&r->out, name);
	pctl_ipc_put_u32(&r->out, version);
	pctl_ipc_put_u32(&r->out, n_buffers);
	for (i = 0; i < n_buffers; i++) {
		pctl_ipc_put_u32(&r->out, buffers[i]);
		pctl_ops_put_type(&r->out, &types[i]);
	}
	pctl_ops_put_attrs(&r->out, attr, n_attr);
	return end(r);
}

static pctl_status record_assert(void *ctx, const pctl_plan_assert *a)
{
	pctl_ops_recorder *r = ctx;

	if (is_full(r))
		return PCTL_E_LIMIT;
	begin(r, PCTL_OPS_ASSERT);
	pctl_ipc_put_u32(&r->out, a->buffer);
	pctl_ipc_put_u32(&r->out, a->bytes);
	pctl_ipc_put_u64(&r->out, a->offset);
	pctl_ipc_put_u64(&r->out, a->expected);
	pctl_ops_put_text(&r->out, a->message);
	return end(r);
}

static pctl_status record_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				  uint64_t add)
{
	pctl_ops_recorder *r = ctx;

	if (is_full(r))
		return PCTL_E_LIMIT;
	begin(r, PCTL_OPS_MEASURED);
	pctl_ipc_put_u32(&r->out, buffer);
	pctl_ipc_put_u64(&r->out, offset);
	pctl_ipc_put_u32(&r->out, bytes);
	pctl_ipc_put_u64(&r->out, add);
	return end(r);
}

void pctl_ops_record(pctl_ops_recorder *r, pctl_plan_sink *sink)
{
	*sink = (pctl_plan_sink){PCTL_HEAD(pctl_plan_sink),
				 r,
				 record_temp,
				 record_params,
				 record_kernel,
				 record_fill,
				 record_copy,
				 record_op,
				 record_assert,
				 record_measure};
}

/* ---- replaying ---------------------------------------------------------------------------- */

typedef struct replay {
	pctl_ipc_in *in;
	const pctl_plan_sink *sink;
	uint32_t next_buffer;
} replay;

/* The number that the recorder gave away must be the one the sink gives. */
static pctl_status numbered(replay *p, pctl_status s, uint32_t got)
{
	if (!s && got != p->next_buffer++)
		p->in->failed = 1;
	return s;
}

static pctl_status replay_temp(replay *p)
{
	const uint64_t n = pctl_ipc_get_u64(p->in);
	uint32_t got = 0;
	pctl_status s = PCTL_OK;

	if (!p->in->failed)
		s = p->sink->temp(p->sink->ctx, n, &got);
	return p->in->failed ? s : numbered(p, s, got);
}

static pctl_status replay_params(replay *p)
{
	size_t n;
	const uint8_t *bytes = pctl_ipc_get_blob(p->in, &n);
	uint32_t got = 0;
	pctl_status s = PCTL_OK;

	if (!p->in->failed)
		s = p->sink->params(p->sink->ctx, bytes, n, &got);
	return p->in->failed ? s : numbered(p, s, got);
}

static pctl_status replay_kernel(replay *p)
{
	pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel)};
	pctl_plan_override *overrides = NULL;
	pctl_plan_binding *bindings = NULL;
	pctl_ipc_in *in = p->in;
	pctl_status s = PCTL_OK;
	uint32_t i;

	k.name = pctl_ops_get_words(in);
	k.wgsl = pctl_ops_get_words(in);
	k.entry = pctl_ops_get_words(in);
	k.n_overrides = pctl_ops_get_count(in, PCTL_OPS_ROWS_MAX);
	overrides = calloc(k.n_overrides + 1u, sizeof(*overrides));
	for (i = 0; overrides && i < k.n_overrides; i++) {
		overrides[i].name = pctl_ops_get_words(in);
		overrides[i].value = pctl_ipc_get_u64(in);
		in->failed |= !overrides[i].name;
	}
	k.n_bindings = pctl_ops_get_count(in, PCTL_OPS_ROWS_MAX);
	bindings = calloc(k.n_bindings + 1u, sizeof(*bindings));
	if (bindings)
		pctl_ipc_get(in, bindings, k.n_bindings * sizeof(*bindings));
	pctl_ipc_get(in, k.groups, sizeof(k.groups));
	k.overrides = overrides;
	k.bindings = bindings;
	if (!overrides || !bindings)
		s = PCTL_E_NOMEM;
	else if (!in->failed)
		s = p->sink->kernel(p->sink->ctx, &k);
	free(overrides);
	free(bindings);
	return s;
}

static pctl_status replay_fill(replay *p)
{
	const uint32_t buffer = pctl_ipc_get_u32(p->in);
	const uint64_t offset = pctl_ipc_get_u64(p->in);
	const uint64_t n = pctl_ipc_get_u64(p->in);
	const uint32_t word = pctl_ipc_get_u32(p->in);

	return p->in->failed ? PCTL_OK : p->sink->fill(p->sink->ctx, buffer, offset, n, word);
}

static pctl_status replay_copy(replay *p)
{
	const uint32_t from = pctl_ipc_get_u32(p->in);
	const uint64_t from_offset = pctl_ipc_get_u64(p->in);
	const uint32_t to = pctl_ipc_get_u32(p->in);
	const uint64_t to_offset = pctl_ipc_get_u64(p->in);
	const uint64_t n = pctl_ipc_get_u64(p->in);

	return p->in->failed ? PCTL_OK
			     : p->sink->copy(p->sink->ctx, from, from_offset, to, to_offset, n);
}

static pctl_status replay_op(replay *p)
{
	pctl_tensor_type types[2 * PCTL_PORTS_MAX];
	uint32_t buffers[2 * PCTL_PORTS_MAX], version, n, n_attr, i;
	pctl_attr attr[PCTL_OPS_ATTRS_MAX];
	const char *name = pctl_ops_get_words(p->in);

	version = pctl_ipc_get_u32(p->in);
	n = pctl_ops_get_count(p->in, 2 * PCTL_PORTS_MAX);
	for (i = 0; i < n; i++) {
		buffers[i] = pctl_ipc_get_u32(p->in);
		pctl_ops_get_type(p->in, &types[i]);
	}
	n_attr = pctl_ops_get_attrs(p->in, attr);
	for (i = 0; i < n_attr; i++) {
		p->in->failed |= !attr[i].name;
		if (!attr[i].text)
			attr[i].text = "";
	}
	return p->in->failed
		       ? PCTL_OK
		       : p->sink->op(p->sink->ctx, name, version, buffers, types, n, attr, n_attr);
}

static pctl_status replay_assert(replay *p)
{
	pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert)};

	a.buffer = pctl_ipc_get_u32(p->in);
	a.bytes = pctl_ipc_get_u32(p->in);
	a.offset = pctl_ipc_get_u64(p->in);
	a.expected = pctl_ipc_get_u64(p->in);
	a.message = pctl_ops_get_words(p->in);
	return p->in->failed ? PCTL_OK : p->sink->assert_equal(p->sink->ctx, &a);
}

static pctl_status replay_measure(replay *p)
{
	const uint32_t buffer = pctl_ipc_get_u32(p->in);
	const uint64_t offset = pctl_ipc_get_u64(p->in);
	const uint32_t bytes = pctl_ipc_get_u32(p->in);
	const uint64_t add = pctl_ipc_get_u64(p->in);

	return p->in->failed ? PCTL_OK : p->sink->measure(p->sink->ctx, buffer, offset, bytes, add);
}

int pctl_ops_replay(pctl_ipc_in *in, const pctl_plan_sink *sink, uint32_t next_buffer,
		    pctl_status *status)
{
	static pctl_status (*const commands[])(replay *) = {
		NULL,	     replay_temp, replay_params, replay_kernel, replay_fill,
		replay_copy, replay_op,	  replay_assert, replay_measure};
	const uint32_t n = pctl_ops_get_count(in, PCTL_OPS_PLAN_BYTES / sizeof(uint32_t));
	replay p = {in, sink, next_buffer};
	uint32_t i;

	*status = PCTL_OK;
	for (i = 0; i < n && !in->failed; i++) {
		const uint32_t what = pctl_ipc_get_u32(in);

		if (what < PCTL_OPS_TEMP || what > PCTL_OPS_MEASURED)
			return 0;
		*status = commands[what](&p);
		if (*status)
			return !in->failed;
	}
	return pctl_ipc_in_done(in);
}
