/* The frame of the generated source: which functions and variables the entry point reaches,
 * function bodies, and the kernel itself. Control, expressions and memory accesses are written
 * elsewhere. */
#include "clc/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST_VECTOR 16u    /* of llvmpipe's, of 4, 8 or 16 invocations */
#define REGION_DEPTH_MAX 200u /* clang nests at most 256 brackets */

/* ---- reachability -----------------------------------------------------------------------------
 */

uint8_t *emit_uses(const emitter *e, uint32_t function)
{
	return e->uses + (size_t)function * e->p->n_vars;
}

static void scan_instruction(emitter *e, uint32_t f, const pctl_inst *in)
{
	const pctl_function *fn = &e->p->functions[f];
	pctl_place place;

	if (in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM)
		e->has_barrier[f] = 1;
	if (pctl_place_get(e->p, fn, in, &place) && !(place.root & PCTL_PLACE_LOCAL))
		emit_uses(e, f)[place.root] = 1;
	if (in->op == PCTL_OP_CALL) {
		const uint32_t callee = pctl_arg(e->p, in, 0);

		for (uint32_t v = 0; v < e->p->n_vars; v++)
			emit_uses(e, f)[v] |= emit_uses(e, callee)[v];
		e->has_barrier[f] |= e->has_barrier[callee];
	}
}

/* Functions call only functions before them: uses flow upwards in one pass, reachability down in
 * another. */
static void scan(emitter *e)
{
	const pctl_program *p = e->p;

	for (uint32_t f = 0; f < p->n_functions; f++)
		for (uint32_t i = 0; i < p->functions[f].n_insts; i++)
			scan_instruction(e, f, &p->insts[p->functions[f].first_inst + i]);
	e->reached[p->entries[0].function] = 1;
	for (uint32_t f = p->n_functions; f-- > 0;) {
		if (!e->reached[f])
			continue;
		for (uint32_t i = 0; i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + i];

			if (in->op == PCTL_OP_CALL)
				e->reached[pctl_arg(p, in, 0)] = 1;
		}
	}
}

int emit_is_binding(const pctl_var *v)
{
	return v->space == PCTL_SPACE_UNIFORM || v->space == PCTL_SPACE_STORAGE;
}

pctl_status emit_open(emitter *e, const pctl_program *p, const pctl_call *call)
{
	*e = (emitter){.p = p, .call = call};
	e->reached = calloc(p->n_functions + 1u, 1);
	e->has_barrier = calloc(p->n_functions + 1u, 1);
	e->uses = calloc((size_t)p->n_functions * p->n_vars + 1u, 1);
	e->is_value = calloc(p->n_types + 1u, 1);
	e->helper_have = calloc(emit_helper_slots(), 1);
	e->open = calloc(REGION_DEPTH_MAX + 64u, sizeof(*e->open));
	if (!e->reached || !e->has_barrier || !e->uses || !e->is_value || !e->helper_have ||
	    !e->open)
		return pctl_refuse(call, PC2_NOMEM, "opencl: writing the source of a kernel");
	emit_find_value_types(e);
	scan(e);
	return emit_tables_find(e);
}

void emit_close(emitter *e)
{
	free(e->reached);
	free(e->has_barrier);
	free(e->uses);
	free(e->is_value);
	free(e->helper_have);
	free(e->open);
	free(e->tables);
	text_free(&e->types);
	text_free(&e->helpers);
	text_free(&e->code);
	text_free(&e->scratch);
	text_free(&e->cond);
	text_free(&e->before);
	text_free(&e->declared);
}

int emit_opens_region(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
	       op == PCTL_OP_BLOCK;
}

int emit_closes_region(uint16_t op)
{
	return op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH || op == PCTL_OP_END_LOOP ||
	       op == PCTL_OP_END_BLOCK;
}

static int is_known(uint16_t op)
{
	return pctl_op_get(op) && pctl_op_get(op)->name &&
	       (op <= PCTL_OP_CALL || PCTL_IS_NATIVE(op) || op == PCTL_OP_MUL_HIGH ||
		pctl_op_get(op)->kind == PCTL_OPKIND_subgroup ||
		pctl_op_get(op)->kind == PCTL_OPKIND_tile);
}

