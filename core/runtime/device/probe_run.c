/* One kernel of the probe on the device, from text to words. A backend that refuses the program is an answer, not an
 * error: its complaints are heard here and go no further. */
#include <stdlib.h>
#include <string.h>

#include "runtime/plugin/dispatch.h"
#include "runtime/device/probe_private.h"
#include "compiler/legalize/legal.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/base/clock.h"

#define RUN_TIMEOUT_NS 60000000000ull

struct buffers {
	pctl_buffer *in, *out, *counts;
};

static void destroy(probe *p, struct buffers *b)
{
	pctl_buffer *all[3] = {b->in, b->out, b->counts};

	for (int i = 0; i < 3; i++)
		if (all[i] != NULL)
			p->table->buffer_destroy(p->dev, all[i]);
}

static pctl_status fill(probe *p, struct buffers *b, uint32_t n, const uint32_t *in,
			uint64_t in_bytes, uint64_t out_bytes)
{
	/* The number of rounds of every loop travels as data, so that no compiler unrolls it away. */
	const uint32_t counts[4] = {n, 6, 0, 0};
	pctl_status status = p->table->buffer_create(
		p->dev, p->call, in_bytes, PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &b->in);

	if (status == PCTL_OK)
		status = p->table->buffer_create(p->dev, p->call, out_bytes,
						 PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
						 &b->out);
	if (status == PCTL_OK)
		status = p->table->buffer_create(p->dev, p->call, sizeof(counts),
						 PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER,
						 &b->counts);
	if (status == PCTL_OK)
		status = p->table->buffer_write(p->dev, p->call, b->in, 0, in, in_bytes);
	if (status == PCTL_OK)
		status = p->table->buffer_write(p->dev, p->call, b->counts, 0, counts,
						sizeof(counts));
	return status;
}

static pctl_status dispatch(probe *p, pctl_kernel *k, const struct buffers *b, uint32_t n,
			    uint64_t in_bytes, uint64_t out_bytes)
{
	const pctl_binding bindings[3] = {
		{0, 0, b->in, 0, in_bytes}, {0, 1, b->out, 0, out_bytes}, {0, 2, b->counts, 0, 16}};
	const uint32_t per_group = p->per_group ? p->per_group : 64;
	const uint32_t groups[3] = {(n + per_group - 1) / per_group, 1, 1};
	pctl_completion done;
	const uint64_t begun = pctl_clock_ns();
	pctl_status status;
	uint64_t ns;

	status = pctl_dispatch_once(p->table, p->dev, p->call, k, bindings, 3, groups,
				    p->timeout_ns ? p->timeout_ns : RUN_TIMEOUT_NS, &done);
	p->lost = status == PCTL_E_DEVICE_LOST;
	ns = pctl_clock_ns() - begun;
	if (ns > p->slowest_ns)
		p->slowest_ns = ns;
	if (status == PCTL_OK && !done.done)
		p->lost = 1;
	if (status == PCTL_OK && !done.done)
		status = pctl_refuse(
			p->call, PC4331_PROBE, "a probe kernel did not end within %u seconds",
			(unsigned)((p->timeout_ns ? p->timeout_ns : RUN_TIMEOUT_NS) / 1000000000u));
	return status;
}

/* A build over its limits may be the backend's refusal; or the host's, which ended the worker. */
static int is_gone(probe *p)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_buffer *b = NULL;
	const pctl_status status = p->table->buffer_create(
		p->dev, &quiet, 16, PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &b);

	if (b != NULL)
		p->table->buffer_destroy(p->dev, b);
	return status == PCTL_E_DEVICE_LOST;
}

/* 1 with *out set: built. 0: the device does not take it. */
static int build(probe *p, const char *text, uint32_t flags, pctl_kernel **out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	const pctl_wgsl_options options = {.file = "probe.wgsl", .flags = flags};
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_program *program = NULL, *legal = NULL;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &options, p->call, &program);

	*out = NULL;
	if (status == PCTL_OK && p->legal) {
		status = pctl_legalise(program, p->caps, p->legal, p->call, &legal);
		pctl_program_destroy(program);
		program = legal;
	}
	if (status == PCTL_OK)
		status = pctl_program_encode(program, p->call, &wire, &n);
	pctl_program_destroy(program);
	if (status != PCTL_OK) {
		p->status = status;
		return 0;
	}
	p->build_ns = pctl_clock_ns();
	status = p->table->supports(p->dev, &quiet, wire, n, &support);
	if (status == PCTL_OK && support.supported)
		status = p->table->kernel_build(p->dev, &quiet, wire, n, 0, NULL, 0, out);
	p->build_ns = pctl_clock_ns() - p->build_ns;
	free(wire);
	p->lost = status == PCTL_E_DEVICE_LOST || (status == PCTL_E_LIMIT && is_gone(p));
	if (p->lost || status == PCTL_E_CANCELLED)
		p->status = pctl_refuse(p->call, PC4331_PROBE,
					"the device was lost while it built a kernel");
	return *out != NULL;
}

int probe_run(probe *p, const char *text, uint32_t flags, uint32_t n, const uint32_t *in,
	      uint64_t in_words, uint32_t *out, uint64_t out_words)
{
	struct buffers b = {NULL, NULL, NULL};
	pctl_kernel *k;
	pctl_status status;

	if (p->status != PCTL_OK || !build(p, text, flags, &k))
		return 0;
	status = fill(p, &b, n, in, in_words * 4, out_words * 4);
	if (status == PCTL_OK)
		status = dispatch(p, k, &b, n, in_words * 4, out_words * 4);
	if (status == PCTL_OK)
		status = p->table->buffer_read(p->dev, p->call, b.out, 0, out, out_words * 4);
	destroy(p, &b);
	p->table->kernel_destroy(p->dev, k);
	p->lost |= status == PCTL_E_DEVICE_LOST;
	if (!p->tries || p->lost || status == PCTL_E_CANCELLED)
		p->status = status;
	return status == PCTL_OK;
}
