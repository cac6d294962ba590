/* The rules of the consensus VM for shaders, in the order of rules.def, and shaders made concrete under them. */
#include "chain/registry/rules.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/pipeline.h"
#include "chain/registry/accept.h"
#include "compiler/wgsl/wgsl.h"

/* ---- the rules ----------------------------------------------------------------------------- */

static int is_bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM;
}

const pctl_var *pctl_chain_var(const pctl_program *p, uint32_t group, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (is_bound(&p->vars[i]) && p->vars[i].group == group &&
		    p->vars[i].binding == binding)
			return &p->vars[i];
	return NULL;
}

/* Above the class that is allowed: the place of its first float. */
static pctl_status pctl_rule_class(const pctl_kernel_module *u, const pctl_params *params,
				   const pctl_call *call)
{
	const uint64_t allowed = params->values[PCTL_PARAM_CLASS];
	const pctl_program *p = u->program;
	pctl_pos pos = {u->name, 0, 0, 0, 0};

	if (u->analysis->determinism <= allowed)
		return PCTL_OK;
	for (uint32_t f = 0; f < p->n_functions && pos.line == 0; f++)
		for (uint32_t i = 0; i < p->functions[f].n_insts && pos.line == 0; i++)
			if (PCTL_IS_STRICT(p->insts[p->functions[f].first_inst + i].op))
				pos = pctl_kernel_position(u, f, i);
	return pctl_refuse_at(
		call, PC5806_JOB_CLASS, &pos, NULL, "the shader is of class %s, allowed is %s",
		pctl_class_name(u->analysis->determinism), pctl_class_name((uint32_t)allowed));
}

static pctl_status bad_var(const pctl_kernel_module *u, const pctl_var *v, const char *why,
			   const pctl_call *call)
{
	const pctl_pos pos = {u->name, 0, 0, 0, 0};

	return pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
			      "variable \"%s\" at group %" PRIu32 " binding %" PRIu32 ": %s",
			      pctl_str(u->program, v->name), v->group, v->binding, why);
}

static pctl_status check_var(const pctl_kernel_module *u, const pctl_var *v, const pctl_call *call)
{
	const int is_output = v->group == 1 && v->binding == 0;
	const int is_uniform = v->group == 0 && v->binding == 1;

	if (v->group > PCTL_MESSAGE_GROUP_MAX || v->binding > PCTL_MESSAGE_BINDING_MAX)
		return bad_var(u, v, "groups go to 3 and bindings to 999", call);
	if (is_uniform != (v->space == PCTL_SPACE_UNIFORM))
		return bad_var(u, v, "uniforms, and nothing else, are at group 0 binding 1", call);
	if (v->space == PCTL_SPACE_STORAGE && is_output != ((v->access & PCTL_ACCESS_WRITE) != 0))
		return bad_var(u, v,
			       is_output ? "the output is var<storage, read_write>"
					 : "only group 1 binding 0 may be written",
			       call);
	return PCTL_OK;
}

static pctl_status pctl_rule_interface(const pctl_kernel_module *u, const pctl_params *params,
				       const pctl_call *call)
{
	const pctl_pos pos = {u->name, 0, 0, 0, 0};
	const pctl_program *p = u->program;
	uint32_t n_storage = 0;
	pctl_status status = PCTL_OK;

	(void)params;
	for (uint32_t i = 0; i < p->n_vars; i++) {
		pctl_status one;

		if (!is_bound(&p->vars[i]))
			continue;
		n_storage += p->vars[i].space == PCTL_SPACE_STORAGE;
		one = check_var(u, &p->vars[i], call);
		if (status == PCTL_OK)
			status = one;
	}
	if (status == PCTL_OK && pctl_chain_var(p, 0, 0) == NULL)
		status = pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
					"the entry point uses no input at group 0 binding 0");
	if (status == PCTL_OK && pctl_chain_var(p, 1, 0) == NULL)
		status = pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
					"the entry point uses no output at group 1 binding 0");
	if (status == PCTL_OK && n_storage > PCTL_CHAIN_STORAGE_MAX)
		status = pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
					"%" PRIu32 " storage buffers, at most %u", n_storage,
					PCTL_CHAIN_STORAGE_MAX);
	return status;
}