static uint64_t workgroup_size_of(const pctl_program *p, uint32_t v)
{
	return ((uint64_t)p->types[p->vars[v].type].size + 31u) & ~(uint64_t)31u;
}

pctl_status emit_scan(const pctl_program *p, const pctl_call *call, emit_facts *out)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	emitter e;
	pctl_status status = emit_open(&e, p, call);

	*out = (emit_facts){.invocations = (uint64_t)size[0] * size[1] * size[2]};
	if (status != PCTL_OK)
		goto out;
	out->table_bytes = emit_table_bytes(&e);
	for (uint32_t v = 0; v < p->n_vars; v++) {
		if (emit_is_binding(&p->vars[v]))
			out->n_bindings++;
		else if (p->vars[v].space == PCTL_SPACE_WORKGROUP &&
			 emit_uses(&e, p->entries[0].function)[v])
			out->workgroup_bytes += workgroup_size_of(p, v);
	}
	for (uint32_t f = 0; f < p->n_functions; f++) {
		uint32_t depth = 0;

		out->calls_wait |= f != p->entries[0].function && e.reached[f] && e.has_barrier[f];

		for (uint32_t i = 0; e.reached[f] && i < p->functions[f].n_insts; i++) {
			const uint16_t op = p->insts[p->functions[f].first_inst + i].op;

			depth += (uint32_t)emit_opens_region(op) + (op == PCTL_OP_SWITCH);
			depth -= (uint32_t)emit_closes_region(op) + (op == PCTL_OP_END_SWITCH);
			if (depth > out->depth)
				out->depth = depth;
			if (!is_known(op))
				out->bad_op = op;
		}
	}
out:
	emit_close(&e);
	return status;
}

void emit_binding_layout(const pctl_program *p, uint32_t var, uint64_t *fixed_bytes,
			 uint64_t *stride)
{
	const uint32_t type = p->vars[var].type;
	const pctl_type *t = &p->types[type];

	*fixed_bytes = t->size;
	*stride = 0;
	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
		*fixed_bytes = 0;
		*stride = t->stride;
	} else if (t->kind == PCTL_TYPE_STRUCT && t->count) {
		const pctl_member *last = &p->members[t->first_member + t->count - 1];

		if (p->types[last->type].kind == PCTL_TYPE_RUNTIME_ARRAY) {
			*fixed_bytes = last->offset;
			*stride = p->types[last->type].stride;
		}
	}
}

/* ---- functions --------------------------------------------------------------------------------
 */

int emit_is_alone(const emitter *e)
{
	const uint32_t *size = e->p->entries[0].workgroup_size;

	return e->whole_groups || (size[0] == 1 && size[1] == 1 && size[2] == 1);
}

void emit_indent(emitter *e)
{
	for (uint32_t i = 0; i < e->indent && i < 12; i++)
		text_addn(&e->code, "\t", 1);
}

void emit_define(emitter *e, uint32_t v, uint32_t type)
{
	char name[24];

	emit_indent(e);
	if (e->by_ticks)
		text_printf(&e->declared, "\t%s v%u;\n", emit_type_name(e, type, name), v);
	else
		text_printf(&e->code, "%s ", emit_type_name(e, type, name));
	text_printf(&e->code, "v%u = ", v);
}

/* A variable of private memory, zero. */
static void variable(emitter *e, char letter, uint32_t number, uint32_t type)
{
	char name[16], type_name[24];

	snprintf(name, sizeof(name), "%c%u", letter, number);
	text_printf(&e->code, "\t%s %s;\n", emit_type_name(e, type, type_name), name);
	emit_fill_zero(e, type, name);
}

