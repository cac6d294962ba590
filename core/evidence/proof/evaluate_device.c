/* The evaluator on a session: per function one kernel; every run in the shape that the bench draws. */
#include "evidence/proof/evaluate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/sanitize.h"
#include "runtime/exec/value.h"
#include "runtime/exec/readback.h"
#include "runtime/graph/type.h"
#include "evidence/proof/function.h"

#define WAIT_NS (UINT64_C(100) * 1000 * 1000)
#define JOB_MS 600000u
#define WAITS 6000u		      /* ten minutes: no function of a block takes that long */
#define RESULT PCTL_FUNCTION_OPERANDS /* its place among the spans */
#define N_SPANS (PCTL_FUNCTION_OPERANDS + 1u)
#define LIVES 8u /* runs that a buffer lives for, at most */

struct built {
	pctl_op_function f;
	pctl_job_plan *plan;
	pctl_kernel *kernel;
	pctl_list *list; /* the last recorded, of these bindings; NULL: none */
	pctl_binding bindings[N_SPANS];
	struct built *next;
};

/* A buffer with a span between two zones. room: its bytes; n: of the span whose zones are written, with the shape they were
 * written in; lives: runs that it still serves. */
struct span {
	pctl_buffer *buffer;
	uint64_t room, n;
	pctl_shape shape;
	uint32_t lives, reserved;
};

struct device {
	pctl_evaluator base; /* first: an evaluator is released through it */
	pctl_proof_context *context;
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	struct span spans[N_SPANS];
	uint8_t *back; /* of operands, n_back bytes */
	uint64_t n_back;
	struct built *functions;
};

static void drop_list(struct device *d, struct built *b)
{
	if (b->list != NULL)
		d->t->list_destroy(d->dev, b->list);
	b->list = NULL;
}

static void drop(struct device *d, struct built *b)
{
	drop_list(d, b);
	pctl_job_plan_destroy(b->plan);
	free(b);
}

static pctl_status build(struct device *d, const pctl_op_function *f, const pctl_call *call,
			 struct built **out)
{
	struct built *b = calloc(1, sizeof(*b));
	pctl_status status;

