/* Running programs over arrays on a session: every array between two guards, every step after a barrier, through the
 * backend interface itself, so that nothing of core/runtime/exec stands between the suite and the device. About every second run is
 * repeated over buffers as an ordinary job has them, and then that one's results are judged. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/exec/guard.h"
#include "runtime/exec/readback.h"
#include "compiler/legalize/legal.h"
#include "evidence/suite/trial.h"

#define SLICE_NS (100ull * 1000 * 1000)
#define MOST_SECONDS 120

struct running {
	suite_trial *t;
	pctl_session *s;
	const pctl_backend *api;
	pctl_device *dev;
	const suite_work *w;
	pctl_shape shape;	   /* of the pass under way */
	uint32_t judged, reserved; /* its results are the trial's */
	uint8_t *results
		[SUITE_BUFFERS]; /* of the judged pass, with zones, until all passes are done */
	uint64_t results_at;	 /* where in them arrays begin */
	pctl_buffer *buffers[SUITE_BUFFERS];
	pctl_kernel *own[SUITE_STEPS]; /* built for this run alone */
	pctl_list *list;
};

uint32_t suite_buffer_add(suite_work *w, uint32_t kind, const void *data, uint64_t n_bytes)
{
	suite_buffer *b = &w->buffers[w->n_buffers];

	if (w->n_buffers == SUITE_BUFFERS) {
		w->failed = 1;
		return 0;
	}
	*b = (suite_buffer){kind, calloc(n_bytes / 4 + 1, 4), n_bytes};
	if (b->data == NULL)
		w->failed = 1;
	else if (data != NULL)
		memcpy(b->data, data, n_bytes);
	return w->n_buffers++;
}

uint32_t *suite_data(const suite_work *w, uint32_t buffer)
{
	return (uint32_t *)(void *)w->buffers[buffer].data;
}

void suite_step_add(suite_work *w, const pctl_kernel_module *unit, uint32_t groups,
		    const uint32_t *buffers, uint32_t n)
{
	suite_step *step = &w->steps[w->n_steps];

	if (w->n_steps == SUITE_STEPS || n > SUITE_BINDINGS) {
		w->failed = 1;
		return;
	}
	*step = (suite_step){.unit = unit, .groups = {groups, 1, 1}};
	memcpy(step->buffer, buffers, n * sizeof(*buffers));
	w->n_steps++;
}

void suite_work_drop(suite_work *w)
{
	for (uint32_t i = 0; i < w->n_buffers; i++)
		free(w->buffers[i].data);
	memset(w, 0, sizeof(*w));
}

/* ---- buffers between guards ------------------------------------------------------------------ */

/* Bytes of a binding as the device holds them: whole words. */
static uint64_t held(const suite_buffer *b)
{
	return (b->n_bytes + 3) / 4 * 4;
}

static pctl_status upload(struct running *r, uint32_t i)
{
	const suite_buffer *b = &r->w->buffers[i];
	const uint64_t n = held(b), all = r->shape.before + n + r->shape.behind;
	const uint32_t usage =
		PCTL_BUFFER_TRANSFER |
		(b->kind == SUITE_UNIFORM ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE);
	uint8_t *bytes = malloc(all + 1);
	pctl_status status;

	if (bytes == NULL)
		return pctl_no_memory(r->t->call, "a trial");
	pctl_guard_fill(bytes, all, r->shape.key + i, 0);
	if (n != 0)
		memcpy(bytes + r->shape.before, b->data, n);
	status = r->api->buffer_create(r->dev, r->t->call, all, usage, &r->buffers[i]);
	if (status == PCTL_OK)
		status = r->api->buffer_write(r->dev, r->t->call, r->buffers[i], 0, bytes, all);
	free(bytes);
	return status;
}

static void check_guards(struct running *r, uint32_t i, const uint8_t *bytes)
{
	const uint64_t before = r->shape.before, behind = before + held(&r->w->buffers[i]);
	const uint64_t key = r->shape.key + i;
	uint64_t k = pctl_guard_check(bytes, before, key, 0);
	uint8_t due;

	if (k == before)
		k = behind + pctl_guard_check(bytes + behind, r->shape.behind, key, behind);
	if (k == behind + r->shape.behind)
		return;
	pctl_guard_fill(&due, 1, key, k);
	if (suite_fail(r->t, "bytes beside a binding stay as they are")) {
		suite_found(r->t, "byte %" PRId64 " of array %u: %02x",
			    (int64_t)k - (int64_t)before, (unsigned)i, bytes[k]);
		suite_due(r->t, "%02x", due);
	}
}

/* Does a step bind the array where its program may write? */
static int is_written(const suite_work *w, uint32_t i)
{
	for (uint32_t s = 0; s < w->n_steps; s++) {
		const suite_step *step = &w->steps[s];
		const pctl_program *p = step->unit != NULL ? step->unit->program : step->program;

		for (uint32_t v = 0; v < p->n_vars; v++)
			if (p->vars[v].space == PCTL_SPACE_STORAGE &&
			    p->vars[v].access & PCTL_ACCESS_WRITE &&
			    p->vars[v].binding < SUITE_BINDINGS &&
			    step->buffer[p->vars[v].binding] == i)
				return 1;
	}
	return 0;
}

