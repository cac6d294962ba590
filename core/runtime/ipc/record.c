/* Recording: sinks in the worker of an op library that pack each command; see recording.h. */
#include "runtime/ipc/recording.h"

#include <string.h>

const uint32_t pctl_ops_dtypes[PCTL_OPS_DTYPES] = {
	PCTL_SCALAR_BOOL, PCTL_SCALAR_I32, PCTL_SCALAR_U32,  PCTL_SCALAR_I64, PCTL_SCALAR_U64,
	PCTL_SCALAR_F16,  PCTL_SCALAR_F32, PCTL_SCALAR_BF16, PCTL_SCALAR_F64, PCTL_SCALAR_I8,
	PCTL_SCALAR_U8,	  PCTL_SCALAR_I16, PCTL_SCALAR_U16,  PCTL_DTYPE_U128, PCTL_DTYPE_BYTES};

int pctl_ops_dtype_known(uint32_t dtype)
{
	return dtype < 128 &&
	       (dtype < 64 ? PCTL_OPS_DTYPE_BITS : PCTL_OPS_DTYPE_BITS_64) >> dtype % 64 & 1;
}

/* A recording without end stops here, whatever the plugin does with the answer. */
static pctl_status put(pctl_ops_recorder *r, uint32_t command, uint32_t shape, const void *value)
{
	if (r->out.failed)
		return PCTL_E_LIMIT;
	pctl_ipc_put_u32(&r->out, command);
	pctl_ipc_pack(&r->out, shape, value, NULL);
	if (r->out.n > PCTL_OPS_PLAN_BYTES)
		r->out.failed = 1;
	return r->out.failed ? PCTL_E_LIMIT : PCTL_OK;
}

/* By the name of the command. */
#define PCTL_COMMAND(number, NAME, name, shape, whose, means)                              \
	static pctl_status put_##name(pctl_ops_recorder *r, const pctl_ipc_##shape *value) \
	{                                                                                  \
		return put(r, number, PCTL_IPC_SHAPE_##shape, value);                      \
	}
#include "runtime/ipc/protocol.def"

static pctl_status too_large(pctl_ops_recorder *r)
{
	r->out.failed = 1;
	return PCTL_E_LIMIT;
}

/* ---- plans -------------------------------------------------------------------------------- */

static pctl_status record_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	pctl_ops_recorder *r = ctx;
	const pctl_ipc_temp c = {n_bytes};

	*buffer = r->out.failed ? 0 : r->next++;
	return put_temp(r, &c);
}

static pctl_status record_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	pctl_ops_recorder *r = ctx;
	const pctl_ipc_params c = {{bytes, n_bytes}};

	*buffer = 0;
	if (r->out.failed || n_bytes > PCTL_OPS_PLAN_BYTES)
		return PCTL_E_LIMIT;
	if (!bytes && n_bytes)
		return PCTL_E_INVALID;
	*buffer = r->next++;
	return put_params(r, &c);
}

/* An older library's struct is shorter. */
static pctl_plan_kernel whole_of(const pctl_plan_kernel *k)
{
	pctl_plan_kernel whole = {.name = NULL};

	memcpy(&whole, k, k->head.size < sizeof(whole) ? k->head.size : sizeof(whole));
	return whole;
}

static pctl_status record_kernel(void *ctx, const pctl_plan_kernel *k)
{
	const pctl_plan_kernel whole = whole_of(k);

	if (k->n_overrides > PCTL_OPS_ROWS_MAX || k->n_bindings > PCTL_OPS_ROWS_MAX)
		return PCTL_E_LIMIT;
	if ((k->n_overrides && !k->overrides) || (k->n_bindings && !k->bindings))
		return PCTL_E_INVALID;
	return put_kernel(ctx, &whole);
}

static pctl_status record_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			       uint32_t word)
{
	const pctl_ipc_plan_fill c = {buffer, offset, n_bytes, word};

	return put_fill(ctx, &c);
}

static pctl_status record_copy(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			       uint64_t to_offset, uint64_t n_bytes)
{
	const pctl_ipc_plan_copy c = {from, from_offset, to, to_offset, n_bytes};

	return put_copy(ctx, &c);
}

