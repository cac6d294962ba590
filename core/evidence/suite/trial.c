/* Checks of trials, random numbers, and the texts of programs/. */
#include "evidence/suite/trial.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texts are longer than the length every compiler must take; all of ours do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "suite_programs.h"
#include "foundation/base/hash.h"
#pragma GCC diagnostic pop

static const struct {
	const char *file, *text;
} texts[] = {
#define SUITE_TEXT(file, text) {file, text},
#include "suite_programs.def"
#undef SUITE_TEXT
};

const char *suite_text(const char *file)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].file, file) == 0)
			return texts[i].text;
	return NULL;
}

pctl_status suite_kernel(suite_trial *t, const char *file, const char *entry, uint32_t wg,
			 const pctl_kernel_module **out)
{
	const pctl_override_value value = {.name = "WG", .bits = wg};
	const char *text = suite_text(file);
	pctl_kernel_source source = {.name = file,
				     .text = text,
				     .n_text = text == NULL ? 0 : strlen(text),
				     .entry = entry,
				     .overrides = &value,
				     .n_overrides = wg != 0};

	*out = NULL;
	if (text == NULL)
		return pctl_refuse(t->call, PC1_INTERNAL, "the suite has no program %s", file);
	return pctl_kernels_get(t->context->kernels, &source, t->call, out);
}

pctl_status suite_with_text(suite_trial *t, const char *name, char *text,
			    pctl_status (*run)(suite_trial *t, const pctl_kernel_module *unit))
{
	pctl_kernels *kernels = pctl_kernels_create(t->context->ops);
	pctl_kernel_source source = {.name = name, .text = text};
	const pctl_kernel_module *unit;
	pctl_status status = PCTL_OK;

	if (kernels == NULL || text == NULL)
		status = pctl_no_memory(t->call, "a trial");
	source.n_text = text == NULL ? 0 : strlen(text);
	if (status == PCTL_OK)
		status = pctl_kernels_get(kernels, &source, t->call, &unit);
	if (status == PCTL_OK)
		status = run(t, unit);
	pctl_kernels_destroy(kernels);
	free(text);
	return status;
}

uint64_t suite_mix(uint64_t seed, uint64_t counter)
{
	uint64_t z = seed * PCTL_SPLITMIX_STEP + (counter + 1) * 0xd1b54a32d192ed03u;

	return pctl_mix64(z);
}

uint32_t suite_hash(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x7feb352du;
	x = (x ^ (x >> 15)) * 0x846ca68bu;
	return x ^ (x >> 16);
}

void suite_found(suite_trial *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->got, sizeof(t->got), format, args);
	va_end(args);
}

void suite_due(suite_trial *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->want, sizeof(t->want), format, args);
	va_end(args);
}

int suite_fail(suite_trial *t, const char *what)
{
	if (t->failed)
		return 0;
	t->failed = 1;
	snprintf(t->what, sizeof(t->what), "%s", what);
	return 1;
}

void suite_digest(suite_trial *t, const void *data, uint64_t n)
{
	/* It cannot fail on memory; a digest that is not whole is never equal to a right one. */
	if (t->hasher != NULL && n != 0)
		(void)pctl_hasher_update(t->hasher, data, n);
}

void suite_words(suite_trial *t, const char *what, const uint32_t *got, const uint32_t *want,
		 uint64_t n)
{
	suite_digest(t, got, n * sizeof(*got));
	if (n == 0 || memcmp(got, want, n * sizeof(*got)) == 0)
		return;
	for (uint64_t i = 0; i < n; i++) {
		if (got[i] == want[i])
			continue;
		if (suite_fail(t, what)) {
			suite_found(t, "word %" PRIu64 ": 0x%08" PRIx32, i, got[i]);
			suite_due(t, "0x%08" PRIx32, want[i]);
		}
		return;
	}
}

void suite_number(suite_trial *t, const char *what, uint64_t got, uint64_t want)
{
	if (got == want || !suite_fail(t, what))
		return;
	suite_found(t, "%" PRIu64, got);
	suite_due(t, "%" PRIu64, want);
}

void suite_same(suite_trial *t, const char *what, const suite_work *got, const suite_work *want)
{
	for (uint32_t i = 0; i < got->n_buffers; i++) {
		if (got->buffers[i].kind == SUITE_OUT)
			suite_words(t, what, suite_data(got, i), suite_data(want, i),
				    (got->buffers[i].n_bytes + 3) / 4);
	}
}