static pctl_status pctl_rule_limits(const pctl_kernel_module *u, const pctl_params *params,
				    const pctl_call *call)
{
	static const uint32_t most[3] = {256, 256, 64};
	const pctl_pos pos = {u->name, 0, 0, 0, 0};
	const uint32_t *size = u->program->entries[0].workgroup_size;

	(void)params;
	for (uint32_t d = 0; d < 3; d++)
		if (size[d] > most[d])
			return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
					      "%" PRIu32 " invocations along %c, at most %" PRIu32,
					      size[d], "xyz"[d], most[d]);
	if (u->analysis->invocations > PCTL_CHAIN_INVOCATIONS_MAX)
		return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
				      "%" PRIu64 " invocations in a workgroup, at most %u",
				      u->analysis->invocations, PCTL_CHAIN_INVOCATIONS_MAX);
	if (u->analysis->workgroup_bytes > PCTL_MESSAGE_SHARED_MAX)
		return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
				      "%" PRIu64 " bytes of workgroup memory, at most %u",
				      u->analysis->workgroup_bytes, PCTL_MESSAGE_SHARED_MAX);
	return PCTL_OK;
}

static pctl_status pctl_rule_order(const pctl_kernel_module *u, const pctl_params *params,
				   const pctl_call *call)
{
	pctl_pos pos;

	(void)params;
	if (!u->analysis->order_dependent)
		return PCTL_OK;
	pos = pctl_kernel_order_position(u);
	return pctl_refuse_at(call, PC5808_SHADER_RACE, &pos, NULL,
			      "the result depends on the order of these atomic operations");
}

static pctl_status pctl_rule_extents(const pctl_kernel_module *u, const pctl_params *params,
				     const pctl_call *call)
{
	(void)params;
	return pctl_accept_extents(u, call);
}

static pctl_status pctl_rule_races(const pctl_kernel_module *u, const pctl_params *params,
				   const pctl_call *call)
{
	const pctl_analysis *a = u->analysis;
	pctl_pos pos;

	(void)params;
	if (a->race == PCTL_PROOF_PROVEN)
		return PCTL_OK;
	pos = pctl_kernel_position(u, a->race_function[0], a->race_inst[0]);
	return pctl_refuse_at(
		call, PC5808_SHADER_RACE, &pos,
		u->program->max_dispatch[0] == 0
			? "declare the largest dispatch, as in `//# max dispatch = 64,1,1`"
			: NULL,
		"%s",
		a->race == PCTL_PROOF_REFUTED
			? "two invocations touch the same bytes"
			: "it is not proved that no two invocations touch the same bytes");
}

static const struct {
	uint32_t since;
	pctl_status (*judge)(const pctl_kernel_module *u, const pctl_params *params,
			     const pctl_call *call);
} rules[] = {
#define CHAIN_RULE(name, since, doc) {since, pctl_rule_##name},
#include "chain/registry/rules.def"
#undef CHAIN_RULE
};
#define N_RULES ((uint32_t)(sizeof(rules) / sizeof(rules[0])))

pctl_status pctl_rules_accept(const pctl_kernel_module *u, const pctl_params *p,
			      const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < N_RULES; i++)
		if (rules[i].since <= p->values[PCTL_PARAM_RULES])
			status = rules[i].judge(u, p, call);
	return status;
}

/* ---- shaders made concrete ------------------------------------------------------------------ */

/* Whether floats may run is a parameter: the rule `class`. */
uint32_t pctl_rules_flags(const pctl_params *p)
{
	return PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS |
	       (p->values[PCTL_PARAM_RULES] < PCTL_RULES_DRAFT ? PCTL_WGSL_RULES_1 : 0);
}

pctl_status pctl_rules_compiled(pctl_kernels *k, const pctl_chain_source *source,
				const pctl_params *p, const pctl_call *call,
				const pctl_program **out)
{
	const pctl_kernel_source kernel = {.name = source->name,
					   .text = source->text,
					   .n_text = source->n_text,
					   .flags = pctl_rules_flags(p)};

	return pctl_kernels_compiled(k, &kernel, call, out);
}

