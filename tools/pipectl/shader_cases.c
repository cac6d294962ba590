/* Combinations of overrides, and the dispatch of each; see shader_cases.h. */
#include "shader_cases.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"

/* One override with its values. */
struct axis {
	const char *name;
	const char **values;
	uint32_t n;
};

static pctl_status read_axis(pctl_app *app, const char *name, const char *list, struct axis *out)
{
	uint32_t n = 1;

	for (const char *at = list; *at != '\0'; at++)
		n += *at == ',';
	*out = (struct axis){name, pctl_arena_array(app->arena, n, sizeof(*out->values)), 0};
	while (out->values != NULL && out->n < n) {
		const size_t length = strcspn(list, ",");

		out->values[out->n] = pctl_arena_dup_n(app->arena, list, length);
		if (out->values[out->n++] == NULL)
			break;
		list += length + (list[length] == ',');
	}
	return out->n == n && out->values[n - 1] != NULL ? PCTL_OK
							 : pctl_no_memory(app->call, "options");
}

/* The override that alone is the first dimension of the entry point's workgroup. */
static pctl_status workgroup_override(pctl_app *app, const char *path,
				      const struct shader_options *o, const char **out)
{
	const pctl_kernel_source source = {.name = path, .text = o->text, .n_text = o->n_text};
	const pctl_entry *entry = NULL;
	const pctl_program *p;
	const pctl_inst *in;
	pctl_status status = pctl_installation_ops(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_kernels_compiled(app->host.kernels, &source, app->call, &p);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < p->n_entries; i++)
		if (o->entry == NULL || strcmp(pctl_str(p, p->entries[i].name), o->entry) == 0)
			entry = entry == NULL ? &p->entries[i] : entry;
	if (entry != NULL && entry->workgroup_size_spec[0] != 0) {
		in = &p->insts[p->functions[0].first_inst + entry->workgroup_size_spec[0] - 1];
		/* A conversion to u32 stands between them at most. */
		if (in->op == PCTL_OP_CAST || in->op == PCTL_OP_BITCAST)
			in = &p->insts[p->functions[0].first_inst + pctl_arg(p, in, 0)];
		if (in->op == PCTL_OP_OVERRIDE) {
			*out = pctl_arena_dup(app->arena,
					      pctl_str(p, p->overrides[pctl_arg(p, in, 0)].name));
			return *out == NULL ? pctl_no_memory(app->call, "options") : PCTL_OK;
		}
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "--workgroup wants a size that is an override: `override wg: u32 = 64;` "
			   "and `@workgroup_size(wg)`");
}

static pctl_status read_axes(pctl_app *app, const char *path, const struct shader_options *o,
			     struct axis **out, uint32_t *n)
{
	const char *sizes = pctl_option_value(&app->line, "--workgroup"), *name;
	pctl_status status = PCTL_OK;

