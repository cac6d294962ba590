/* Function ops found and asked, and the evaluator that is the op's own reference(). The one on a device is in
 * evaluate_device.c. */
#include "evidence/proof/evaluate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/type.h"
#include "evidence/proof/domain.h"
#include "evidence/proof/function.h"
#include "evidence/proof/gates.h"

/* WebGPU's default limits, as gas is priced with: the kernel is the same for every device. */
#define GROUPS 65535u
#define INVOCATIONS 256u
#define WORKGROUP_BYTES 16384u

_Static_assert(PCTL_PROOF_BLOCK * 16u <= 64u << 20, "a reference takes 64 MiB an input");

const char *pctl_function_name(const pctl_op_function *f, char buf[PCTL_FUNCTION_NAME])
{
	snprintf(buf, PCTL_FUNCTION_NAME, "%.70s@%" PRIu32 " %s", f->op.desc->name,
		 f->op.desc->version, pctl_dtype_name(f->dtype));
	return buf;
}

int pctl_function_same(const pctl_op_function *a, const pctl_op_function *b)
{
	return a->op.lib == b->op.lib && a->op.inst == b->op.inst && a->op.index == b->op.index &&
	       a->dtype == b->dtype;
}

int pctl_function_ask(const pctl_op_ref *op, uint32_t dtype, uint64_t n, pctl_function_query *out)
{
	const pctl_op_desc *d = op->desc;

	memset(out, 0, sizeof(*out));
	if (d->n_in == 0 || d->n_in > PCTL_FUNCTION_OPERANDS || d->n_attr > PCTL_FUNCTION_ATTRS)
		return 0;
	for (uint32_t i = 0; i < d->n_in; i++) {
		const uint32_t lanes = pctl_port_lanes(&d->in[i]);

		out->types[i] = (pctl_tensor_type){.dtype = dtype,
						   .rank = lanes == 1 ? 1 : 2,
						   .dim = {n, lanes == 1 ? 0 : lanes}};
	}
	for (uint32_t i = 0; i < d->n_attr; i++) {
		const char *text = d->attr[i].default_text;
		int64_t number = 0;

		if (text == NULL)
			return 0;
		if (d->attr[i].kind == PCTL_ATTR_BOOL)
			number = strcmp(text, "true") == 0;
		else if (d->attr[i].kind == PCTL_ATTR_U64)
			(void)pctl_num_parse_u64(text, strlen(text), (uint64_t *)&number);
		else if (d->attr[i].kind == PCTL_ATTR_I64)
			(void)pctl_num_parse_i64(text, strlen(text), &number);
		out->attrs[i] = (pctl_attr){d->attr[i].name, text, (uint64_t)number};
	}
	out->q = (pctl_op_query){.head = PCTL_HEAD(pctl_op_query),
				 .op = op->index,
				 .n_in = d->n_in,
				 .in = out->types,
				 .attr = out->attrs,
				 .n_attr = d->n_attr};
	return 1;
}

/* ---- finding ---------------------------------------------------------------------------------- */

/* "int.add@1" taken apart; without library, of `beside`'s. */
static int name_of(const char *name, const char *beside, char out[96], uint32_t *version)
{
	const char *at = strchr(name, '@'), *dot = memchr(name, '.', strcspn(name, "@"));
	const size_t length = at == NULL ? strlen(name) : (size_t)(at - name);
	const size_t library = dot != NULL || beside == NULL ? 0 : strcspn(beside, ".") + 1;
	uint64_t number = 0;

	if (length == 0 || library + length >= 96 || (library != 0 && beside[library - 1] != '.') ||
	    (at != NULL && (!pctl_num_parse_u64(at + 1, strlen(at + 1), &number) || number == 0 ||
			    number > UINT32_MAX)))
		return 0;
	memcpy(out, beside != NULL ? beside : "", library);
	memcpy(out + library, name, length);
	out[library + length] = '\0';
	*version = (uint32_t)number;
	return 1;
}

int pctl_function_find(const pctl_op_source *ops, const char *name, const char *beside,
		       uint32_t dtype, pctl_op_function *out)
{
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_function_query ask;
	char full[96];
	uint32_t version;

	memset(out, 0, sizeof(*out));
	if (!name_of(name, beside, full, &version) ||
	    pctl_op_find(ops, full, version, version, NULL, NULL, &out->op) != PCTL_OK ||
	    pctl_gate_as_plan(out->op.desc) || out->op.desc->n_out != 1 ||
	    out->op.lib->function(out->op.inst, out->op.index, dtype) == NULL ||
	    !pctl_function_ask(&out->op, dtype, 1, &ask) ||
	    out->op.lib->infer(out->op.inst, NULL, &ask.q, &result) != PCTL_OK)
		return 0;
	out->dtype = dtype;
	out->out_dtype = result.out[0].dtype;
	out->n_in = out->op.desc->n_in;
	return pctl_dtype_bytes(dtype) != 0 && pctl_dtype_bytes(out->out_dtype) != 0;
}

