/* The oplib table answered from a library's table of ops, and the plugin's life. Types and refusals are in types.c, plans in plan.c. What
 * computes in floats does so in the strict environment, whatever the program has set. */
#include "common/kit.h"

#include "pipectl/float_env.h"

struct pctl_instance {
	const pctl_host *host;
	const kit_library *lib;
	uint32_t n_texts;
	uint32_t n_joined;
	char **joined; /* of all ops, in their order */
	const char *texts_u64[KIT_TEXTS_MAX];
	char *texts_u32[KIT_TEXTS_MAX];
};

static const kit_op *op_get(const pctl_instance *inst, uint32_t i)
{
	for (uint32_t f = 0; f < inst->lib->n_families; f++) {
		const kit_family *family = inst->lib->families[f];

		if (i < family->n_ops)
			return &family->ops[i];
		i -= family->n_ops;
	}
	return NULL;
}

static uint32_t table_op_count(pctl_instance *inst)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < inst->lib->n_families; f++)
		n += inst->lib->families[f]->n_ops;
	return n;
}

static const pctl_op_desc *table_op_at(pctl_instance *inst, uint32_t i)
{
	const kit_op *op = op_get(inst, i);

	return op ? &op->desc : NULL;
}

static int kit_has_list(const kit_op *op)
{
	return op->desc.n_in != 0 && (op->desc.in[op->desc.n_in - 1].flags & PCTL_PORT_LIST) != 0;
}

/* The op asked about, with as many inputs and attributes as its description says; else an internal
 * error. */
static pctl_status use_make(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			    kit_use *out)
{
	const kit_op *op = op_get(inst, q->op);

	*out = (kit_use){inst, op, call, q};
	if (!op)
		return pctl_refuse(call, PC1_INTERNAL, "there is no op number %u", q->op);
	if ((kit_has_list(op) ? q->n_in < op->desc.n_in || q->n_in > PCTL_PORTS_MAX
			      : q->n_in != op->desc.n_in) ||
	    q->n_attr != op->desc.n_attr)
		return pctl_refuse(call, PC1_INTERNAL,
				   "%s was asked with %u inputs and %u attributes", op->desc.name,
				   q->n_in, q->n_attr);
	for (uint32_t i = 0; i < q->n_in; i++)
		if (q->in[i].rank > PCTL_RANK_MAX)
			return kit_refuse_type(out, i, "at most 8 dimensions");
	return PCTL_OK;
}

static pctl_status table_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			       pctl_op_result *out)
{
	kit_use use;
	pctl_status status;
	PCTL_FLOAT_ENV(saved);

	memset(out, 0, sizeof(*out));
	out->head = (pctl_head)PCTL_HEAD(pctl_op_result);
	status = use_make(inst, call, q, &use);
	return status != PCTL_OK ? status : use.op->infer(&use, out);
}

/* What may be asked of an op's ports. */
static uint32_t through_of(const pctl_op_desc *d)
{
	uint32_t flags = d->out[0].flags & PCTL_PORT_THROUGH ? PCTL_PLAN_WRITE_THROUGH(0) : 0;

	for (uint32_t i = 0; i < d->n_in; i++)
		if (d->in[i].flags & PCTL_PORT_THROUGH)
			flags |= PCTL_PLAN_READ_THROUGH(i);
	return flags;
}

static pctl_status table_plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			      const pctl_plan_caps *caps, uint32_t flags,
			      const pctl_plan_sink *sink)
{
	pctl_op_result result;
	kit_use use;
	kit_plan plan;
	pctl_status status;
	PCTL_FLOAT_ENV(saved);

	status = use_make(inst, call, q, &use);
	if (status != PCTL_OK)
		return status;
	if (!use.op->plan)
		return PCTL_E_UNSUPPORTED;
	/* A plan may rely on what infer demands. */
	status = table_infer(inst, call, q, &result);
	if (status != PCTL_OK)
		return status;
	plan = (kit_plan){&use, sink, caps, flags == PCTL_PLAN_MEASURE, PCTL_OK, flags & ~1u};
	if ((plan.through & ~through_of(&use.op->desc)) != 0 ||
	    (result.measure != NULL) != (plan.measure != 0))
		return pctl_refuse(call, PC1_INTERNAL, "%s has nothing to plan for flags %u",
				   use.op->desc.name, flags);
	use.op->plan(&plan);
	return plan.status;
}

