/* Barriers in control flow that is not uniform: the analysis refuses them with PC2051, and the sanitizing reference,
 * given the program all the same, names an invocation that is missing. The good twin passes both, and runs. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "compiler/eval/specialise.h"
#include "evidence/suite/trial.h"
#include "compiler/wgsl/wgsl.h"

static const char *const plants[] = {"plant-divergent-condition.wgsl",
				     "plant-divergent-return.wgsl", "plant-divergent-data.wgsl",
				     "plant-divergent-loop.wgsl"};

#define GROUPS 3u
#define INVOCATIONS (GROUPS * 64u)

/* A program that no analysis has looked at. */
static pctl_status compile_alone(suite_trial *t, const char *file, pctl_program **out)
{
	const pctl_wgsl_options options = {.file = file};
	const char *text = suite_text(file);
	pctl_program *general = NULL;
	pctl_status status;

	*out = NULL;
	if (text == NULL)
		return pctl_refuse(t->call, PC1_INTERNAL, "the suite has no program %s", file);
	status = pctl_wgsl_compile(text, strlen(text), &options, t->call, &general);
	if (status == PCTL_OK)
		status = pctl_program_specialise(general, NULL, NULL, 0, t->call, out);
	pctl_program_destroy(general);
	return status;
}

static pctl_status must_be_refused(suite_trial *t, const char *file)
{
	const char *text = suite_text(file);
	const pctl_kernel_source source = {
		.name = file, .text = text, .n_text = text == NULL ? 0 : strlen(text)};
	pctl_diag_list *heard = pctl_diag_list_create();
	const pctl_kernel_module *unit;
	uint32_t code = 0;

	if (heard == NULL || text == NULL) {
		pctl_diag_list_destroy(heard);
		return pctl_no_memory(t->call, "a trial");
	}
	(void)pctl_kernels_get(t->context->kernels, &source, pctl_diag_list_call(heard), &unit);
	if (pctl_diag_list_count(heard) != 0)
		code = pctl_diag_list_at(heard, 0)->code;
	suite_number(t, "code of the analysis", code, PC2051_ANALYSE_BARRIER);
	suite_digest(t, &code, sizeof(code));
	pctl_diag_list_destroy(heard);
	return PCTL_OK;
}

static pctl_status refused_trial(suite_trial *t)
{
	const char *file = plants[t->p[0]];
	suite_work w = {.times = 1};
	pctl_finding findings[8] = {{0}};
	uint32_t n = 0, seen = 0;
	uint32_t *data, b[1] = {suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * INVOCATIONS)};
	pctl_program *p = NULL;
	pctl_status status = must_be_refused(t, file);

	if (status == PCTL_OK)
		status = compile_alone(t, file, &p);
	if (status == PCTL_OK && w.failed)
		status = pctl_no_memory(t->call, "a trial");
	if (status == PCTL_OK) {
		data = suite_data(&w, b[0]);
		for (uint32_t i = 0; i < INVOCATIONS; i++)
			data[i] = (uint32_t)suite_mix(t->context->seed, i);
		suite_step_add(&w, NULL, GROUPS, b, 1);
		w.steps[0].program = p;
		status = suite_sanitize(t, &w, 8, findings, &n);
	}
	for (uint32_t i = 0; i < n && i < 8; i++)
		seen |= findings[i].kind == PCTL_FINDING_DIVERGENT_BARRIER &&
			findings[i].invocation < INVOCATIONS;
	if (status == PCTL_OK)
		suite_number(t, "the sanitizer names a divergent barrier", seen, 1);
	pctl_program_destroy(p);
	suite_work_drop(&w);
	return status;
}

static pctl_status twin_trial(suite_trial *t)
{
	const uint32_t n_param = t->p[0];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t want[INVOCATIONS], found = 0;
	pctl_finding findings[8];
	uint32_t b[2] = {suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(want)),
			 suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){n_param}, 16)};
	pctl_status status = suite_kernel(t, "plant-uniform-twin.wgsl", NULL, 0, &unit);

	for (uint32_t i = 0; i < INVOCATIONS; i++)
		want[i] = i / 64 % 2 == 1 ? 0 : i + 1;
	suite_step_add(&w, unit, GROUPS, b, 2);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "results of the uniform twin", suite_data(&w, b[0]), want,
			    INVOCATIONS);
		status = suite_sanitize(t, &w, 8, findings, &found);
	}
	if (status == PCTL_OK)
		suite_number(t, "what the sanitizer says of the uniform twin", found, 0);
	suite_work_drop(&w);
	return status;
}

static const uint32_t refused_sets[][SUITE_PARAMS] = {{0}, {1}, {2}, {3}};
static const uint32_t twin_sets[][SUITE_PARAMS] = {{0}, {3}, {4}, {100}};

const suite_unit suite_uniform[] = {
	{.name = "barrier-uniform-refused",
	 .law = "a barrier that not all invocations reach is refused, and seen by the sanitizer",
	 .domain = "planted divergent barriers",
	 .param = {"plant"},
	 .sets = refused_sets,
	 .n_sets = 4,
	 .per_block = 4,
	 .flags = PCTL_UNIT_HOST,
	 .trial = refused_trial},
	{.name = "barrier-uniform",
	 .law = "a barrier under a condition that holds for the whole workgroup is a barrier",
	 .domain = "uniform conditions, returns and loops",
	 .param = {"n"},
	 .sets = twin_sets,
	 .n_sets = 4,
	 .per_block = 4,
	 .trial = twin_trial}};
const uint32_t suite_n_uniform = sizeof(suite_uniform) / sizeof(suite_uniform[0]);
