/* The evaluator on a session: per function one kernel and a few recorded lists, all over the same buffers. */
#include "proof/evaluate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/guard.h"
#include "exec/sanitize.h"
#include "exec/value.h"
#include "graph/type.h"
#include "proof/function.h"
#include "proof/random.h"

#define ELEMENT_MAX 16u /* bytes */
#define WAIT_NS (UINT64_C(100) * 1000 * 1000)
#define JOB_MS 600000u
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
	uint64_t side; /* bytes of a guard zone */
	pctl_buffer *in[PCTL_FUNCTION_OPERANDS], *out;
	uint8_t *sent[PCTL_FUNCTION_OPERANDS + 1]; /* what each holds, zones included */
	uint8_t *back;
	struct built *functions;
	uint64_t applies;
};

static uint64_t room(const struct device *d)
{
	return PCTL_PROOF_BLOCK * ELEMENT_MAX + 2 * d->side;
}

static pctl_status make_buffer(struct device *d, const pctl_call *call, uint8_t **sent,
			       pctl_buffer **out)
{
	if (*sent == NULL)
		*sent = malloc(room(d));
	if (d->back == NULL)
		d->back = malloc(room(d));
	if (*sent == NULL || d->back == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for an evaluator");
	return *out != NULL ? PCTL_OK
			    : d->t->buffer_create(d->dev, call, room(d),
						  PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
							  PCTL_BUFFER_TRANSFER,
						  out);
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
					     .offset = d->side,
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
	status = pctl_function_plan(d->bench, f, PCTL_PROOF_BLOCK, call, &b->plan);
	/* The ordinary gate, as before any job: limits, legaliser, profile. */
	if (status == PCTL_OK)
		status = pctl_session_qualify(d->s, b->plan, call);
	if (status == PCTL_OK)
		status = pctl_session_kernel(d->s, b->plan->steps[0].unit, call, &kernel);
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_in; i++)
		status = make_buffer(d, call, &d->sent[i], &d->in[i]);
	if (status == PCTL_OK)
		status = make_buffer(d, call, &d->sent[PCTL_FUNCTION_OPERANDS], &d->out);
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

/* ---- between zones ---------------------------------------------------------------------------- */

static uint64_t key_of(const struct device *d, uint32_t number)
{
	return pctl_proof_mix(d->bench->seed, 0x6775, d->applies * 8 + number);
}

/* Zone, n bytes of data, what else of the span, zone: all but the data is the pattern. */
static pctl_status send(struct device *d, uint32_t number, pctl_buffer *buffer, const void *data,
			uint64_t n, uint64_t span, const pctl_call *call)
{
	uint8_t *bytes = d->sent[number];
	const uint64_t key = key_of(d, number);

	pctl_guard_fill(bytes, d->side, key, 0);
	if (n != 0)
		memcpy(bytes + d->side, data, n);
	pctl_guard_fill(bytes + d->side + n, span - n + d->side, key, d->side + n);
	return d->t->buffer_write(d->dev, call, buffer, 0, bytes, span + 2 * d->side);
}

/* What stands where the result will: other words at every call, none of which is a truth value. A device that writes
 * nothing shows them, never an old answer. */
static void poison(struct device *d, uint64_t n_bytes, uint8_t *to)
{
	const uint32_t word =
		(uint32_t)pctl_proof_mix(d->bench->seed, 0x706f, d->applies) | 0x40004000u;

	for (uint64_t i = 0; i < n_bytes; i += 4)
		memcpy(to + i, &word, n_bytes - i < 4 ? n_bytes - i : 4);
}

/* Bytes [from, end) of a buffer that was read to d->back against those that were sent. */
static void compare(struct device *d, const struct built *b, uint32_t number, uint64_t from,
		    uint64_t end)
{
	const uint8_t *sent = d->sent[number];
	char name[PCTL_FUNCTION_NAME];
	uint64_t at = from;

	if (d->base.beside[0] != '\0' || memcmp(sent + from, d->back + from, end - from) == 0)
		return;
	while (sent[at] == d->back[at])
		at++;
	snprintf(d->base.beside, sizeof(d->base.beside),
		 "byte %" PRId64 " of %s %.40s is 0x%02x, 0x%02x was written there",
		 (int64_t)at - (int64_t)d->side,
		 number == PCTL_FUNCTION_OPERANDS ? "the result of" : "an operand of",
		 pctl_function_name(&b->f, name), d->back[at], sent[at]);
}

/* The result, and all that nobody may have written: its zones, and every byte of the operands. */
static pctl_status receive(struct device *d, const struct built *b, uint64_t in_span,
			   uint64_t out_span, void *out, uint64_t n, const pctl_call *call)
{
	pctl_status status;

	memset(d->back, PCTL_UNREAD, out_span + 2 * d->side);
	status = d->t->buffer_read(d->dev, call, d->out, 0, d->back, out_span + 2 * d->side);
	if (status != PCTL_OK)
		return status;
	memcpy(out, d->back + d->side, n);
	compare(d, b, PCTL_FUNCTION_OPERANDS, 0, d->side);
	compare(d, b, PCTL_FUNCTION_OPERANDS, d->side + out_span, out_span + 2 * d->side);
	for (uint32_t i = 0; status == PCTL_OK && i < b->f.n_in; i++) {
		memset(d->back, PCTL_UNREAD, in_span + 2 * d->side);
		status = d->t->buffer_read(d->dev, call, d->in[i], 0, d->back,
					   in_span + 2 * d->side);
		if (status == PCTL_OK)
			compare(d, b, i, 0, in_span + 2 * d->side);
	}
	return status;
}

static pctl_status apply_guarded(struct device *d, const struct built *b, const pctl_column *in,
				 uint64_t n, pctl_column *out, const pctl_call *call)
{
	const uint64_t in_bytes = pctl_dtype_bytes(b->f.dtype);
	const uint64_t out_bytes = pctl_dtype_bytes(b->f.out_dtype);
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	pctl_status status = PCTL_OK;
	uint64_t ticket = 0;
	uint32_t size = 0;

	d->applies++;
	while (size + 1 < N_SIZES && sizes[size] < n)
		size++;
	for (uint32_t i = 0; status == PCTL_OK && i < b->f.n_in; i++)
		status = send(d, i, d->in[i], in[i].data, n * in_bytes, sizes[size] * in_bytes,
			      call);
	poison(d, n * out_bytes, out->data);
	if (status == PCTL_OK)
		status = send(d, PCTL_FUNCTION_OPERANDS, d->out, out->data, n * out_bytes,
			      sizes[size] * out_bytes, call);
	if (status == PCTL_OK)
		status = d->t->submit(d->dev, call, b->lists[size], 1, &ticket);
	if (status == PCTL_OK)
		status = wait_for(d, ticket, call);
	if (status == PCTL_OK)
		status = pctl_sanitize_report(d->s, b->plan, call, &counts);
	return status == PCTL_OK ? receive(d, b, sizes[size] * in_bytes, sizes[size] * out_bytes,
					   out->data, n * out_bytes, call)
				 : status;
}

/* ---- as a job --------------------------------------------------------------------------------- */

/* As a run does it: a plan for n elements, buffers of its own, operands up, one submit, the result down. */
static pctl_status apply_plain(struct device *d, const pctl_op_function *f, const pctl_column *in,
			       uint64_t n, pctl_column *out, const pctl_call *call)
{
	const uint64_t out_bytes = n * pctl_dtype_bytes(f->out_dtype);
	pctl_job_run job = {.repeat = 1, .timeout_ms = JOB_MS, .out_bytes = &out_bytes};
	pctl_value *operands[PCTL_FUNCTION_OPERANDS] = {NULL}, *result = NULL;
	pctl_job_plan *plan = NULL;
	pctl_status status = pctl_function_plan(d->bench, f, n, call, &plan);

	if (status == PCTL_OK)
		status = pctl_session_qualify(d->s, plan, call);
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_in; i++) {
		operands[i] = pctl_value_from_bytes(in[i].data, n * pctl_dtype_bytes(f->dtype));
		if (operands[i] == NULL)
			status = pctl_refuse(call, PC2_NOMEM, "no memory for an evaluator");
	}
	job.plan = plan;
	if (status == PCTL_OK)
		status = pctl_job_execute(d->s, &job, operands, call, &result, NULL);
	if (status == PCTL_OK)
		status = pctl_value_read(result, 0, out->data, out_bytes, call);
	for (uint32_t i = 0; i < f->n_in; i++)
		pctl_value_release(operands[i]);
	pctl_value_release(result);
	pctl_job_plan_destroy(plan);
	return status;
}

