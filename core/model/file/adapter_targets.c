/* Which modules of a model an adapter of PEFT is for: names that theirs end with, or one pattern that whole names match. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "foundation/base/num.h"
#include "model/file/adapter_private.h"

#define STEPS 100000u /* of matching one name; names have some tens of letters */

void adapter_pattern(pctl_adapter *a, const char *text, model_faults *f)
{
	PCRE2_UCHAR words[128] = "";
	PCRE2_SIZE at = 0;
	int error = 0;

	a->pattern = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				   PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED |
					   PCRE2_NEVER_BACKSLASH_C,
				   &error, &at, NULL);
	if (a->pattern != NULL)
		return;
	(void)pcre2_get_error_message(error, words, sizeof(words));
	model_fault(f, PC6295_ADAPTER_KEY, NULL, "\"target_modules\" is no pattern: %s at byte %zu",
		    (const char *)words, (size_t)at);
}

void adapter_pattern_end(pctl_adapter *a)
{
	pcre2_code_free(a->pattern);
}

static int matches(const pctl_adapter *a, const char *module)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int found = -1;

	if (limits != NULL && data != NULL) {
		pcre2_set_match_limit(limits, STEPS);
		pcre2_set_depth_limit(limits, STEPS);
		pcre2_set_heap_limit(limits, 4096); /* KiB */
		found = pcre2_match(a->pattern, (PCRE2_SPTR)module, PCRE2_ZERO_TERMINATED, 0,
				    PCRE2_NO_JIT, data, limits);
		found = found >= 0 ? 1 : found == PCRE2_ERROR_NOMATCH ? 0 : -1;
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(limits);
	return found;
}

uint64_t adapter_layer_of(const char *module)
{
	static const char before[] = "layers.";
	const char *at = module, *next;
	uint64_t v = UINT64_MAX;

	while ((next = strstr(at, before)) != NULL)
		at = next + sizeof(before) - 1;
	if (at == module || !pctl_num_parse_u64(at, strspn(at, "0123456789"), &v))
		return UINT64_MAX;
	return v;
}

int adapter_ends(const char *module, const char *target)
{
	const size_t n = strlen(module), m = strlen(target);

	return n >= m && strcmp(module + n - m, target) == 0 &&
	       (n == m || module[n - m - 1] == '.');
}

int adapter_wants(const pctl_adapter *a, const char *module, uint64_t layer)
{
	int wanted = a->layers == NULL;

	for (uint32_t i = 0; i < a->n_layers && !wanted; i++)
		wanted = a->layers[i] == layer;
	if (!wanted || a->all_linear)
		return wanted;
	if (a->pattern != NULL)
		return matches(a, module);
	for (uint32_t i = 0; i < a->n_targets; i++)
		if (adapter_ends(module, a->targets[i]))
			return 1;
	return 0;
}