void emit_function(emitter *e, uint32_t f)
{
	const pctl_function *fn = &e->p->functions[f];
	pctl_place place;

	e->fn = fn;
	e->fn_index = f;
	emit_function_head(e, f);
	e->indent = 1;
	emit_control_begin(e);
	for (uint32_t i = 0; i < fn->n_locals; i++) {
		variable(e, 'l', i, e->p->locals[fn->first_local + i].type);
	}
	emit_body_begin(e);
	e->late = 0;
	e->late = emit_late(e, 0);
	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &e->p->insts[fn->first_inst + i];

		if (pctl_op_get(in->op)->kind == PCTL_OPKIND_control)
			emit_control(e, i, in);
		else if (pctl_place_get(e->p, fn, in, &place)) {
			if (!emit_begins_again(e, in, &place))
				emit_memory(e, i, in, &place);
		} else
			emit_compute(e, i, in);
	}
	emit_body_end(e);
	if (emit_is_whole(e, fn->return_type)) {
		emit_fill_zero(e, fn->return_type, "(*r)");
	} else if (fn->return_type) {
		text_add(&e->code, "\treturn ");
		emit_zero(e, &e->code, fn->return_type);
		text_add(&e->code, ";\n");
	}
	text_add(&e->code, "}\n\n");
}

/* ---- the kernel -------------------------------------------------------------------------------
 */

/* Byte offset of a workgroup variable in the one block that holds them all, and the size of the
 * block so far. */
static uint64_t workgroup_offset(const emitter *e, const uint8_t *uses, uint32_t var)
{
	uint64_t offset = 0;

	for (uint32_t v = 0; v < var; v++)
		if (uses[v] && e->p->vars[v].space == PCTL_SPACE_WORKGROUP)
			offset += workgroup_size_of(e->p, v);
	return offset;
}

static void kernel_head(emitter *e, uint64_t workgroup_bytes)
{
	static const uint32_t one[3] = {1, 1, 1};
	const uint32_t *size = e->whole_groups ? one : e->p->entries[0].workgroup_size;
	const char *separator = "";

	text_printf(
		&e->code,
		"__kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\nvoid " EMIT_KERNEL_NAME
		"(",
		size[0], size[1], size[2]);
	for (uint32_t v = 0; v < e->p->n_vars; v++) {
		const pctl_var *var = &e->p->vars[v];

		if (!emit_is_binding(var))
			continue;
		text_printf(&e->code,
			    "%s%s__global uchar *restrict b%u, ulong o%u, uint n%u, uint k%u",
			    separator,
			    var->access == PCTL_ACCESS_READ || var->space == PCTL_SPACE_UNIFORM
				    ? "const "
				    : "",
			    v, v, v, v);
		separator = ", ";
	}
	if (workgroup_bytes) {
		text_printf(&e->code, "%s__local ulong4 *W", separator);
		separator = ", ";
	}
	if (e->flags & EMIT_SWITCH)
		text_printf(&e->code, "%suint on", separator);
	text_add(&e->code, ")\n{\n");
	if (e->flags & EMIT_SWITCH)
		text_add(&e->code, "\tif (on == 0u)\n\t\treturn;\n");
}

/* Workgroup memory starts as zero: every invocation clears its share, then all meet. */
static void clear_workgroup(emitter *e, uint64_t workgroup_bytes)
{
	const uint32_t *size = e->p->entries[0].workgroup_size;
	const uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];

	if (!workgroup_bytes)
		return;
	/* Through vectors, which a compiler takes to be bytes: no fence stands between the words of a
	 * lone invocation and the floats that are read later. */
	if (e->whole_groups ||
	    (emit_is_alone(e) && (e->p->caps & (PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_F64)))) {
		text_printf(&e->code,
			    "\tfor (uint i = 0; i < %" PRIu64
			    "u; i++)\n\t\t((__local uint4 *)W)[i] = (uint4)(0);\n",
			    workgroup_bytes / 16);
		return;
	}
	text_printf(&e->code,
		    "\tuint lane = (uint)get_local_id(0) + (uint)get_local_id(1) * %uu + "
		    "(uint)get_local_id(2) * %uu;\n"
		    "\tfor (uint i = lane; i < %" PRIu64 "u; i += %" PRIu64
		    "u)\n\t\t((__local uint *)W)[i] = 0u;\n%s",
		    size[0], size[0] * size[1], workgroup_bytes / 4, invocations,
		    emit_is_alone(e) ? "" : "\tbarrier(CLK_LOCAL_MEM_FENCE);\n");
}

