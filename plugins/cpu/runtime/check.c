/* What the interpreter runs and what it refuses, with the reason. */
#include "runtime/device.h"

static pctl_status check_caps(const pctl_program *p, const pctl_call *call)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {{PCTL_CAP_NATIVE_FLOAT,
		      "native float operations, which have no bits of their own: the reference "
		      "runs strict ones"},
		     {PCTL_CAP_NARROW, "8-bit or i16 integers"},
		     {PCTL_CAP_BINDING_SPLIT, "split bindings"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (p->caps & names[i].bit)
			return pctl_refuse(
				call, PC3210_KERNEL_CAPABILITY,
				"this interpreter does not have what the program needs: %s",
				names[i].name);
	if (p->caps & ~(PCTL_CPU_CAPS | PCTL_CAP_OVERRIDES))
		return pctl_refuse(call, PC3210_KERNEL_CAPABILITY,
				   "the program needs a capability this interpreter does not know");
	return PCTL_OK;
}

static pctl_status check_specialised(const pctl_program *p, const pctl_call *call)
{
	uint32_t open_sizes = 0;

	if (p->n_entries == 0)
		return pctl_refuse(call, PC3212_KERNEL_UNSPECIALISED,
				   "the program has no entry point");
	for (int i = 0; i < 3; i++)
		open_sizes += p->entries[0].workgroup_size_spec[i] != 0;
	for (uint32_t i = 0; i < p->n_types; i++)
		open_sizes += p->types[i].count_spec != 0;
	if (p->n_overrides || open_sizes || (p->caps & PCTL_CAP_OVERRIDES))
		return pctl_refuse(call, PC3212_KERNEL_UNSPECIALISED,
				   "the program is not specialised: %u overrides, %u sizes that "
				   "depend on them",
				   p->n_overrides, open_sizes);
	return PCTL_OK;
}

static pctl_status check_limits(const pctl_program *p, const pctl_call *call)
{
	const pctl_entry *e = &p->entries[0];
	uint64_t invocations = 1, workgroup_bytes = 0;
	uint32_t n_bindings = 0;

	for (int i = 0; i < 3; i++) {
		if (e->workgroup_size[i] == 0 || e->workgroup_size[i] > PCTL_CPU_MAX_INVOCATIONS)
			return pctl_refuse(
				call, PC3211_KERNEL_LIMIT,
				"workgroup size %u in dimension %d; 1 to %u are possible",
				e->workgroup_size[i], i, PCTL_CPU_MAX_INVOCATIONS);
		invocations *= e->workgroup_size[i];
	}
	/* Of a program with several entry points the verifier leaves that open. */
	if ((p->caps & PCTL_CAP_TILES) &&
	    (e->workgroup_size[0] % PCTL_TILE_LANES || e->workgroup_size[0] != invocations))
		return pctl_refuse(call, PC3211_KERNEL_LIMIT,
				   "matrix tiles in a workgroup that is no row of whole subgroups");
	if (invocations > PCTL_CPU_MAX_INVOCATIONS)
		return pctl_refuse(call, PC3211_KERNEL_LIMIT,
				   "%llu invocations in a workgroup; %u are possible",
				   (unsigned long long)invocations, PCTL_CPU_MAX_INVOCATIONS);
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if (v->space == PCTL_SPACE_WORKGROUP)
			workgroup_bytes += ((uint64_t)p->types[v->type].size + 15) & ~(uint64_t)15;
		n_bindings += v->space >= PCTL_SPACE_UNIFORM;
	}
	if (workgroup_bytes > PCTL_CPU_MAX_WORKGROUP_BYTES)
		return pctl_refuse(call, PC3211_KERNEL_LIMIT,
				   "%llu bytes of workgroup memory; %u are possible",
				   (unsigned long long)workgroup_bytes,
				   PCTL_CPU_MAX_WORKGROUP_BYTES);
	if (n_bindings > PCTL_CPU_MAX_BINDINGS)
		return pctl_refuse(call, PC3211_KERNEL_LIMIT, "%u bindings; %u are possible",
				   n_bindings, PCTL_CPU_MAX_BINDINGS);
	return PCTL_OK;
}

pctl_status pctl_cpu_check(const pctl_program *p, const pctl_call *call)
{
	pctl_status status = check_specialised(p, call);

	if (status == PCTL_OK)
		status = check_caps(p, call);
	if (status == PCTL_OK)
		status = check_limits(p, call);
	return status;
}