static pctl_status record_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			     const pctl_tensor_type *types, uint32_t n_buffers,
			     const pctl_attr *attr, uint32_t n_attr)
{
	const pctl_ipc_plan_op c = {name,  version,   buffers, n_buffers,
				    types, n_buffers, attr,    n_attr};

	if (n_buffers > 2 * PCTL_PORTS_MAX || n_attr > PCTL_OPS_ATTRS_MAX)
		return PCTL_E_LIMIT;
	if ((n_buffers && (!buffers || !types)) || (n_attr && !attr))
		return PCTL_E_INVALID;
	return put_op(ctx, &c);
}

static pctl_status record_assert(void *ctx, const pctl_plan_assert *a)
{
	return put_assert(ctx, a);
}

static pctl_status record_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				  uint64_t add)
{
	const pctl_ipc_plan_measure c = {buffer, offset, bytes, add};

	return put_measure(ctx, &c);
}

static pctl_status record_repeat(void *ctx, const pctl_plan_repeat *c)
{
	if (c->n_pairs > PCTL_OPS_ROWS_MAX)
		return PCTL_E_LIMIT;
	return c->n_pairs && !c->pairs ? PCTL_E_INVALID : put_repeat(ctx, c);
}

static pctl_status record_repeat_end(void *ctx)
{
	return put_repeat_end(ctx, NULL);
}

static pctl_status record_constant(void *ctx, const char *cid, const void *bytes, uint64_t n_bytes,
				   uint32_t *buffer)
{
	pctl_ops_recorder *r = ctx;
	const pctl_ipc_plan_constant c = {cid, {bytes, n_bytes}};

	*buffer = 0;
	if (r->out.failed || n_bytes > PCTL_OPS_PLAN_BYTES)
		return PCTL_E_LIMIT;
	if (!cid || (!bytes && n_bytes))
		return PCTL_E_INVALID;
	*buffer = r->next++;
	return put_constant(r, &c);
}

void pctl_ops_record_plan(pctl_ops_recorder *r, pctl_plan_sink *sink)
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
				 record_measure,
				 record_repeat,
				 record_repeat_end,
				 record_constant};
}

/* ---- laws and problems --------------------------------------------------------------------- */

static int is_data(const pctl_tensor_type *t, const void *data, uint64_t n)
{
	return t && n <= PCTL_OPS_PLAN_BYTES && (data || !n);
}

static pctl_status record_tensor(void *ctx, const pctl_tensor_type *t, const void *data, uint64_t n,
				 uint32_t *number)
{
	pctl_ops_recorder *r = ctx;
	pctl_ipc_law_tensor c = {.data = {data, n}};

	*number = r->next;
	if (r->out.failed || !is_data(t, data, n))
		return too_large(r);
	c.type = *t;
	r->next++;
	return put_tensor(r, &c);
}

static pctl_status record_use(void *ctx, const char *op, uint32_t version, const uint32_t *inputs,
			      uint32_t n_in, const pctl_attr *attr, uint32_t n_attr, uint32_t n_out,
			      uint32_t *first)
{
	pctl_ops_recorder *r = ctx;
	const pctl_ipc_law_use c = {op, version, inputs, n_in, attr, n_attr, n_out};

	*first = r->next;
	if (r->out.failed || n_in > PCTL_PORTS_MAX || n_out > PCTL_PORTS_MAX ||
	    n_attr > PCTL_OPS_ATTRS_MAX)
		return PCTL_E_LIMIT;
	if ((n_in && !inputs) || (n_attr && !attr))
		return PCTL_E_INVALID;
	r->next += n_out;
	return put_use(r, &c);
}

static pctl_status record_equal(void *ctx, uint32_t got, uint32_t want)
{
	const pctl_ipc_law_equal c = {got, want};

	return put_equal(ctx, &c);
}

static pctl_status record_judged(void *ctx, uint32_t holds, const char *got, const char *want)
{
	const pctl_ipc_law_judged c = {holds, got, want};

	return put_judged(ctx, &c);
}

static pctl_status record_again(void *ctx)
{
	return put_again(ctx, NULL);
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
	pctl_ipc_problem_input c = {.port = port, .data = {data, n}};

	if (!is_data(t, data, n))
		return too_large(ctx);
	c.type = *t;
	return put_input(ctx, &c);
}

static pctl_status record_attr(void *ctx, uint32_t i, const char *text)
{
	const pctl_ipc_problem_attr c = {i, text};

	return put_attr(ctx, &c);
}

static pctl_status record_measured(void *ctx, uint64_t value)
{
	const pctl_ipc_problem_measured c = {value};

	return put_measured(ctx, &c);
}

static pctl_status record_rigid(void *ctx)
{
	return put_rigid(ctx, NULL);
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