/* ---- plans ------------------------------------------------------------------------------------ */

static int is_one_kernel(const pctl_job_plan *p, uint32_t n_in)
{
	if (p->n_steps != 1 || p->n_checks != 0 || p->n_buffers != n_in + 1 ||
	    p->steps[0].kind != PCTL_STEP_KERNEL)
		return 0;
	for (uint32_t i = 0; i < p->steps[0].n_bindings; i++)
		if (p->steps[0].bindings[i].offset != 0)
			return 0;
	return 1;
}

pctl_status pctl_function_plan(pctl_proof_context *b, const pctl_op_function *f, uint64_t n,
			       const pctl_call *call, pctl_job_plan **out)
{
	const pctl_planner planner = {.ops = b->ops,
				      .kernels = b->kernels,
				      .caps = {.head = PCTL_HEAD(pctl_plan_caps),
					       .max_binding_bytes = UINT32_MAX - 3u,
					       .max_groups = {GROUPS, GROUPS, GROUPS},
					       .max_invocations = INVOCATIONS,
					       .max_workgroup_bytes = WORKGROUP_BYTES,
					       .device_kind = PCTL_DEVICE_OTHER}};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_function_query ask;
	pctl_status status;
	char name[PCTL_FUNCTION_NAME];

	*out = NULL;
	if (!pctl_function_ask(&f->op, f->dtype, n, &ask))
		return pctl_refuse(call, PC5304_NOT_ONE_KERNEL,
				   "%s needs attributes without a default",
				   pctl_function_name(f, name));
	status = f->op.lib->infer(f->op.inst, call, &ask.q, &result);
	if (status == PCTL_OK)
		status = pctl_job_plan_op(&planner, f->op.desc->name, &f->op, &ask.q, result.out,
					  PCTL_PLAN_RUN, call, out);
	if (status == PCTL_OK && !is_one_kernel(*out, f->n_in)) {
		pctl_job_plan_destroy(*out);
		*out = NULL;
		status = pctl_refuse(call, PC5304_NOT_ONE_KERNEL,
				     "%s is not one kernel over its operands and its result",
				     pctl_function_name(f, name));
	}
	return status;
}

pctl_status pctl_function_program(pctl_proof_context *b, const pctl_op_function *f,
				  const pctl_call *call, char out[PCTL_CID_TEXT_SIZE])
{
	pctl_job_plan *plan;
	pctl_status status = pctl_function_plan(b, f, PCTL_PROOF_BLOCK, call, &plan);

	out[0] = '\0';
	if (status == PCTL_OK)
		(void)pctl_cid_format(&plan->steps[0].unit->cid, out);
	pctl_job_plan_destroy(plan);
	return status;
}

/* ---- the reference ---------------------------------------------------------------------------- */

static pctl_status reference_apply(void *ctx, const pctl_op_function *f, const pctl_column *in,
				   uint64_t n, pctl_column *out, const pctl_call *call)
{
	pctl_span spans[PCTL_FUNCTION_OPERANDS];
	pctl_span result = {out->data, n * pctl_dtype_bytes(f->out_dtype)};
	pctl_function_query ask;

	(void)ctx;
	if (!pctl_function_ask(&f->op, f->dtype, n, &ask))
		return pctl_refuse(call, PC5304_NOT_ONE_KERNEL,
				   "%s needs attributes without a default", f->op.desc->name);
	for (uint32_t i = 0; i < f->n_in; i++)
		spans[i] = (pctl_span){in[i].data, n * pctl_dtype_bytes(f->dtype)};
	out->dtype = f->out_dtype;
	out->n = n;
	return f->op.lib->reference(f->op.inst, call, &ask.q, spans, &result);
}

pctl_status pctl_evaluator_reference(pctl_proof_context *b, const pctl_call *call,
				     pctl_evaluator **out)
{
	(void)b;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "an evaluator");
	(*out)->name = "reference";
	(*out)->apply = reference_apply;
	return PCTL_OK;
}
