/* The forms: functions written in WGSL under forms/, compiled once per legalisation that needs them
 * and copied into the program as functions of its own. */
#include "legal/legal_parts.h"

#include <string.h>

#include "wgsl/wgsl.h"

#include "legal_forms.h"

static const char *const form_names[N_FORMS] = {"wide_mul", "wide_udiv", "wide_umod", "wide_sdiv",
						"wide_smod"};

static uint32_t find_function(const pctl_program *p, const char *name)
{
	for (uint32_t f = 1; f < p->n_functions; f++)
		if (strcmp(pctl_str(p, p->functions[f].name), name) == 0)
			return f;
	return 0;
}

/* Copy what f calls, then f. Callees come first in every program, so the depth is the length of a
 * call chain. */
static uint32_t link_function(legal *l, uint32_t f)
{
	const pctl_function *fn = &l->p->functions[f];

	if (l->functions[f])
		return l->functions[f];
	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &l->p->insts[fn->first_inst + i];

		if (in->op == PCTL_OP_CALL)
			link_function(l, pctl_arg(l->p, in, 0));
	}
	return legal_function(l, f);
}

pctl_status legal_link_forms(legal *l, uint32_t need)
{
	const pctl_wgsl_options options = {.file = "forms/wide.wgsl"};
	const pctl_program *kept = l->p;
	pctl_program *forms = NULL;
	pctl_status status;

	if (!need)
		return PCTL_OK;
	status = pctl_wgsl_compile(KERNEL_WIDE, sizeof(KERNEL_WIDE) - 1, &options, l->call, &forms);
	if (status != PCTL_OK)
		return pctl_refuse(l->call, PC2503_LEGAL_FORMS, "forms/wide.wgsl");
	if (!legal_source_open(l, forms, 0)) {
		status = l->status;
		goto out;
	}
	for (uint32_t i = 0; i < N_FORMS && status == PCTL_OK; i++) {
		uint32_t f;

		if (!(need & (1u << i)))
			continue;
		f = find_function(forms, form_names[i]);
		if (!f)
			status = pctl_refuse(l->call, PC2503_LEGAL_FORMS, "there is no function %s",
					     form_names[i]);
		else
			l->forms[i] = link_function(l, f);
	}
out:
	legal_source_close(l);
	l->p = kept;
	pctl_program_destroy(forms);
	return status;
}

static uint32_t forms_of(const legal *l, const pctl_function *fn, const pctl_inst *in)
{
	const uint32_t first = in->n_args ? pctl_arg(l->p, in, 0) : 0;
	const int is_signed = pctl_scalar_is_signed(l->p->types[in->type].scalar);

	switch (in->op) {
	case PCTL_OP_MUL:
		return l->is_wide[in->type] ? 1u << FORM_MUL : 0;
	case PCTL_OP_DOT:
	case PCTL_OP_MATMUL:
		return l->is_wide[pctl_value_type(l->p, fn, first)] ? 1u << FORM_MUL : 0;
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		return l->is_wide[in->type] ? 1u << (is_signed ? FORM_SDIV : FORM_UDIV) : 0;
	case PCTL_OP_MOD:
		return l->is_wide[in->type] ? 1u << (is_signed ? FORM_SMOD : FORM_UMOD) : 0;
	default:
		return 0;
	}
}

uint32_t legal_needed_forms(const legal *l)
{
	uint32_t need = 0;

	for (uint32_t f = 1; f < l->p->n_functions; f++) {
		const pctl_function *fn = &l->p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++)
			need |= forms_of(l, fn, &l->p->insts[fn->first_inst + i]);
	}
	return need;
}