static const char *table_function(pctl_instance *inst, uint32_t i, uint32_t dtype)
{
	const kit_op *op = op_get(inst, i);

	return op && op->function ? op->function(op, dtype) : NULL;
}

static pctl_status table_reference(pctl_instance *inst, const pctl_call *call,
				   const pctl_op_query *q, const pctl_span *in, pctl_span *out)
{
	const uint64_t most = 64u << 20;
	pctl_op_result result;
	kit_use use;
	pctl_status status;
	PCTL_FLOAT_ENV(saved);

	status = use_make(inst, call, q, &use);
	if (status == PCTL_OK)
		status = table_infer(inst, call, q, &result);
	if (status != PCTL_OK)
		return status;
	if (result.measure)
		return pctl_refuse(call, PC1_INTERNAL, "%s was not measured", use.op->desc.name);
	for (uint32_t i = 0; i < q->n_in; i++) {
		if (in[i].n_bytes > most)
			return kit_refuse_size(&use, "input bytes", in[i].n_bytes, most);
		if (in[i].n_bytes != kit_bytes(&q->in[i]))
			return kit_refuse_type(&use, i, "as many bytes as its type says");
	}
	for (uint32_t i = 0; i < use.op->desc.n_out; i++)
		if (out[i].n_bytes != kit_bytes(&result.out[i]))
			return pctl_refuse(call, PC1_INTERNAL, "%s: output %u has a wrong size",
					   use.op->desc.name, i);
	/* Elements narrower than a byte are put beside others, and the rest of the last byte is 0 (SEMANTICS.md 13). */
	for (uint32_t i = 0; i < use.op->desc.n_out; i++)
		if (kit_dtype_bytes(result.out[i].dtype) == 0)
			memset(out[i].data, 0, out[i].n_bytes);
	return use.op->reference(&use, in, out);
}

static const pctl_op_rules *table_rules(pctl_instance *inst, uint32_t i)
{
	const kit_op *op = op_get(inst, i);

	return op ? &op->rules : NULL;
}

static const pctl_op_problems *table_problems(pctl_instance *inst, uint32_t i)
{
	const kit_op *op = op_get(inst, i);

	return op && op->problem ? op->problems : NULL;
}

static pctl_status table_problem(pctl_instance *inst, const pctl_call *call, uint32_t i,
				 uint32_t dtype, uint64_t number, uint64_t seed,
				 const pctl_problem_sink *sink)
{
	const kit_op *op = op_get(inst, i);
	kit_problem p = {{inst, op, call, NULL}, dtype, number, seed, sink, PCTL_OK};
	PCTL_FLOAT_ENV(saved);

	if (!op || !op->problem)
		return pctl_refuse(call, PC1_INTERNAL, "op number %u has no problems of its own",
				   i);
	op->problem(&p);
	return p.status;
}

static pctl_status table_law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
			     const pctl_law_sink *sink)
{
	kit_law l = {.c = c, .sink = sink};
	PCTL_FLOAT_ENV(saved);

	l.status = use_make(inst, call, c->op, &l.use);
	if (l.status != PCTL_OK)
		return l.status;
	if (!l.use.op->laws || c->law >= l.use.op->rules.n_laws)
		return pctl_refuse(call, PC1_INTERNAL, "%s has no law number %u",
				   l.use.op->desc.name, c->law);
	l.use.op->laws[c->law](&l);
	/* A broken law was told; it is no failure of the library's. */
	return l.status == PCTL_E_MISMATCH ? PCTL_OK : l.status;
}

static const pctl_oplib table = {
	.head = PCTL_HEAD(pctl_oplib),
	.op_count = table_op_count,
	.op_at = table_op_at,
	.infer = table_infer,
	.plan = table_plan,
	.function = table_function,
	.reference = table_reference,
	.rules = table_rules,
	.problems = table_problems,
	.problem = table_problem,
	.law = table_law,
};

