/* A fake backend for tasks that records what it is asked and changes a byte where a test wants it, and tasks for it. */
#ifndef PIPECTL_TESTS_EXEC_TASKS_H
#define PIPECTL_TESTS_EXEC_TASKS_H

#include "main.h"

#include "runtime/exec/tasks.h"
#include "foundation/diag/diag.h"
#include "compiler/wgsl/wgsl.h"

#include "fakes/memory.h"

#define COPY                                                              \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { y[id.x] = x[id.x] + 1u; }\n}\n"
/* ---- the backend ------------------------------------------------------------------------------ */

static struct {
	int alive;
	uint32_t calls, fail_at; /* the fail_at-th fallible call fails, 0 none */
	uint32_t buffers, writes, reads, lists, dispatches, barriers, fills, submits, cancels;
	uint32_t never_done;
	uint64_t bytes, most_bytes; /* of buffers alive */
	uint64_t alignment, most_buffer;
	uint64_t traces[64];
	pctl_binding bound[64][2];
	pctl_buffer *made[8]; /* the buffers of this run, in their order */
	uint32_t stray;	      /* 1 + the number of one with a byte that a submit flips, 0 none */
	uint64_t stray_at, stray_left; /* which byte; how many there were from it on */
} log_;

static int fails(void)
{
	return ++log_.calls == log_.fail_at;
}

static pctl_status buffer_create(pctl_device *d, const pctl_call *c, uint64_t n, uint32_t u,
				 pctl_buffer **out)
{
	pctl_status status = fails() ? PCTL_E_DEVICE_LOST : fake_buffer_create(d, c, n, u, out);

	assert_true(n <= log_.most_buffer && n % 4 == 0);
	if (status != PCTL_OK)
		return status;
	log_.alive++;
	if (log_.buffers < 8)
		log_.made[log_.buffers] = *out;
	log_.buffers++;
	log_.bytes += n;
	log_.most_bytes = log_.bytes > log_.most_bytes ? log_.bytes : log_.most_bytes;
	return PCTL_OK;
}

static void buffer_destroy(pctl_device *d, pctl_buffer *b)
{
	log_.alive--;
	log_.bytes -= b->n_bytes;
	fake_buffer_destroy(d, b);
}

static pctl_status buffer_write(pctl_device *d, const pctl_call *c, pctl_buffer *b, uint64_t o,
				const void *p, uint64_t n)
{
	assert_true(o <= b->n_bytes && n <= b->n_bytes - o);
	log_.writes++;
	return fails() ? PCTL_E_DEVICE_LOST : fake_buffer_write(d, c, b, o, p, n);
}

static pctl_status buffer_read(pctl_device *d, const pctl_call *c, pctl_buffer *b, uint64_t o,
			       void *p, uint64_t n)
{
	assert_true(o <= b->n_bytes && n <= b->n_bytes - o);
	log_.reads++;
	return fails() ? PCTL_E_DEVICE_LOST : fake_buffer_read(d, c, b, o, p, n);
}

static pctl_status kernel_build(pctl_device *d, const pctl_call *c, const uint8_t *w, uint64_t n,
				uint32_t f, const void *k, uint64_t kn, pctl_kernel **out)
{
	pctl_status status =
		fails() ? PCTL_E_DEVICE_LOST : fake_kernel_build(d, c, w, n, f, k, kn, out);

	log_.alive += status == PCTL_OK;
	return status;
}

static void kernel_destroy(pctl_device *d, pctl_kernel *k)
{
	log_.alive--;
	fake_kernel_destroy(d, k);
}

static pctl_status list_begin(pctl_device *d, const pctl_call *c, pctl_list **out)
{
	pctl_status status = fails() ? PCTL_E_DEVICE_LOST : fake_list_begin(d, c, out);

	log_.alive += status == PCTL_OK;
	log_.lists++;
	return status;
}