	*out = NULL;
	if (b == NULL)
		return pctl_no_memory(call, "an evaluator");
	b->f = *f;
	status = pctl_function_plan(d->context, f, PCTL_PROOF_BLOCK, call, &b->plan);
	/* The ordinary gate, as before any job: limits, legaliser, profile. */
	if (status == PCTL_OK)
		status = pctl_session_qualify(d->s, b->plan, call);
	if (status == PCTL_OK)
		status = pctl_session_kernel(d->s, b->plan->steps[0].unit, call, &b->kernel);
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

/* The plan's dispatch over n elements, in the list that is there where the spans are still those it was recorded for. */
static pctl_status record(struct device *d, struct built *b, uint64_t n, const pctl_call *call)
{
	const pctl_step *step = &b->plan->steps[0];
	const uint32_t local = step->unit->program->entries[0].workgroup_size[0];
	const uint32_t groups[3] = {(uint32_t)((n + local - 1) / local), 1, 1};
	pctl_binding bindings[N_SPANS];
	pctl_status status;

	memset(bindings, 0, sizeof(bindings));
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *from = &step->bindings[i];
		const struct span *s = &d->spans[from->buffer == b->f.n_in ? RESULT : from->buffer];

		bindings[i].group = from->group;
		bindings[i].binding = from->binding;
		bindings[i].buffer = s->buffer;
		bindings[i].offset = s->shape.before;
		bindings[i].n_bytes = s->n;
	}
	if (b->list != NULL && memcmp(bindings, b->bindings, sizeof(bindings)) == 0)
		return PCTL_OK;
	drop_list(d, b);
	memcpy(b->bindings, bindings, sizeof(bindings));
	status = d->t->list_begin(d->dev, call, &b->list);
	if (status == PCTL_OK)
		status = d->t->list_dispatch(b->list, call, b->kernel, bindings, step->n_bindings,
					     groups);
	if (status == PCTL_OK)
		status = d->t->list_end(b->list, call);
	if (status != PCTL_OK)
		drop_list(d, b);
	return status;
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

static void close_span(struct device *d, struct span *s)
{
	/* Another buffer may come to lie at the same address: lists that name this one go first. */
	for (struct built *b = d->functions; s->buffer != NULL && b != NULL; b = b->next)
		drop_list(d, b);
	if (s->buffer != NULL)
		d->t->buffer_destroy(d->dev, s->buffer);
	*s = (struct span){0};
}

static pctl_status write_zone(struct device *d, const struct span *s, int behind,
			      const pctl_call *call)
{
	const uint64_t before = s->shape.before, n = behind ? s->shape.behind : before;
	uint8_t *zone = n == 0 ? NULL : malloc(n);
	pctl_status status;

	if (n == 0)
		return PCTL_OK;
	if (zone == NULL)
		return pctl_no_memory(call, "an evaluator");
	pctl_guard_fill(zone, n, s->shape.key, behind ? before : 0);
	status = d->t->buffer_write(d->dev, call, s->buffer, behind ? before + s->n : 0, zone, n);
	free(zone);
	return status;
}

/* A span of n bytes: the buffer that is there while it lives and has room, else another, in another place of it. What zones
 * hold stays from run to run, since it is compared after each. */
static pctl_status lay(struct device *d, struct span *s, uint64_t n, const pctl_shape *shape,
		       const pctl_call *call)
{
	const uint64_t extra = shape->before == 0 ? 0 : (shape->key >> 8) % 3 * (n / 4 / 2) * 4;
	int is_new = s->buffer == NULL || s->lives == 0 ||
		     s->shape.before + n + s->shape.behind > s->room ||
		     (s->shape.before == 0 && n != s->room);
	pctl_status status = PCTL_OK;

	if (is_new) {
		close_span(d, s);
		s->shape = *shape;
		s->room = shape->before + n + shape->behind + extra;
		s->lives = 1 + (uint32_t)(shape->key % LIVES);
		status = d->t->buffer_create(d->dev, call, s->room,
					     PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
						     PCTL_BUFFER_TRANSFER,
					     &s->buffer);
		if (status == PCTL_OK)
			status = write_zone(d, s, 0, call);
	}
	s->lives--;
	if (status == PCTL_OK && (is_new || n != s->n)) {
		s->n = n;
		status = write_zone(d, s, 1, call);
	}
	return status;
}

static void say(struct device *d, const struct built *b, uint32_t number, int64_t at, uint8_t is,
		uint8_t due)
{
	char name[PCTL_FUNCTION_NAME];

	if (d->base.beside[0] == '\0')
		snprintf(d->base.beside, sizeof(d->base.beside),
			 "byte %" PRId64 " of %s %.40s is 0x%02x, 0x%02x was written there", at,
			 number == RESULT ? "the result of" : "an operand of",
			 pctl_function_name(&b->f, name), is, due);
}

static pctl_status check_zone(struct device *d, const struct built *b, uint32_t number, int behind,
			      const pctl_call *call)
{
	const struct span *s = &d->spans[number];
	const uint64_t before = s->shape.before, n = behind ? s->shape.behind : before;
	const uint64_t from = behind ? before + s->n : 0;
	uint8_t *zone = n == 0 ? NULL : malloc(n), due;
	uint64_t at;
	pctl_status status;

	if (n == 0)
		return PCTL_OK;
	if (zone == NULL)
		return pctl_no_memory(call, "an evaluator");
	memset(zone, PCTL_UNREAD, n);
	status = d->t->buffer_read(d->dev, call, s->buffer, from, zone, n);
	at = pctl_guard_check(zone, n, s->shape.key, behind ? before : 0);
	if (status == PCTL_OK && at < n) {
		pctl_guard_fill(&due, 1, s->shape.key, (behind ? before : 0) + at);
		say(d, b, number, (int64_t)(from + at) - (int64_t)before, zone[at], due);
		/* What was written over is not what the next run is judged by. */
		close_span(d, &d->spans[number]);
	}
	free(zone);
	return status;
}

/* Every byte of an operand, which nobody may have written. */
static pctl_status check_operand(struct device *d, const struct built *b, uint32_t number,
				 const uint8_t *data, uint64_t n, const pctl_call *call)
{
	uint8_t *more = n <= d->n_back ? d->back : realloc(d->back, n);
	uint64_t at = 0;
	pctl_status status;

	if (more == NULL)
		return pctl_no_memory(call, "an evaluator");
	d->back = more;
	d->n_back = n > d->n_back ? n : d->n_back;
	memset(d->back, PCTL_UNREAD, n);
	status = d->t->buffer_read(d->dev, call, d->spans[number].buffer,
				   d->spans[number].shape.before, d->back, n);
	if (status != PCTL_OK || memcmp(data, d->back, n) == 0)
		return status;
	while (data[at] == d->back[at])
		at++;
	say(d, b, number, (int64_t)at, d->back[at], data[at]);
	return PCTL_OK;
}

/* What stands where the result will: other words at every call, none of which is a truth value. A device that writes
 * nothing shows them, never an old answer. */
static void poison(uint64_t key, uint64_t n_bytes, uint8_t *to)
{
	const uint32_t word = (uint32_t)(key >> 16) | 0x40004000u;

	for (uint64_t i = 0; i + 4 <= n_bytes; i += 4)
		memcpy(to + i, &word, 4);
	memcpy(to + n_bytes / 4 * 4, &word, n_bytes % 4);
}

/* The spans: the operands in theirs, between zones or not as those of a job lie that other jobs made; poison where the result comes. */
static pctl_status prepare(struct device *d, const struct built *b, const pctl_shape *shape,
			   const pctl_column *in, uint64_t n, const pctl_column *out,
			   const pctl_call *call)
{
	const uint64_t in_bytes = n * pctl_dtype_bytes(b->f.dtype);
	const uint64_t out_bytes = n * pctl_dtype_bytes(b->f.out_dtype);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < b->f.n_in; i++) {
		const pctl_zones z = pctl_shape_input(shape, i, pctl_session_caps(d->s));
		const pctl_shape own = {z.before, z.behind, shape->key + i + 1u, 0, 0};

		status = lay(d, &d->spans[i], pctl_num_align(in_bytes, 4), &own, call);
		if (status == PCTL_OK)
			status = d->t->buffer_write(d->dev, call, d->spans[i].buffer,
						    d->spans[i].shape.before, in[i].data, in_bytes);
	}
	if (status == PCTL_OK)
		status = lay(d, &d->spans[RESULT], pctl_num_align(out_bytes, 4), shape, call);
	poison(shape->key, out_bytes, out->data);
	if (status == PCTL_OK)
		status = d->t->buffer_write(d->dev, call, d->spans[RESULT].buffer,
					    d->spans[RESULT].shape.before, out->data, out_bytes);
	return status;
}

