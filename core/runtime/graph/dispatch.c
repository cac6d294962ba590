/* Implementation of dispatch.h. */
#include "runtime/graph/dispatch.h"

#include <string.h>

#include "foundation/base/num.h"

int pctl_group_count_parse(const pctl_pipe_value *v, pctl_arena *arena, pctl_group_count *out)
{
	const char *slash = v->is_param ? NULL : strchr(v->text, '/');
	const size_t n = slash == NULL ? strlen(v->text) : (size_t)(slash - v->text);

	*out = (pctl_group_count){.by = 1};
	if (n == 0 ||
	    (slash != NULL &&
	     (!pctl_num_parse_u64(slash + 1, strlen(slash + 1), &out->by) || out->by == 0)))
		return 0;
	if (!v->is_param && pctl_num_parse_u64(v->text, n, &out->value))
		return 1;
	out->name = pctl_arena_dup_n(arena, v->text, n);
	return out->name != NULL;
}

int pctl_group_count_value(const pctl_group_count *c,
			   int (*value_of)(void *ctx, const char *name, uint64_t *out), void *ctx,
			   uint32_t *out)
{
	uint64_t value = c->value;

	*out = 0;
	if (c->name != NULL && !value_of(ctx, c->name, &value))
		return 0;
	value = pctl_num_div_up(value, c->by);
	if (value > UINT32_MAX)
		return 0;
	*out = (uint32_t)value;
	return 1;
}