/* The override `canonical_scale`, or NULL. */
static const pctl_override *scale_override(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_overrides; i++)
		if (strcmp(pctl_str(p, p->overrides[i].name), PCTL_SCALE_OVERRIDE) == 0)
			return &p->overrides[i];
	return NULL;
}

/* By its name, or by its @id in decimal. */
static int names_override(const pctl_program *p, const pctl_override *o, const char *name)
{
	uint64_t id;

	return strcmp(pctl_str(p, o->name), name) == 0 ||
	       (pctl_num_parse_u64(name, strlen(name), &id) && id == o->id);
}

pctl_status pctl_rules_concrete(pctl_kernels *k, const pctl_chain_source *source, const char *entry,
				const pctl_msg_override *overrides, uint32_t n_overrides,
				const uint32_t *groups, const pctl_params *p, const pctl_call *call,
				const pctl_kernel_module **out)
{
	pctl_override_value values[PCTL_MESSAGE_OVERRIDES_MAX + 1u];
	pctl_kernel_source kernel = {.name = source->name,
				     .text = source->text,
				     .n_text = source->n_text,
				     .entry = entry[0] == '\0' ? NULL : entry,
				     .overrides = values,
				     .n_overrides = n_overrides,
				     .flags = pctl_rules_flags(p),
				     /* Of size the rules themselves speak. */
				     .any_size = 1,
				     .groups = groups};
	const pctl_override *scale;
	const pctl_program *program;
	pctl_status status = pctl_rules_compiled(k, source, p, call, &program);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	scale = scale_override(program);
	for (uint32_t i = 0; i < n_overrides; i++) {
		values[i] =
			(pctl_override_value){.name = overrides[i].name, .bits = overrides[i].bits};
		if (scale != NULL && names_override(program, scale, overrides[i].name))
			return pctl_refuse(call, PC5820_JOB_SCALE,
					   "override \"%s\" is the chain's scale, %" PRIu64,
					   overrides[i].name, p->values[PCTL_PARAM_SCALE]);
	}
	if (scale != NULL)
		values[kernel.n_overrides++] = (pctl_override_value){
			.name = PCTL_SCALE_OVERRIDE, .bits = p->values[PCTL_PARAM_SCALE]};
	return pctl_kernels_get(k, &kernel, call, out);
}

/* ---- sources -------------------------------------------------------------------------------- */

/* One that repeats itself along y would race with itself, so without a declared dispatch it is proved for every dispatch
 * along x. A job's own dispatch is proved when it is submitted. */
static pctl_status with_defaults(pctl_kernels *k, const pctl_chain_source *source,
				 const char *entry, const pctl_program *program,
				 const pctl_params *p, const pctl_call *call,
				 const pctl_kernel_module **out)
{
	const uint32_t *most = program->max_dispatch;
	const uint32_t line[3] = {most[0] == 0 ? PCTL_MESSAGE_GROUPS_MAX : most[0], 1, 1};
	pctl_status status = pctl_rules_concrete(k, source, entry, NULL, 0, NULL, p, call, out);

	if (status == PCTL_OK && (*out)->analysis->race != PCTL_PROOF_PROVEN)
		status = pctl_rules_concrete(k, source, entry, NULL, 0, line, p, call, out);
	return status;
}

pctl_status pctl_rules_accept_source(pctl_kernels *k, const pctl_chain_source *source,
				     const pctl_params *p, const pctl_call *call,
				     pctl_rules_visit visit, void *ctx)
{
	const pctl_pos pos = {source->name, 0, 0, 0, 0};
	const pctl_program *program;
	const pctl_kernel_module *unit;
	pctl_status status = pctl_rules_compiled(k, source, p, call, &program);

	if (status == PCTL_OK && program->n_entries == 0)
		return pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
				      "the shader has no entry point");
	for (uint32_t i = 0; status == PCTL_OK && i < program->n_entries; i++) {
		status = with_defaults(k, source, pctl_str(program, program->entries[i].name),
				       program, p, call, &unit);
		if (status == PCTL_OK)
			status = pctl_rules_accept(unit, p, call);
		if (status == PCTL_OK && visit != NULL)
			status = visit(ctx, i, unit, program);
	}
	return status;
}
