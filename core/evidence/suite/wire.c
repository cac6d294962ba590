/* Wire equivalence: a program that was encoded and decoded is the same program. Its encoding is the same string, and
 * built and run it gives the same bytes as the one that was never encoded. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

static void check_bytes(suite_trial *t, const pctl_kernel_module *unit, const uint8_t *again,
			uint64_t n)
{
	suite_number(t, "length of the second encoding", n, unit->wire_bytes);
	suite_digest(t, again, n);
	for (uint64_t i = 0; i < n && i < unit->wire_bytes; i++)
		if (again[i] != unit->wire[i])
			suite_number(t, "a byte of the second encoding", again[i], unit->wire[i]);
}

static pctl_status trial(suite_trial *t)
{
	pctl_kernels *kernels = pctl_kernels_create(t->context->ops);
	const pctl_kernel_module *unit;
	suite_work direct = {.times = 1}, decoded = {.times = 1};
	pctl_program *p = NULL;
	uint8_t *again = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (kernels == NULL)
		return pctl_no_memory(t->call, "a trial");
	status = suite_generated(t, kernels, t->p[0], 0, &unit, &direct);
	if (status == PCTL_OK)
		status = suite_generated(t, kernels, t->p[0], 0, &unit, &decoded);
	if (status == PCTL_OK)
		status = pctl_program_decode(unit->wire, unit->wire_bytes, t->call, &p);
	if (status == PCTL_OK)
		status = pctl_program_encode(p, t->call, &again, &n);
	if (status == PCTL_OK)
		check_bytes(t, unit, again, n);
	for (uint32_t i = 0; i < decoded.n_steps; i++)
		decoded.steps[i].program = p;
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &direct);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &decoded);
	if (status == PCTL_OK)
		suite_same(t, "what the decoded program gives", &decoded, &direct);
	free(again);
	pctl_program_destroy(p);
	suite_work_drop(&direct);
	suite_work_drop(&decoded);
	pctl_kernels_destroy(kernels);
	return status;
}

static const uint32_t sets[][SUITE_PARAMS] = {{1000}, {1001}, {1002}, {1003},
					      {1004}, {1005}, {1006}, {1007}};

const suite_unit suite_wire[] = {
	{.name = "wire-equivalence",
	 .law = "decode(encode(p)) is p: the same encoding, the same bytes",
	 .domain = "generated programs",
	 .param = {"program"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 4,
	 .trial = trial}};
const uint32_t suite_n_wire = sizeof(suite_wire) / sizeof(suite_wire[0]);
