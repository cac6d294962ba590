/* Verification of a whole program: the order of the checks, and how violations are reported. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/verify.h"

static pctl_pos position(const pctl_verify *v)
{
	const pctl_program *p = v->p;
	pctl_pos pos = {NULL, 0, 0, 0, 0};
	const pctl_origin *o;

	if (v->at == PCTL_NONE || !p->origins)
		return pos;
	o = &p->origins[v->fn->first_inst + v->at];
	if (o->file >= p->n_origin_files)
		return pos;
	pos.file = p->origin_files[o->file];
	pos.line = o->line;
	pos.column = o->column;
	pos.end_column = o->end_column;
	return pos;
}

int pctl_verify_complain(pctl_verify *v, uint32_t code, const char *fmt, ...)
{
	char text[256], where[128] = "";
	pctl_pos pos = position(v);
	pctl_status status;
	va_list args;

	if (v->n_errors++ >= PCTL_VERIFY_ERRORS_MAX)
		return 0;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (v->at != PCTL_NONE) {
		const pctl_inst *in = &v->p->insts[v->fn->first_inst + v->at];
		const char *name = pctl_op_get(in->op)->name;

		snprintf(where, sizeof(where), "function %u, instruction %u (%s): ", v->function,
			 v->at, name ? name : "unknown");
	}
	status = pctl_refuse_at(v->call, code, &pos, NULL, "%s%s", where, text);
	if (v->status == PCTL_OK)
		v->status = status;
	return 0;
}

static uint64_t caps_of(const pctl_program *p)
{
	static const uint64_t by_scalar[] = {
		[PCTL_SCALAR_I64] = PCTL_CAP_I64,    [PCTL_SCALAR_U64] = PCTL_CAP_I64,
		[PCTL_SCALAR_F16] = PCTL_CAP_F16,    [PCTL_SCALAR_F32] = PCTL_CAP_F32,
		[PCTL_SCALAR_BF16] = PCTL_CAP_BF16,  [PCTL_SCALAR_F64] = PCTL_CAP_F64,
		[PCTL_SCALAR_I8] = PCTL_CAP_NARROW,  [PCTL_SCALAR_U8] = PCTL_CAP_NARROW,
		[PCTL_SCALAR_I16] = PCTL_CAP_NARROW, [PCTL_SCALAR_U16] = PCTL_CAP_STORE16,
	};
	uint64_t caps = 0;
	uint32_t i;

	for (i = 0; i < p->n_types; i++) {
		if (p->types[i].kind == PCTL_TYPE_TILE)
			caps |= PCTL_CAP_TILES |
				(pctl_tile_is_float(&p->types[i]) ? PCTL_CAP_F64 : 0);
		else if (p->types[i].scalar <= PCTL_SCALAR_U16)
			caps |= by_scalar[p->types[i].scalar];
	}
	for (i = 0; i < p->n_insts; i++) {
		if (PCTL_IS_STRICT(p->insts[i].op))
			caps |= PCTL_CAP_STRICT_FLOAT;
		else if (PCTL_IS_NATIVE(p->insts[i].op))
			caps |= PCTL_CAP_NATIVE_FLOAT;
		else if (pctl_op_get(p->insts[i].op)->kind == PCTL_OPKIND_subgroup)
			caps |= PCTL_CAP_SUBGROUPS;
	}
	if (p->n_overrides || p->functions[0].n_insts)
		caps |= PCTL_CAP_OVERRIDES;
	return caps;
}

pctl_status pctl_program_verify(pctl_program *p, const pctl_call *call)
{
	pctl_verify v = {.p = p, .call = call, .at = PCTL_NONE};
	uint32_t i;

	v.traits = calloc((size_t)p->n_types + 1, 1);
	v.depth = calloc((size_t)p->n_types + 1, 1);
	v.region_of = calloc((size_t)p->n_insts + 1, sizeof(*v.region_of));
	v.open = calloc((size_t)p->n_insts * 2 + 2, 1);
	if (!v.traits || !v.depth || !v.region_of || !v.open) {
		v.status = pctl_refuse(call, PC2_NOMEM, "no memory to verify a program");
		goto out;
	}
	if (!pctl_verify_tables(&v))
		goto out;
	for (i = 0; i < p->n_functions; i++) {
		if (!pctl_verify_function(&v, i)) {
			v.status = pctl_refuse(call, PC2_NOMEM, "no memory to verify a program");
			goto out;
		}
	}
	pctl_verify_rest(&v);
	if (v.status == PCTL_OK)
		p->caps = caps_of(p);
out:
	free(v.traits);
	free(v.depth);
	free(v.region_of);
	free(v.open);
	return v.status;
}
