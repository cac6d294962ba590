/* The evaluator on a session: per function one kernel and a few recorded lists, all over the same buffers. */
#include "proof/evaluate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exec/sanitize.h"
#include "graph/type.h"
#include "proof/function.h"
#include "proof/random.h"

#define ELEMENT_MAX 16u /* bytes */
#define WAIT_NS (UINT64_C(100) * 1000 * 1000)
#define WAITS 6000u /* ten minutes: no function of a block takes that long */

/* Elements of the recorded lists: a counterexample must not cost a block. */
static const uint32_t sizes[] = {1u << 8, 1u << 12, 1u << 15, PCTL_PROOF_BLOCK};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct built {
	pctl_op_function f;
	pctl_job_plan *plan;
	pctl_list *lists[N_SIZES];
	struct built *next;
};

struct device {
	pctl_evaluator base; /* first: an evaluator is released through it */
	pctl_bench *bench;
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_buffer *in[PCTL_FUNCTION_OPERANDS], *out;
	struct built *functions;
	uint64_t applies;
};

static pctl_status make_buffer(struct device *d, const pctl_call *call, pctl_buffer **out)
{
	return *out != NULL ? PCTL_OK
			    : d->t->buffer_create(d->dev, call, PCTL_PROOF_BLOCK * ELEMENT_MAX,
						  PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, out);
}

/* The plan's dispatch over the first n elements. */
static pctl_status record(struct device *d, struct built *b, pctl_kernel *k, uint32_t n,
			  const pctl_call *call, pctl_list **out)
{
	const pctl_step *step = &b->plan->steps[0];
	const uint32_t local = step->unit->program->entries[0].workgroup_size[0];
	const uint32_t groups[3] = {(n + local - 1) / local, 1, 1};
	pctl_binding bindings[PCTL_FUNCTION_OPERANDS + 1];
	pctl_list *list = NULL;
	pctl_status status;

	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *from = &step->bindings[i];
		const int is_out = from->buffer == b->f.n_in;
		const uint64_t bytes = pctl_dtype_bytes(is_out ? b->f.out_dtype : b->f.dtype);

		bindings[i] = (pctl_binding){.group = from->group,
					     .binding = from->binding,
					     .buffer = is_out ? d->out : d->in[from->buffer],
					     .n_bytes = n * bytes};
	}
	status = d->t->list_begin(d->dev, call, &list);
	if (status == PCTL_OK)
		status = d->t->list_dispatch(list, call, k, bindings, step->n_bindings, groups);
	if (status == PCTL_OK)
		status = d->t->list_end(list, call);
	if (status != PCTL_OK && list != NULL)
		d->t->list_destroy(d->dev, list);
	*out = status == PCTL_OK ? list : NULL;
	return status;
}

static void drop(struct device *d, struct built *b)
{
	for (uint32_t i = 0; i < N_SIZES; i++)
		if (b->lists[i] != NULL)
			d->t->list_destroy(d->dev, b->lists[i]);
	pctl_job_plan_destroy(b->plan);
	free(b);
}

static pctl_status build(struct device *d, const pctl_op_function *f, const pctl_call *call,
			 struct built **out)
{
	struct built *b = calloc(1, sizeof(*b));
	pctl_kernel *kernel = NULL;
	pctl_status status;

	*out = NULL;
	if (b == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an evaluator");
	b->f = *f;
	status = pctl_function_plan(d->bench, f, call, &b->plan);
	/* The ordinary gate, as before any job: limits, legaliser, profile. */
	if (status == PCTL_OK)
		status = pctl_session_qualify(d->s, b->plan, call);
	if (status == PCTL_OK)
		status = pctl_session_kernel(d->s, b->plan->steps[0].unit, call, &kernel);
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_in; i++)
		status = make_buffer(d, call, &d->in[i]);
	if (status == PCTL_OK)
		status = make_buffer(d, call, &d->out);
	for (uint32_t i = 0; status == PCTL_OK && i < N_SIZES; i++)
		status = record(d, b, kernel, sizes[i], call, &b->lists[i]);
	if (status != PCTL_OK) {
		drop(d, b);
		return status;
	}
	b->next = d->functions;
	*out = d->functions = b;
	return PCTL_OK;
}