/* An array that programs only read. */
static void check_input(struct running *r, uint32_t i, const uint8_t *data)
{
	const suite_buffer *b = &r->w->buffers[i];
	uint64_t k = 0;

	while (k < b->n_bytes && data[k] == b->data[k])
		k++;
	if (k < b->n_bytes && suite_fail(r->t, "what is only read stays as it is")) {
		suite_found(r->t, "byte %" PRIu64 " of array %u: %02x", k, (unsigned)i, data[k]);
		suite_due(r->t, "%02x", b->data[k]);
	}
}

static pctl_status download(struct running *r, uint32_t i)
{
	const suite_buffer *b = &r->w->buffers[i];
	const uint64_t n = held(b), all = r->shape.before + n + r->shape.behind;
	uint8_t *bytes = malloc(all + 1);
	pctl_status status;

	if (bytes == NULL)
		return pctl_no_memory(r->t->call, "a trial");
	memset(bytes, PCTL_UNREAD, all);
	status = r->api->buffer_read(r->dev, r->t->call, r->buffers[i], 0, bytes, all);
	if (status == PCTL_OK) {
		check_guards(r, i, bytes);
		if (!is_written(r->w, i))
			check_input(r, i, bytes + r->shape.before);
		else if (r->judged && n != 0 && b->kind == SUITE_OUT) {
			r->results[i] = bytes;
			bytes = NULL;
		}
	}
	free(bytes);
	return status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A program as a session would build it, but for this run alone and with nothing assumed of the device. */
static pctl_status build_alone(struct running *r, const pctl_program *p, pctl_kernel **out)
{
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_program *legal = NULL;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	pctl_status status = PCTL_OK;

	if (pctl_session_kind(r->s) != PCTL_DEVICE_REFERENCE) {
		status = pctl_legalise(p, pctl_session_caps(r->s), &options, r->t->call, &legal);
		p = legal;
	}
	if (status == PCTL_OK)
		status = pctl_program_encode(p, r->t->call, &wire, &n);
	if (status == PCTL_OK)
		status = r->api->supports(r->dev, r->t->call, wire, n, &support);
	if (status == PCTL_OK && !support.supported)
		status = pctl_refuse(r->t->call, PC5201_UNSUPPORTED,
				     "%s cannot run a program of the suite: %.255s",
				     pctl_session_name(r->s), support.reason);
	if (status == PCTL_OK)
		status = r->api->kernel_build(r->dev, r->t->call, wire, n,
					      pctl_session_build_flags(r->s), NULL, 0, out);
	free(wire);
	pctl_program_destroy(legal);
	return status;
}

/* Steps of one program share the kernel. */
static pctl_status alone(struct running *r, uint32_t i, pctl_kernel **out)
{
	const pctl_program *p = r->w->steps[i].program;
	pctl_status status;

	for (uint32_t k = 0; k < i; k++) {
		if (r->w->steps[k].program == p && r->own[k] != NULL) {
			*out = r->own[k];
			return PCTL_OK;
		}
	}
	*out = NULL;
	status = build_alone(r, p, out);
	r->own[i] = *out;
	return status;
}

static pctl_status record_step(struct running *r, uint32_t i)
{
	const suite_step *step = &r->w->steps[i];
	const pctl_program *p = step->unit != NULL ? step->unit->program : step->program;
	pctl_binding bindings[SUITE_BINDINGS];
	pctl_kernel *k = NULL;
	uint32_t n = 0;
	pctl_status status;

	if (step->unit != NULL) {
		status = pctl_session_kernel(r->s, step->unit, r->t->call, &k);
	} else if (r->own[i] != NULL) {
		k = r->own[i];
		status = PCTL_OK;
	} else {
		status = alone(r, i, &k);
	}
	for (uint32_t v = 0; v < p->n_vars && n < SUITE_BINDINGS; v++) {
		const uint32_t space = p->vars[v].space, at = p->vars[v].binding;

		if ((space != PCTL_SPACE_STORAGE && space != PCTL_SPACE_UNIFORM) ||
		    at >= SUITE_BINDINGS)
			continue;
		bindings[n++] = (pctl_binding){0, at, r->buffers[step->buffer[at]], r->shape.before,
					       r->w->buffers[step->buffer[at]].n_bytes};
	}
	if (status == PCTL_OK && i != 0)
		status = r->api->list_barrier(r->list, r->t->call);
	if (status == PCTL_OK)
		status = r->api->list_dispatch(r->list, r->t->call, k, bindings, n, step->groups);
	return status;
}

static pctl_status wait_for(struct running *r, uint64_t ticket)
{
	const time_t began = time(NULL);

	for (;;) {
		pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
		pctl_status status = r->api->wait(r->dev, r->t->call, ticket, SLICE_NS, &done);

		if (status != PCTL_OK || done.done)
			return status;
		if (pctl_is_cancelled(r->t->call))
			status = pctl_refuse(r->t->call, PC4_CANCELLED,
					     "a trial of the suite was cancelled");
		else if (time(NULL) - began > MOST_SECONDS)
			status = pctl_refuse(r->t->call, PC5402_SUITE_TIME,
					     "%s ran a program of the suite for more than %d s",
					     pctl_session_name(r->s), MOST_SECONDS);
		if (status != PCTL_OK) {
			r->api->cancel(r->dev, ticket);
			for (int i = 0; i < 50 && !done.done; i++) {
				if (r->api->wait(r->dev, r->t->call, ticket, SLICE_NS, &done) !=
				    PCTL_OK)
					break;
			}
			return status;
		}
	}
}

/* List and buffers of a pass; kernels serve the next one too. */
static void clear(struct running *r)
{
	if (r->list != NULL)
		r->api->list_destroy(r->dev, r->list);
	r->list = NULL;
	for (uint32_t i = 0; i < r->w->n_buffers; i++) {
		if (r->buffers[i] != NULL)
			r->api->buffer_destroy(r->dev, r->buffers[i]);
		r->buffers[i] = NULL;
	}
}

/* Results become the work's data: they were what the passes began with. */
static void close_down(struct running *r, int take)
{
	for (uint32_t i = 0; i < r->w->n_buffers; i++) {
		if (take && r->results[i] != NULL)
			memcpy(r->w->buffers[i].data, r->results[i] + r->results_at,
			       held(&r->w->buffers[i]));
		free(r->results[i]);
	}
	for (uint32_t i = 0; i < SUITE_STEPS; i++)
		if (r->own[i] != NULL)
			r->api->kernel_destroy(r->dev, r->own[i]);
}

static pctl_status pass(struct running *r, pctl_shape shape, uint32_t judged)
{
	const suite_work *w = r->w;
	const pctl_call *call = r->t->call;
	pctl_status status = PCTL_OK;
	uint64_t ticket = 0;

	r->shape = shape;
	r->judged = judged;
	if (judged)
		r->results_at = shape.before;
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_buffers; i++)
		status = upload(r, i);
	if (status == PCTL_OK)
		status = r->api->list_begin(r->dev, call, &r->list);
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_steps; i++)
		status = record_step(r, i);
	if (status == PCTL_OK)
		status = r->api->list_end(r->list, call);
	if (status == PCTL_OK)
		status = r->api->submit(r->dev, call, r->list, w->times == 0 ? 1 : w->times,
					&ticket);
	if (status == PCTL_OK)
		status = wait_for(r, ticket);
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_buffers; i++)
		status = download(r, i);
	clear(r);
	return status;
}

