/* Programs as large as a device takes them give the right bytes, and larger ones are right or refused by the host, by
 * name: turns of loops, depth of nesting, arrays, workgroup memory, tables, long functions, at the sizes where drivers are
 * known to break and at the limits that the session has for this device. Digested is only what every device must do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/device/limit_programs.h"
#include "evidence/suite/trial.h"

/* Sizes: a number, or one that follows from the limit of this device. */
enum { EVERYWHERE, FIXED, BELOW, AT, BEYOND, FAR };

/* Sums as the session counts them: what a device says it has of workgroup memory is a limit, too. */
static pctl_status limit_of(suite_trial *t, const pctl_limit_program *l, uint64_t *out)
{
	const uint64_t claimed = pctl_session_caps(t->context->device)->max_workgroup_bytes;
	pctl_extent_limits most = {.most = {0}}, claim = {.most = {0}};
	const pctl_status status = pctl_session_most(t->context->device, t->call, &most);

	claim.most[PCTL_EXTENT_WORKGROUP] = claimed;
	pctl_extent_limits_least(&most, &claim);
	*out = most.most[l->extent];
	return status;
}

/* 0: the device has no such limit, or none that a program of this shape would reach. */
static pctl_status size_of(suite_trial *t, const pctl_limit_program *l, uint32_t *n)
{
	const uint32_t where = t->p[1];
	uint64_t limit;
	pctl_status status = limit_of(t, l, &limit);

	*n = where <= FIXED ? t->p[2] : 0;
	if (status != PCTL_OK || where <= FIXED || limit == 0)
		return status;
	status = pctl_limit_program_within(l, limit, t->call, n);
	if (*n > l->most)
		*n = 0;
	if (*n == 0)
		return status;
	if (where == BELOW)
		*n -= *n > l->least ? l->step : 0;
	if (where == BEYOND)
		*n += l->step;
	if (where == FAR)
		*n += *n / 4 / l->step * l->step + 2 * l->step;
	return status;
}

/* By the host, by name; or by the backend, which may know a compiler's own limits, where the host knew of none. */
static int is_refusal(const suite_trial *t, const pctl_diag_list *list)
{
	const uint32_t where = t->p[1];

	for (uint32_t i = 0; i < pctl_diag_list_count(list); i++) {
		const uint32_t code = pctl_diag_list_at(list, i)->code;

		if (where != EVERYWHERE && code == PC5218_DEVICE_CANNOT)
			return 1;
		if ((where == FIXED || where > AT) && code == PC5201_UNSUPPORTED)
			return 1;
	}
	return 0;
}

/* Does the device get this kernel? What else is said is told on. */
static pctl_status is_taken(suite_trial *t, const pctl_kernel_module *unit)
{
	pctl_diag_list *list = pctl_diag_list_create();
	pctl_kernel *kernel;
	pctl_status status;

	if (list == NULL)
		return pctl_no_memory(t->call, "a trial");
	pctl_diag_list_set_cancel(list, t->call->cancelled, t->call->ctx);
	status = pctl_session_kernel(t->context->device, unit, pctl_diag_list_call(list), &kernel);
	t->refused = status != PCTL_OK && is_refusal(t, list);
	for (uint32_t i = 0; !t->refused && t->call->diag != NULL && i < pctl_diag_list_count(list);
	     i++)
		t->call->diag(t->call->ctx, pctl_diag_list_at(list, i));
	pctl_diag_list_destroy(list);
	return t->refused ? PCTL_OK : status;
}

static pctl_status run(suite_trial *t, const pctl_kernel_module *unit)
{
	const pctl_limit_program *l = &pctl_limit_programs[t->p[0]];
	const uint32_t counts[4] = {l->lanes, 6, 0, 0};
	uint32_t in[PCTL_LIMIT_WORDS], want[PCTL_LIMIT_LANES], n, b[3];
	suite_work w = {.times = 1};
	pctl_status status = size_of(t, l, &n);

	if (status == PCTL_OK && unit->analysis->workgroup_bytes >
					 pctl_session_caps(t->context->device)->max_workgroup_bytes)
		t->refused = 1;
	if (status == PCTL_OK && !t->refused)
		status = is_taken(t, unit);
	if (status != PCTL_OK || t->refused)
		return status;
	pctl_limit_program_input(l, n, in);
	l->expect(n, in, want);
	b[0] = suite_buffer_add(&w, SUITE_IN, in, sizeof(in));
	b[1] = suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(want));
	b[2] = suite_buffer_add(&w, SUITE_UNIFORM, counts, sizeof(counts));
	suite_step_add(&w, unit, 1, b, 3);
	/* Which of the other rows a device takes is its own. */
	if (t->p[1] != EVERYWHERE)
		t->hasher = NULL;
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, l->name, suite_data(&w, b[1]), want, l->lanes);
	suite_work_drop(&w);
	return status;
}

static pctl_status trial(suite_trial *t)
{
	const pctl_limit_program *l = &pctl_limit_programs[t->p[0]];
	uint32_t n = 0;
	pctl_status status = size_of(t, l, &n);

	if (status != PCTL_OK)
		return status;
	t->refused = n == 0;
	return n == 0 ? PCTL_OK
		      : suite_with_text(t, "limits.wgsl", pctl_limit_program_text(l, n), run);
}

/* {shape of limit_programs.c, where, size}. Of wrong counts and masks every side is asked for; arrays, memory and tables
 * beyond what a driver holds take its compiler long, so of those less. */
#define RELATIVE(shape)                                        \
	{shape, BELOW, 0}, {shape, AT, 0}, {shape, BEYOND, 0}, \
	{                                                      \
		shape, FAR, 0                                  \
	}
#define ENDS(shape)              \
	{shape, AT, 0},          \
	{                        \
		shape, BEYOND, 0 \
	}
#define LOOPS(shape)                                                             \
	{shape, EVERYWHERE, 3200}, {shape, FIXED, 65488}, {shape, FIXED, 65536}, \
		{shape, FIXED, 96000}, RELATIVE(shape)
#define LEVELS(shape)                                                                         \
	{shape, EVERYWHERE, 20}, {shape, FIXED, 64}, {shape, FIXED, 85}, {shape, FIXED, 110}, \
		RELATIVE(shape)
#define MEMORY(shape, everywhere, fixed) \
	{shape, EVERYWHERE, everywhere}, {shape, FIXED, fixed}, ENDS(shape)

static const uint32_t sets[][SUITE_PARAMS] = {LOOPS(0),
					      LOOPS(1),
					      LOOPS(2),
					      LOOPS(3),
					      LEVELS(4),
					      LEVELS(5),
					      LEVELS(6),
					      LEVELS(7),
					      MEMORY(8, 4096, 8192),
					      MEMORY(9, 4096, 16384),
					      MEMORY(10, 64, 1024),
					      MEMORY(11, 64, 1024),
					      MEMORY(12, 256, 512)};

const suite_unit suite_limits[] = {{.name = "limits",
				    .law = "a program of any size is right, or refused by the host",
				    .domain = "turns, nesting, memory, tables and functions below, "
					      "at and beyond the device's limits",
				    .param = {"shape", "where", "size"},
				    .sets = sets,
				    .n_sets = sizeof(sets) / sizeof(sets[0]),
				    .per_block = 7,
				    .trial = trial}};
const uint32_t suite_n_limits = sizeof(suite_limits) / sizeof(suite_limits[0]);