	*n = 0;
	*out = pctl_arena_array(app->arena, o->n_overrides + 1u, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(app->call, "options");
	for (uint32_t i = 0; status == PCTL_OK && i < o->n_overrides; i++)
		status =
			read_axis(app, o->overrides[i].name, o->overrides[i].text, &(*out)[(*n)++]);
	if (status != PCTL_OK || sizes == NULL)
		return status;
	status = workgroup_override(app, path, o, &name);
	for (uint32_t i = 0; status == PCTL_OK && i < *n; i++)
		if (strcmp((*out)[i].name, name) == 0)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--workgroup and --override both give %s", name);
	if (status == PCTL_OK)
		status = read_axis(app, name, sizes, &(*out)[*n]);
	for (uint32_t k = 0; status == PCTL_OK && k < (*out)[*n].n; k++) {
		const char *one = (*out)[*n].values[k];
		uint64_t value;

		if (!pctl_num_parse_u64(one, strlen(one), &value) || value == 0)
			status = pctl_refuse(app->call, PC10_USAGE,
					     "--workgroup wants N[,N..], not \"%s\"", sizes);
	}
	*n += status == PCTL_OK;
	return status;
}

/* --invocations X[,Y[,Z]]: as many workgroups as hold them. */
static pctl_status read_invocations(pctl_app *app, uint64_t out[3])
{
	const char *text = pctl_option_value(&app->line, "--invocations");

	out[0] = out[1] = out[2] = 1;
	if (text != NULL && pctl_option_has(&app->line, "--dispatch"))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--invocations and --dispatch say the same thing twice");
	for (uint32_t i = 0; text != NULL && i < 3; i++) {
		const size_t n = strcspn(text, ",");

		if (!pctl_num_parse_u64(text, n, &out[i]) || out[i] == 0)
			break;
		if (text[n] == '\0')
			return PCTL_OK;
		text += n + 1;
	}
	return text == NULL ? PCTL_OK
			    : pctl_refuse(app->call, PC10_USAGE,
					  "--invocations wants X[,Y[,Z]], not \"%s\"",
					  pctl_option_value(&app->line, "--invocations"));
}

static pctl_status dispatch_of(pctl_app *app, const char *path, const uint64_t invocations[3],
			       struct shader_options *o)
{
	const pctl_kernel_module *unit;
	const uint32_t *size;
	pctl_status status = pctl_shader_unit(app, path, o, 0, &unit);

	if (status != PCTL_OK)
		return status;
	size = unit->program->entries[0].workgroup_size;
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t groups = (invocations[i] - 1) / size[i] + 1;

		if (groups > UINT32_MAX)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--invocations: %" PRIu64 " take %" PRIu64 " workgroups",
					   invocations[i], groups);
		o->groups[i] = (uint32_t)groups;
	}
	o->has_groups = 1;
	return PCTL_OK;
}

/* Combination number k: the last axis turns fastest. */
static pctl_status make_case(pctl_app *app, const struct shader_options *o, const struct axis *axes,
			     uint32_t n, uint32_t k, pctl_shader_case *out)
{
	const char *name = "";

	out->options = *o;
	out->options.overrides = pctl_arena_array(app->arena, n + 1u, sizeof(*o->overrides));
	out->options.n_overrides = n;
	for (uint32_t i = n; out->options.overrides != NULL && i-- > 0;) {
		const char *value = axes[i].values[k % axes[i].n];

		k /= axes[i].n;
		out->options.overrides[i] =
			(pctl_override_value){.name = axes[i].name, .text = value};
		if (axes[i].n > 1 && name != NULL)
			name = pctl_arena_printf(app->arena, "%s=%s%s%s", axes[i].name, value,
						 name[0] == '\0' ? "" : " ", name);
	}
	out->name = name;
	return out->options.overrides == NULL || name == NULL ? pctl_no_memory(app->call, "options")
							      : PCTL_OK;
}

pctl_status pctl_shader_cases(pctl_app *app, const char *path, const struct shader_options *o,
			      pctl_shader_case **out, uint32_t *n)
{
	uint64_t invocations[3], all = 1;
	struct axis *axes;
	uint32_t n_axes;
	pctl_status status = read_axes(app, path, o, &axes, &n_axes);

	*n = 0;
	if (status == PCTL_OK)
		status = read_invocations(app, invocations);
	for (uint32_t i = 0; status == PCTL_OK && i < n_axes; i++) {
		all *= axes[i].n;
		if (all > PCTL_SHADER_CASES_MAX)
			return pctl_refuse(
				app->call, PC10_USAGE,
				"more than %u combinations of --override and --workgroup",
				PCTL_SHADER_CASES_MAX);
	}
	*out = pctl_arena_array(app->arena, (uint32_t)all, sizeof(**out));
	if (status == PCTL_OK && *out == NULL)
		status = pctl_no_memory(app->call, "options");
	for (; status == PCTL_OK && *n < all; (*n)++) {
		status = make_case(app, o, axes, n_axes, *n, &(*out)[*n]);
		if (status == PCTL_OK && pctl_option_has(&app->line, "--invocations"))
			status = dispatch_of(app, path, invocations, &(*out)[*n].options);
	}
	return status;
}