static pctl_status device_apply(void *ctx, const pctl_op_function *f, const pctl_column *in,
				uint64_t n, pctl_column *out, const pctl_call *call)
{
	struct device *d = ctx;
	struct built *b;
	pctl_status status = function_get(d, f, call, &b);

	out->dtype = f->out_dtype;
	out->n = n;
	if (status != PCTL_OK || n == 0)
		return status;
	return d->bench->runs++ % PCTL_BENCH_PLAIN == 0 ? apply_plain(d, f, in, n, out, call)
							: apply_guarded(d, b, in, n, out, call);
}

void pctl_evaluator_judge(pctl_evaluator *e, const char *inputs, pctl_block *out)
{
	pctl_counterexample *x = &out->first;

	if (e->beside[0] == '\0')
		return;
	if (out->failures++ == 0) {
		snprintf(x->law, sizeof(x->law), "%s", PCTL_LAW_BESIDE);
		snprintf(x->inputs, sizeof(x->inputs), "%s", inputs);
		snprintf(x->got, sizeof(x->got), "%.127s", e->beside);
		snprintf(x->want, sizeof(x->want), "what the host wrote");
	}
	if (out->cases < out->failures)
		out->cases = out->failures;
	e->beside[0] = '\0';
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
	d->side = pctl_guard_side(pctl_session_caps(s));
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
		for (uint32_t i = 0; i <= PCTL_FUNCTION_OPERANDS; i++)
			free(d->sent[i]);
		free(d->back);
	}
	free(e);
}
