/* See harness.h. */
#include "harness.h"

#include <stdlib.h>

void harness_open(rig *r, const char *path)
{
	rig_open(r, path);
	r->guard = 64;
}

void prog_begin(prog *p)
{
	memset(p, 0, sizeof(*p));
	p->b = pctl_builder_create();
	p->boolean = pctl_build_scalar(p->b, PCTL_SCALAR_BOOL);
	p->i32 = pctl_build_scalar(p->b, PCTL_SCALAR_I32);
	p->u32 = pctl_build_scalar(p->b, PCTL_SCALAR_U32);
	p->i64 = pctl_build_scalar(p->b, PCTL_SCALAR_I64);
	p->u64 = pctl_build_scalar(p->b, PCTL_SCALAR_U64);
	p->vec3 = pctl_build_vector(p->b, PCTL_SCALAR_U32, 3);
}

uint32_t prog_storage(prog *p, const char *name, uint32_t type, int writable)
{
	const pctl_var v = {.type = type,
			    .space = PCTL_SPACE_STORAGE,
			    .access = writable ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ,
			    .binding = p->n_bindings++};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_uniform(prog *p, const char *name, uint32_t type)
{
	const pctl_var v = {.type = type, .space = PCTL_SPACE_UNIFORM, .binding = p->n_bindings++};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_var(prog *p, const char *name, uint32_t type, uint8_t space)
{
	const pctl_var v = {.type = type, .space = space};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_u32(prog *p, uint32_t value)
{
	return pctl_build_const(p->b, p->u32, value);
}

uint32_t prog_i32(prog *p, int32_t value)
{
	return pctl_build_const(p->b, p->i32, (uint32_t)value);
}

uint32_t prog_op(prog *p, uint16_t op, uint32_t type, uint32_t n, ...)
{
	uint32_t args[64];
	va_list ap;

	assert_true(n <= 64);
	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[i] = va_arg(ap, uint32_t);
	va_end(ap);
	return pctl_build_inst(p->b, op, type, args, n);
}

uint32_t prog_local(uint32_t index)
{
	return PCTL_PLACE_LOCAL | index;
}

uint32_t prog_add(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_ADD, p->u32, 2, a, b);
}

uint32_t prog_mul(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_MUL, p->u32, 2, a, b);
}

uint32_t prog_builtin(prog *p, uint32_t which, uint32_t component)
{
	if (which == PCTL_BUILTIN_LOCAL_INDEX)
		return prog_op(p, PCTL_OP_BUILTIN, p->u32, 1, which);
	return prog_op(p, PCTL_OP_EXTRACT, p->u32, 2,
		       prog_op(p, PCTL_OP_BUILTIN, p->vec3, 1, which), component);
}

uint32_t prog_load(prog *p, uint32_t type, uint32_t root, uint32_t n, ...)
{
	uint32_t args[16] = {root};
	va_list ap;

	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[1 + i] = va_arg(ap, uint32_t);
	va_end(ap);
	return pctl_build_inst(p->b, PCTL_OP_LOAD, type, args, n + 1);
}

void prog_store(prog *p, uint32_t value, uint32_t root, uint32_t n, ...)
{
	uint32_t args[16] = {value, root};
	va_list ap;

	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[2 + i] = va_arg(ap, uint32_t);
	va_end(ap);
	pctl_build_inst(p->b, PCTL_OP_STORE, 0, args, n + 2);
}

void prog_main(prog *p)
{
	pctl_build_function_begin(p->b, "main", NULL, 0, 0);
}

void prog_entry(prog *p, uint32_t function, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire,
		uint64_t *n_wire)
{
	const pctl_entry e = {.function = function, .workgroup_size = {x, y, z}};
	rig_program done;

	pctl_build_entry(p->b, &e, "main");
	done = rig_finish(p->b);
	p->b = NULL;
	*wire = done.wire;
	*n_wire = done.n;
}

void prog_end(prog *p, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire, uint64_t *n_wire)
{
	prog_entry(p, pctl_build_function_end(p->b), x, y, z, wire, n_wire);
}

void rig_run_prog(rig *r, prog *p, uint32_t local_x, uint32_t flags, const rig_bytes *arrays,
		  uint32_t n, uint32_t gx)
{
	uint8_t *wire;
	uint64_t n_wire;

	prog_end(p, local_x, 1, 1, &wire, &n_wire);
	rig_run(r, wire, n_wire, flags, arrays, n, gx, 1, 1);
	free(wire);
}