/* Vectors lie along the first dimension. Where that is no multiple of them, llvmpipe (Mesa 22.3) runs a kernel for what fills up
 * the last one of each row, too, only without stores and with 0 for loads: it stays in loops that the workgroup has left, waits
 * at their barriers, and the invocations beside it never come back. It knows its place, though: no invocation leaves here. */
static void rest_leaves(emitter *e)
{
	const uint32_t row = e->p->entries[0].workgroup_size[0];

	if (!(e->flags & EMIT_REST_LEAVES) || emit_is_alone(e) || row % LARGEST_VECTOR == 0 ||
	    !e->has_barrier[e->p->entries[0].function])
		return;
	text_printf(&e->code, "\tif ((uint)get_local_id(0) >= %uu)\n\t\treturn;\n", row);
}

void emit_kernel_open(emitter *e)
{
	const uint8_t *uses = emit_uses(e, e->p->entries[0].function);
	const uint64_t workgroup_bytes = workgroup_offset(e, uses, e->p->n_vars);
	char name[24];

	kernel_head(e, workgroup_bytes);
	rest_leaves(e);
	for (uint32_t v = 0; v < e->p->n_vars; v++) {
		const pctl_var *var = &e->p->vars[v];

		if (!uses[v])
			continue;
		if (emit_is_binding(var)) {
			text_printf(&e->code, "\tb%u += o%u;\n", v, v);
		} else if (var->space == PCTL_SPACE_WORKGROUP) {
			text_printf(&e->code,
				    "\t__local uchar *w%u = (__local uchar *)W + %" PRIu64 "u;\n",
				    v, workgroup_offset(e, uses, v));
		} else if (!e->whole_groups) {
			if (emit_is_late(e, v))
				text_printf(&e->code,
					    "\t%s Q%u;\n\tuint Z%u = 1u;\n\tuint *z%u = &Z%u;\n",
					    emit_type_name(e, var->type, name), v, v, v, v);
			else
				variable(e, 'Q', v, var->type);
			text_printf(&e->code, "\t%s *q%u = &Q%u;\n",
				    emit_type_name(e, var->type, name), v, v);
		}
	}
	clear_workgroup(e, workgroup_bytes);
}

static void kernel(emitter *e)
{
	const uint32_t f = e->p->entries[0].function;

	emit_kernel_open(e);
	text_printf(&e->code, "\tf%u(", f);
	emit_call_variables(e, &e->code, f, "", 0);
	text_add(&e->code, ");\n}\n");
}

void emit_program_begin(emitter *e, text *out)
{
	emit_float_pragmas(e->p, out);
	emit_hidden_zero(e, out);
	emit_types(e);
	emit_tables(e);
}

pctl_status emit_program_end(emitter *e, text *out)
{
	text_add(out, text_str(&e->types));
	text_add(out, "\n");
	text_add(out, text_str(&e->helpers));
	text_add(out, text_str(&e->code));
	if (e->types.no_memory || e->helpers.no_memory || e->code.no_memory ||
	    e->scratch.no_memory || e->cond.no_memory || e->declared.no_memory || out->no_memory)
		return pctl_refuse(e->call, PC2_NOMEM, "opencl: writing the source of a kernel");
	return PCTL_OK;
}

pctl_status emit_program(const pctl_program *p, const pctl_call *call, uint32_t flags, text *out)
{
	emitter e;
	pctl_status status = emit_open(&e, p, call);

	if (status == PCTL_OK) {
		e.flags = flags;
		emit_program_begin(&e, out);
		for (uint32_t f = 1; f < p->n_functions; f++)
			if (e.reached[f])
				emit_function(&e, f);
		kernel(&e);
		status = emit_program_end(&e, out);
	}
	emit_close(&e);
	return status;
}