static void list_destroy(pctl_device *d, pctl_list *l)
{
	log_.alive--;
	fake_list_destroy(d, l);
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *c, pctl_kernel *k,
				 const pctl_binding *b, uint32_t n, const uint32_t g[3])
{
	for (uint32_t i = 0; i < n; i++) {
		assert_true(b[i].n_bytes == 0 ||
			    (b[i].buffer != NULL && b[i].offset % log_.alignment == 0 &&
			     b[i].offset + b[i].n_bytes <= b[i].buffer->n_bytes));
		if (b[i].binding == 0 && log_.dispatches < 64)
			log_.bound[log_.dispatches][b[i].group] = b[i];
	}
	assert_true(g[0] * g[1] * g[2] != 0);
	if (log_.dispatches < 64)
		log_.traces[log_.dispatches] = c->trace_id;
	log_.dispatches++;
	return fails() ? PCTL_E_DEVICE_LOST : fake_list_dispatch(l, c, k, b, n, g);
}

static pctl_status list_barrier(pctl_list *l, const pctl_call *c)
{
	log_.barriers++;
	return fake_list_barrier(l, c);
}

static pctl_status list_end(pctl_list *l, const pctl_call *c)
{
	return fails() ? PCTL_E_DEVICE_LOST : fake_list_end(l, c);
}

/* y[i] = x[i] + 1, x zero where it is shorter. */
static void run_command(const fake_command *c)
{
	const pctl_binding *x = NULL, *y = NULL;

	for (uint32_t i = 0; i < c->n_bindings; i++) {
		x = c->bindings[i].group == 0 && c->bindings[i].binding == 0 ? &c->bindings[i] : x;
		y = c->bindings[i].group == 1 ? &c->bindings[i] : y;
	}
	for (uint64_t at = 0; at + 4 <= y->n_bytes; at += 4) {
		uint32_t v = 0;

		if (x != NULL && at + 4 <= x->n_bytes)
			memcpy(&v, x->buffer->data + x->offset + at, 4);
		v++;
		memcpy(y->buffer->data + y->offset + at, &v, 4);
	}
}

static pctl_status submit(pctl_device *d, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	(void)call;
	(void)times;
	*ticket = 0;
	if (fails())
		return PCTL_E_DEVICE_LOST;
	log_.submits++;
	for (uint32_t i = 0; i < l->n; i++)
		run_command(&l->commands[i]);
	if (log_.stray != 0 && log_.stray <= log_.buffers) {
		pctl_buffer *b = log_.made[log_.stray - 1];

		log_.stray_left = b->n_bytes > log_.stray_at ? b->n_bytes - log_.stray_at : 0;
		if (log_.stray_left != 0)
			b->data[log_.stray_at] ^= 0x10;
	}
	*ticket = d->done_ticket = d->next_ticket++;
	return PCTL_OK;
}

static pctl_status wait_(pctl_device *d, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out)
{
	if (fails())
		return PCTL_E_DEVICE_LOST;
	if (log_.never_done && log_.cancels == 0) {
		out->done = 0;
		usleep(2000);
		return PCTL_OK;
	}
	return fake_wait(d, call, ticket, timeout_ns, out);
}

static void cancel(pctl_device *d, uint64_t ticket)
{
	(void)d;
	(void)ticket;
	log_.cancels++;
}

static pctl_status caps(pctl_device *d, const pctl_call *call, pctl_device_caps *out)
{
	pctl_status status = fake_device_caps(d, call, out);

	out->max_local[0] = out->max_local[1] = out->max_local[2] = 256;
	out->binding_alignment = log_.alignment;
	out->max_buffer_bytes = log_.most_buffer;
	return status;
}

static const pctl_backend template = {FAKE_TABLE};

/* ---- the bench -------------------------------------------------------------------------------- */

#define MOST 64u

struct bench {
	pctl_backend table;
	struct pctl_instance inst;
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_kernels *kernels;
	pctl_session *s;
	pctl_task tasks[MOST];
	pctl_task_binding bindings[MOST][2];
	pctl_cid cids[MOST];
	char names[MOST][16];
	uint32_t n;
};