pctl_status suite_run(suite_trial *t, pctl_session *s, const suite_work *w)
{
	struct running r = {.t = t,
			    .s = s,
			    .api = pctl_session_table(s),
			    .dev = pctl_session_device(s),
			    .w = w};
	const pctl_device_caps *caps = pctl_session_caps(s);
	const pctl_shape first = pctl_shape_next(&t->context->shapes, caps);
	const pctl_shape second = pctl_shape_next(&t->context->shapes, caps);
	const pctl_shape zones = first.before != 0 ? first : second;
	const pctl_shape exact = first.before != 0 ? second : first;
	/* The reference's findings are counted, and nobody doubts it. */
	const int trusted = s == t->context->reference || s == t->context->sanitizer;
	const int both = !trusted && first.before == 0;
	pctl_status status;

	if (w->failed)
		return pctl_no_memory(t->call, "a trial");
	if (!both)
		status = pass(&r, zones, 1);
	else
		status = pass(&r, zones.key & 1 ? zones : exact, !(zones.key & 1));
	if (status == PCTL_OK && both)
		status = pass(&r, zones.key & 1 ? exact : zones, zones.key & 1);
	close_down(&r, status == PCTL_OK);
	return status;
}

pctl_status suite_sanitize(suite_trial *t, const suite_work *w, uint32_t capacity,
			   pctl_finding *out, uint32_t *n)
{
	pctl_session *s = t->context->sanitizer;
	const pctl_backend *api;
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	pctl_status status;

	*n = 0;
	if (s == NULL)
		return pctl_refuse(
			t->call, PC5401_SUITE_SANITIZER,
			"the reference with its checks for races and accesses out of "
			"bounds could not be opened, and this part of the proof needs it");
	api = pctl_session_table(s);
	status = suite_run(t, s, w);
	if (status == PCTL_OK)
		status = api->findings(pctl_session_device(s), t->call, capacity, out, n);
	/* What was counted is nobody's concern here, but must not be left for the next. */
	if (status == PCTL_OK)
		status = api->counts(pctl_session_device(s), t->call, &counts);
	return status;
}