static pctl_status function_get(struct device *d, const pctl_op_function *f, const pctl_call *call,
				struct built **out)
{
	for (*out = d->functions; *out != NULL; *out = (*out)->next)
		if (pctl_function_same(&(*out)->f, f))
			return PCTL_OK;
	return build(d, f, call, out);
}

static pctl_status wait_for(struct device *d, uint64_t ticket, const pctl_call *call)
{
	pctl_status why = PCTL_OK;

	for (uint32_t i = 0; i < WAITS; i++) {
		pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
		const pctl_status status = d->t->wait(d->dev, call, ticket, WAIT_NS, &done);

		if (status != PCTL_OK || done.done)
			return why != PCTL_OK ? why : status;
		if (why == PCTL_OK && pctl_is_cancelled(call)) {
			why = pctl_refuse(call, PC4_CANCELLED, "a proof was cancelled");
			d->t->cancel(d->dev, ticket);
		}
	}
	d->t->cancel(d->dev, ticket);
	return pctl_refuse(call, PC5206_TIMEOUT,
			   "a block of a proof ran longer than 10 minutes on %s",
			   pctl_session_name(d->s));
}

/* What stands where the result will: other words at every call, none of which is a truth value. A device that writes
 * nothing shows them, never an old answer. */
static pctl_status poison(struct device *d, uint64_t n_bytes, uint8_t *scratch,
			  const pctl_call *call)
{
	const uint32_t word =
		(uint32_t)pctl_proof_mix(d->bench->seed, 0x706f, ++d->applies) | 0x40004000u;

	for (uint64_t i = 0; i < n_bytes; i += 4)
		memcpy(scratch + i, &word, n_bytes - i < 4 ? n_bytes - i : 4);
	return d->t->buffer_write(d->dev, call, d->out, 0, scratch, n_bytes);
}

static pctl_status device_apply(void *ctx, const pctl_op_function *f, const pctl_column *in,
				uint64_t n, pctl_column *out, const pctl_call *call)
{
	const uint64_t in_bytes = n * pctl_dtype_bytes(f->dtype);
	const uint64_t out_bytes = n * pctl_dtype_bytes(f->out_dtype);
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	struct device *d = ctx;
	uint64_t ticket = 0;
	struct built *b;
	uint32_t size = 0;
	pctl_status status = function_get(d, f, call, &b);

	out->dtype = f->out_dtype;
	out->n = n;
	if (status != PCTL_OK || n == 0)
		return status;
	while (size + 1 < N_SIZES && sizes[size] < n)
		size++;
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_in; i++)
		status = d->t->buffer_write(d->dev, call, d->in[i], 0, in[i].data, in_bytes);
	if (status == PCTL_OK)
		status = poison(d, out_bytes, out->data, call);
	if (status == PCTL_OK)
		status = d->t->submit(d->dev, call, b->lists[size], 1, &ticket);
	if (status == PCTL_OK)
		status = wait_for(d, ticket, call);
	if (status == PCTL_OK)
		status = pctl_sanitize_report(d->s, b->plan, call, &counts);
	if (status == PCTL_OK)
		status = d->t->buffer_read(d->dev, call, d->out, 0, out->data, out_bytes);
	return status;
}

pctl_status pctl_evaluator_device(pctl_bench *b, pctl_session *s, const pctl_call *call,
				  pctl_evaluator **out)
{
	struct device *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (d == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an evaluator");
	d->base = (pctl_evaluator){.ctx = d, .name = pctl_session_name(s), .apply = device_apply};
	d->bench = b;
	d->s = s;
	d->t = pctl_session_table(s);
	d->dev = pctl_session_device(s);
	*out = &d->base;
	return PCTL_OK;
}

void pctl_evaluator_destroy(pctl_evaluator *e)
{
	struct device *d;

	if (e == NULL)
		return;
	if (e->apply == device_apply) {
		d = e->ctx;
		while (d->functions != NULL) {
			struct built *next = d->functions->next;

			drop(d, d->functions);
			d->functions = next;
		}
		for (uint32_t i = 0; i < PCTL_FUNCTION_OPERANDS; i++)
			if (d->in[i] != NULL)
				d->t->buffer_destroy(d->dev, d->in[i]);
		if (d->out != NULL)
			d->t->buffer_destroy(d->dev, d->out);
	}
	free(e);
}
