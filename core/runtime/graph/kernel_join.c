/* Units of kernels that were put together out of others; see kernel.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/join.h"
#include "foundation/base/str.h"
#include "runtime/graph/kernel_private.h"

static char *key_of(const pctl_kernel_part *parts, uint32_t n, uint32_t how,
		    const pctl_known_binding *bindings, uint32_t n_bindings)
{
	pctl_str_buf key = PCTL_STR_BUF_INIT;

	pctl_str_addf(&key, "joined %" PRIu32, how);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_addf(&key, "\n%s %" PRIu32 ":", parts[i].unit->build_key, parts[i].groups);
		for (uint32_t v = 0; v < parts[i].unit->program->n_vars; v++)
			if (parts[i].unit->program->vars[v].space >= PCTL_SPACE_UNIFORM)
				pctl_str_addf(&key, " %" PRIu32 ".%" PRIu64, parts[i].slots[v],
					      parts[i].own == NULL ? 0 : parts[i].own[v]);
	}
	for (uint32_t i = 0; i < n_bindings; i++)
		pctl_str_addf(&key, ";%" PRIu32 ",%" PRIu64, bindings[i].binding,
			      bindings[i].n_bytes);
	return pctl_str_finish(&key);
}

/* "a.wgsl + b.wgsl" */
static const char *name_of(pctl_kernels *k, const pctl_kernel_part *parts, uint32_t n)
{
	const char *name = parts[0].unit->name;

	for (uint32_t i = 1; name != NULL && i < n; i++)
		name = pctl_arena_printf(k->arena, "%s + %s", name, parts[i].unit->name);
	return name;
}

static pctl_status describe(pctl_kernels *k, pctl_kernel_module *u, const pctl_kernel_part *parts,
			    uint32_t n, uint32_t groups, const pctl_known_binding *bindings,
			    uint32_t n_bindings)
{
	uint32_t *known = pctl_arena_array(k->arena, 3, sizeof(*known));
	pctl_known_binding *copy = pctl_arena_array(k->arena, n_bindings, sizeof(*copy));

	u->name = name_of(k, parts, n);
	u->text = "";
	if (u->name == NULL || known == NULL || copy == NULL)
		return PCTL_E_NOMEM;
	known[0] = groups;
	known[1] = known[2] = 1;
	if (n_bindings != 0)
		memcpy(copy, bindings, n_bindings * sizeof(*copy));
	u->known =
		(pctl_analysis_query){.groups = known, .bindings = copy, .n_bindings = n_bindings};
	for (uint32_t i = 0; i < n; i++)
		u->flags |= parts[i].unit->flags;
	return PCTL_OK;
}

/* What is proved of the whole is what is proved of each; what is proved of a part's places holds in it. */
static pctl_status prove(const pctl_kernels *k, pctl_kernel_module *u, const pctl_call *call)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	const pctl_analysis *a;
	pctl_status status = pctl_program_analyse(u->program, &u->known, &quiet, &u->analysis);

	if (status == PCTL_OK && k->policy != NULL)
		status = pctl_policy_program_allowed(k->policy, u->program, &u->known, 1, u->name,
						     &quiet);
	a = u->analysis;
	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "a kernel");
	if (status != PCTL_OK || a->race != PCTL_PROOF_PROVEN || a->order_dependent ||
	    a->loads_uniform != PCTL_PROOF_PROVEN || a->determinism > PCTL_CLASS_STRICT)
		return PCTL_E_UNSUPPORTED;
	for (uint32_t i = 0; i < u->program->n_insts; i++)
		u->analysis->proven[i] |= (uint8_t)u->program->insts[i].flags;
	return PCTL_OK;
}

static pctl_status make(pctl_kernels *k, const pctl_kernel_part *parts, uint32_t n, uint32_t how,
			const pctl_known_binding *bindings, uint32_t n_bindings,
			const pctl_call *call, pctl_kernel_module *u)
{
	pctl_join_part joined[PCTL_JOIN_PARTS] = {{0}};
	pctl_status status;

	if (n == 0 || n > PCTL_JOIN_PARTS)
		return PCTL_E_UNSUPPORTED;
	for (uint32_t i = 0; i < n; i++)
		joined[i] = (pctl_join_part){.program = parts[i].unit->program,
					     .slots = parts[i].slots,
					     .own = parts[i].own,
					     .groups = parts[i].groups};
	status = describe(k, u, parts, n, pctl_legal_join_groups(joined, n, how), bindings,
			  n_bindings);
	if (status != PCTL_OK)
		return pctl_no_memory(call, "a kernel");
	status = pctl_legal_join(joined, n, how, call, &u->program);
	if (status == PCTL_OK)
		status = prove(k, u, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_program_encode(u->program, call, &u->wire, &u->wire_bytes);
	if (status == PCTL_OK)
		status = pctl_cid_of(u->wire, u->wire_bytes, call, &u->cid);
	if (status == PCTL_OK) {
		pctl_program_mark_proven(u->program, u->analysis);
		status = pctl_kernel_name_build(u, call);
	}
	return status;
}

pctl_status pctl_kernels_join(pctl_kernels *k, const pctl_kernel_part *parts, uint32_t n,
			      uint32_t how, const pctl_known_binding *bindings, uint32_t n_bindings,
			      const pctl_call *call, const pctl_kernel_module **out)
{
	char *key = key_of(parts, n, how, bindings, n_bindings);
	pctl_kernel_module *u = key == NULL ? NULL : pctl_map_get(k->units, key);
	pctl_status status = key == NULL ? pctl_no_memory(call, "a kernel") : PCTL_OK;

	*out = NULL;
	if (status == PCTL_OK && u == NULL) {
		u = pctl_arena_alloc(k->arena, sizeof(*u));
		status = u == NULL ? pctl_no_memory(call, "a kernel")
				   : make(k, parts, n, how, bindings, n_bindings, call, u);
		/* That they cannot be is remembered, too: a unit without a program. */
		if (status == PCTL_E_UNSUPPORTED) {
			pctl_kernel_unit_destroy(u);
			u->program = NULL;
			u->analysis = NULL;
			u->wire = NULL;
			status = PCTL_OK;
		}
		if (status == PCTL_OK && !pctl_map_put(k->units, key, u))
			status = pctl_no_memory(call, "a kernel");
		if (status != PCTL_OK && u != NULL)
			pctl_kernel_unit_destroy(u);
	}
	if (status == PCTL_OK && u->program != NULL)
		*out = u;
	free(key);
	return status;
}