/* A copy of text in which every "u64" is "u32"; both have three letters. */
static char *text_narrow(const pctl_host *host, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = host->alloc(host->ctx, n);

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	for (char *at = strstr(copy, "u64"); at; at = strstr(at + 3, "u64"))
		memcpy(at, "u32", 3);
	return copy;
}

static pctl_status texts_make(pctl_instance *inst, const kit_family *family, const pctl_call *call)
{
	for (uint32_t i = 0; i < family->n_texts_u64; i++) {
		char *narrow;

		if (inst->n_texts == KIT_TEXTS_MAX)
			return pctl_refuse(call, PC1_INTERNAL, "more than %u texts", KIT_TEXTS_MAX);
		narrow = text_narrow(inst->host, family->texts_u64[i]);
		if (!narrow)
			return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
		inst->texts_u64[inst->n_texts] = family->texts_u64[i];
		inst->texts_u32[inst->n_texts++] = narrow;
	}
	return PCTL_OK;
}

static char *text_join(const pctl_host *host, const kit_joined *j)
{
	const size_t n_head = strlen(j->head), n_body = strlen(j->body) + 1;
	char *text = host->alloc(host->ctx, n_head + n_body);

	if (!text)
		return NULL;
	memcpy(text, j->head, n_head);
	memcpy(text + n_head, j->body, n_body);
	return text;
}

static pctl_status joined_make(pctl_instance *inst, const pctl_call *call)
{
	const pctl_host *host = inst->host;
	const kit_op *op;
	size_t n = 0;

	for (uint32_t i = 0; (op = op_get(inst, i)) != NULL; i++)
		n += op->n_joined;
	if (n == 0)
		return PCTL_OK;
	inst->joined = host->alloc(host->ctx, n * sizeof(*inst->joined));
	for (uint32_t i = 0; inst->joined && (op = op_get(inst, i)) != NULL; i++)
		for (uint32_t k = 0; k < op->n_joined; k++) {
			char *text = text_join(host, &op->joined[k]);

			if (!text)
				return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
			inst->joined[inst->n_joined++] = text;
		}
	return inst->joined ? PCTL_OK : pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
}

pctl_status kit_open(const kit_library *lib, const pctl_host *host, const pctl_call *call,
		     pctl_instance **out)
{
	pctl_instance *inst = host->alloc(host->ctx, sizeof(*inst));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (!inst)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an op library");
	memset(inst, 0, sizeof(*inst));
	inst->host = host;
	inst->lib = lib;
	for (uint32_t f = 0; f < lib->n_families && status == PCTL_OK; f++)
		status = texts_make(inst, lib->families[f], call);
	if (status == PCTL_OK)
		status = joined_make(inst, call);
	if (status == PCTL_OK)
		*out = inst;
	else
		kit_close(inst);
	return status;
}

void kit_close(pctl_instance *inst)
{
	const pctl_host *host;

	if (!inst)
		return;
	host = inst->host;
	for (uint32_t i = 0; i < inst->n_texts; i++)
		host->release(host->ctx, inst->texts_u32[i]);
	for (uint32_t i = 0; i < inst->n_joined; i++)
		host->release(host->ctx, inst->joined[i]);
	if (inst->joined)
		host->release(host->ctx, inst->joined);
	host->release(host->ctx, inst);
}

const void *kit_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_OPLIB_INTERFACE) == 0 ? &table : NULL;
}

const char *kit_text(const kit_use *u, const char *text_u64, uint32_t dtype)
{
	for (uint32_t i = 0; dtype == PCTL_SCALAR_U32 && i < u->inst->n_texts; i++)
		if (u->inst->texts_u64[i] == text_u64)
			return u->inst->texts_u32[i];
	return text_u64;
}

const char *kit_joined_text(const kit_use *u, uint32_t i)
{
	const kit_op *op;

	for (uint32_t k = 0; (op = op_get(u->inst, k)) != u->op; k++)
		i += op->n_joined;
	return u->inst->joined[i];
}

void *kit_scratch(const kit_use *u, uint64_t n_bytes)
{
	return u->inst->host->alloc(u->inst->host->ctx, n_bytes ? n_bytes : 1);
}

void kit_scratch_free(const kit_use *u, void *p)
{
	if (p)
		u->inst->host->release(u->inst->host->ctx, p);
}