static void bench_open(struct bench *b, uint64_t alignment, uint64_t most_buffer)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "fake", .id = "fake:0"};

	memset(&log_, 0, sizeof(log_));
	log_.alignment = alignment;
	log_.most_buffer = most_buffer;
	memset(b, 0, sizeof(*b));
	b->table = template;
	b->table.buffer_create = buffer_create;
	b->table.buffer_destroy = buffer_destroy;
	b->table.buffer_write = buffer_write;
	b->table.buffer_read = buffer_read;
	b->table.kernel_build = kernel_build;
	b->table.kernel_destroy = kernel_destroy;
	b->table.list_begin = list_begin;
	b->table.list_destroy = list_destroy;
	b->table.list_dispatch = list_dispatch;
	b->table.list_barrier = list_barrier;
	b->table.list_end = list_end;
	b->table.submit = submit;
	b->table.wait = wait_;
	b->table.cancel = cancel;
	b->table.device_caps = caps;
	b->l = pctl_diag_list_create();
	b->call = pctl_diag_list_call(b->l);
	b->kernels = pctl_kernels_create(NULL);
	o.table = &b->table;
	o.inst = &b->inst;
	assert_int_equal(pctl_session_open(&o, b->call, &b->s), PCTL_OK);
}

static const pctl_kernel_module *unit_of(struct bench *b, const char *text)
{
	static const uint32_t groups[3] = {1, 1, 1};
	const pctl_kernel_source source = {.name = "k",
					   .text = text,
					   .n_text = strlen(text),
					   .flags = PCTL_WGSL_CONSENSUS,
					   .groups = groups};
	const pctl_kernel_module *unit;

	assert_int_equal(pctl_kernels_get(b->kernels, &source, b->call, &unit), PCTL_OK);
	return unit;
}

/* A task that reads n_in bytes and writes n_out; word i of its input is 100 * seed + i. named: by their CID. */
static pctl_task *add(struct bench *b, uint64_t n_in, uint64_t n_out, uint32_t seed, int named)
{
	const uint32_t i = b->n++;
	uint32_t *words = calloc(1, n_in + 4);
	pctl_task *t = &b->tasks[i];

	assert_true(i < MOST);
	for (uint64_t k = 0; k < n_in / 4; k++)
		words[k] = 100 * seed + (uint32_t)k;
	snprintf(b->names[i], sizeof(b->names[i]), "task%u", i);
	assert_int_equal(pctl_cid_of(words, n_in, b->call, &b->cids[i]), PCTL_OK);
	b->bindings[i][0] = (pctl_task_binding){0, 0, named ? &b->cids[i] : NULL, words, n_in};
	*t = (pctl_task){.unit = unit_of(b, COPY),
			 .name = b->names[i],
			 .groups = {1, 1, 1},
			 .n_bindings = 1,
			 .bindings = b->bindings[i],
			 .output = malloc(n_out + 1),
			 .n_output = n_out};
	memset(t->output, 0xa5, n_out + 1);
	return t;
}

static pctl_status run(struct bench *b, const pctl_task_limits *limits, pctl_task_stats *stats)
{
	static const pctl_task_limits none = {0};

	return pctl_tasks_run(b->s, limits == NULL ? &none : limits, b->tasks, b->n, b->call,
			      stats);
}

/* Every output: words of the input plus one, or ones behind its end; zeros where nothing ran. */
static void expect(const struct bench *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const pctl_task *t = &b->tasks[i];
		const int works = t->groups[0] != 0 && t->groups[1] != 0 && t->groups[2] != 0;
		const uint8_t *out = t->output;

		assert_int_equal(out[t->n_output], 0xa5);
		for (uint64_t k = 0; k + 4 <= t->n_output; k += 4) {
			uint32_t got, want = 0;

			if (k + 4 <= t->bindings[0].n_bytes)
				memcpy(&want, (const uint8_t *)t->bindings[0].data + k, 4);
			memcpy(&got, out + k, 4);
			assert_int_equal(got, works ? want + 1 : 0);
		}
		for (uint64_t k = t->n_output / 4 * 4; k < t->n_output; k++)
			assert_int_equal(out[k], 0);
	}
}

static void bench_close(struct bench *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		free((void *)(uintptr_t)b->bindings[i][0].data);
		free(b->tasks[i].output);
	}
	pctl_session_close(b->s);
	pctl_kernels_destroy(b->kernels);
	pctl_diag_list_destroy(b->l);
	assert_int_equal(log_.alive, 0);
}

#endif