/* The result, and what nobody may have written. */
static pctl_status receive(struct device *d, const struct built *b, const pctl_shape *shape,
			   const pctl_column *in, uint64_t n, const pctl_column *out,
			   const pctl_call *call)
{
	const struct span *s = &d->spans[RESULT];
	pctl_status status = d->t->buffer_read(d->dev, call, s->buffer, s->shape.before, out->data,
					       n * pctl_dtype_bytes(b->f.out_dtype));

	for (uint32_t i = 0; status == PCTL_OK && shape->thorough && i < b->f.n_in; i++) {
		status = check_operand(d, b, i, in[i].data, n * pctl_dtype_bytes(b->f.dtype), call);
		for (int k = 0; status == PCTL_OK && k < 2 && d->spans[i].buffer != NULL; k++)
			status = check_zone(d, b, i, k, call);
	}
	for (int k = 0; status == PCTL_OK && k < 2 && s->buffer != NULL; k++)
		status = check_zone(d, b, RESULT, k, call);
	return status;
}

static pctl_status apply_guarded(struct device *d, struct built *b, const pctl_shape *shape,
				 const pctl_column *in, uint64_t n, const pctl_column *out,
				 const pctl_call *call)
{
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	uint64_t ticket = 0;
	pctl_status status = prepare(d, b, shape, in, n, out, call);

	if (status == PCTL_OK)
		status = record(d, b, n, call);
	if (status == PCTL_OK)
		status = d->t->submit(d->dev, call, b->list, 1, &ticket);
	if (status == PCTL_OK)
		status = wait_for(d, ticket, call);
	if (status == PCTL_OK)
		status = pctl_sanitize_report(d->s, b->plan, call, &counts);
	return status == PCTL_OK ? receive(d, b, shape, in, n, out, call) : status;
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
	pctl_status status = pctl_function_plan(d->context, f, n, call, &plan);

	if (status == PCTL_OK)
		status = pctl_session_qualify(d->s, plan, call);
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_in; i++) {
		operands[i] = pctl_value_from_bytes(in[i].data, n * pctl_dtype_bytes(f->dtype));
		if (operands[i] == NULL)
			status = pctl_no_memory(call, "an evaluator");
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
	pctl_shape shape;
	struct built *b;
	pctl_status status = function_get(d, f, call, &b);

	out->dtype = f->out_dtype;
	out->n = n;
	if (status != PCTL_OK || n == 0)
		return status;
	shape = pctl_shape_next(&d->context->shapes, pctl_session_caps(d->s));
	return shape.before == 0 ? apply_plain(d, f, in, n, out, call)
				 : apply_guarded(d, b, &shape, in, n, out, call);
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

pctl_status pctl_evaluator_device(pctl_proof_context *b, pctl_session *s, const pctl_call *call,
				  pctl_evaluator **out)
{
	struct device *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (d == NULL)
		return pctl_no_memory(call, "an evaluator");
	d->base = (pctl_evaluator){.ctx = d, .name = pctl_session_name(s), .apply = device_apply};
	d->context = b;
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
		for (uint32_t i = 0; i < N_SPANS; i++)
			close_span(d, &d->spans[i]);
		free(d->back);
	}
	free(e);
}
