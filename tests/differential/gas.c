/* Gas of a case: what the reference counted against what the schedules estimated, and where one has no price, that it says so by its code and rightly. */
#include "rig.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "wide.h"

typedef struct asking {
	rig *r;
	const pctl_kernel_module *unit;
	const diff_case *c;
	const pctl_counts *counts;
	char *out;
} asking;

__attribute__((format(printf, 2, 3))) static int say(const asking *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->out, RIG_TEXT, format, args);
	va_end(args);
	return 1;
}

/* 0: it has one. Else the code of the refusal, 1 where there is none. */
static uint32_t price(const asking *a, const pctl_gas_schedule *s, uint32_t dispatch, uint64_t *out)
{
	const uint32_t *groups = a->c->dispatch[dispatch].groups;
	const pctl_gas_query q = {.program = a->unit->program,
				  .analysis = a->unit->analysis,
				  .groups = {groups[0], groups[1], groups[2]}};
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_gas_price got;
	uint32_t code = 0;

	if (pctl_gas_price_of(s, &q, pctl_diag_list_call(said), &got) != PCTL_OK)
		code = pctl_diag_list_count(said) == 0 ? 1 : pctl_diag_list_at(said, 0)->code;
	*out = got.dispatch;
	pctl_diag_list_destroy(said);
	return code;
}

const uint32_t rig_priceless[RIG_PRICELESS] = {PC2602_GAS_OVERFLOW, PC2050_ANALYSE_LOOP,
					       PC2054_ANALYSE_LOOP_FOLDED, PC2604_GAS_UNPRICED};

/* Its place among them; behind them for another code. */
static uint32_t why(uint32_t code)
{
	uint32_t i = 0;

	while (i < RIG_PRICELESS && rig_priceless[i] != code)
		i++;
	return i;
}

/* A refusal of the schedule that bounds every program. */
static int hold_refusal(const asking *a, uint32_t code, rig_wide most)
{
	const char *name = pctl_gas_schedule_name(a->r->schedule[RIG_BOUND]);

	if (code != PC2602_GAS_OVERFLOW && why(code) < RIG_PRICELESS)
		return 0;
	if (code != PC2602_GAS_OVERFLOW)
		return say(a, "%s: refused with PC%04" PRIu32, name, code);
	if (most <= UINT64_MAX)
		return say(
			a,
			"%s: refused as above 2^64, and all its instructions cost at most %" PRIu64,
			name, (uint64_t)most);
	return 0;
}

/* A price, or what was used, is never above what all instructions can cost. */
static int hold_most(const asking *a, uint64_t estimate, uint64_t actual, rig_wide most)
{
	if (estimate <= most && actual <= most)
		return 0;
	return say(a,
		   "%s: %" PRIu64 " estimated, %" PRIu64
		   " used, and all its instructions cost at most %" PRIu64,
		   pctl_gas_schedule_name(a->r->schedule[RIG_BOUND]), estimate, actual,
		   (uint64_t)most);
}

static int hold(const asking *a, uint32_t i)
{
	const pctl_gas_schedule *s = a->r->schedule[i];
	uint64_t estimate = 0, actual = 0, one;
	rig_wide most = 0;
	uint32_t code = 0;

	for (uint32_t d = 0; d < a->c->n_dispatches; d++) {
		const rig_wide of_one = i == RIG_BOUND
						? rig_most(s, a->unit->program, a->unit->analysis,
							   a->c->dispatch[d].groups)
						: 0;
		const uint32_t refused = price(a, s, d, &one);

		if (refused != 0 && i == RIG_BOUND && hold_refusal(a, refused, of_one))
			return 1;
		code = code == 0 ? refused : code;
		estimate += refused == 0 ? one : 0;
		most += of_one;
	}
	/* What one does not price it says nothing of. */
	if (pctl_gas_actual(s, a->counts, NULL, &actual) != PCTL_OK)
		return code != 0 ? 0
				 : say(a, "%s: what was used does not fit",
				       pctl_gas_schedule_name(s));
	if (i == RIG_BOUND && hold_most(a, estimate, actual, most))
		return 1;
	if (i == RIG_BOUND && code != 0)
		a->r->n_priceless[why(code)]++;
	/* Nothing to hold it against but that. */
	if (code != 0)
		return 0;
	if (actual > estimate || (actual == 0 && a->counts->lane_ops != 0))
		return say(a, "%s: %" PRIu64 " used, %" PRIu64 " estimated",
			   pctl_gas_schedule_name(s), actual, estimate);
	a->r->gas_checked += a->counts->lane_ops != 0;
	return 0;
}

int rig_gas(rig *r, const pctl_kernel_module *unit, const diff_case *c, const pctl_counts *counts,
	    char out[RIG_TEXT])
{
	const asking a = {r, unit, c, counts, out};
	const uint32_t first = rig_branches_on_barriers(unit->program) ? RIG_BOUND : 0;

	for (uint32_t i = first; i < RIG_SCHEDULES; i++)
		if (hold(&a, i))
			return 1;
	return 0;
}
