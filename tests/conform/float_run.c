/* See float_run.h. */
#include "float_run.h"

#include <stdlib.h>

uint32_t float_get(const void *memory, uint8_t scalar, uint64_t i)
{
	uint16_t half;
	uint32_t word;

	if (pctl_scalar_bytes(scalar) == 2) {
		memcpy(&half, (const uint8_t *)memory + 2 * i, 2);
		return half;
	}
	memcpy(&word, (const uint8_t *)memory + 4 * i, 4);
	return word;
}

void float_put(void *memory, uint8_t scalar, uint64_t i, uint32_t bits)
{
	const uint16_t half = (uint16_t)bits;

	if (pctl_scalar_bytes(scalar) == 2)
		memcpy((uint8_t *)memory + 2 * i, &half, 2);
	else
		memcpy((uint8_t *)memory + 4 * i, &bits, 4);
}

static uint32_t type_of(prog *p, uint8_t scalar, uint32_t width)
{
	return width == 1 ? pctl_build_scalar(p->b, scalar)
			  : pctl_build_vector(p->b, scalar, width);
}

static uint32_t splat(prog *p, uint8_t scalar, uint32_t width, uint32_t bits)
{
	uint32_t parts[4];

	for (uint32_t k = 0; k < width; k++)
		parts[k] = pctl_build_const(p->b, pctl_build_scalar(p->b, scalar), bits);
	return width == 1 ? parts[0]
			  : pctl_build_inst(p->b, PCTL_OP_COMPOSE, type_of(p, scalar, width), parts,
					    width);
}

static uint32_t constant(prog *p, const float_case *c, const uint32_t *in)
{
	uint32_t parts[4];

	for (uint32_t k = 0; k < c->width; k++)
		parts[k] = pctl_build_const(p->b, pctl_build_scalar(p->b, c->operand), in[k]);
	return c->width == 1 ? parts[0]
			     : pctl_build_inst(p->b, PCTL_OP_COMPOSE,
					       type_of(p, c->operand, c->width), parts, c->width);
}

void float_run(rig *r, const float_case *c, uint32_t *const in[3], uint32_t *out)
{
	const uint8_t stored = c->result == PCTL_SCALAR_BOOL ? PCTL_SCALAR_U32 : c->result;
	const uint32_t pitch = c->width == 3 ? 4 : c->width; /* elements of a lane in memory */
	const uint64_t n = (uint64_t)c->n_lanes * pitch;
	rig_bytes arrays[4];
	uint32_t args[3], vin[3], vout, gid, value;
	prog p;

	prog_begin(&p);
	for (uint32_t k = 0; k < c->n_args; k++) {
		vin[k] = prog_storage(
			&p, "in", pctl_build_array(p.b, type_of(&p, c->operand, c->width), 0, 0),
			0);
		arrays[k] = (rig_bytes){calloc(n, 4), n * pctl_scalar_bytes(c->operand), 0};
		for (uint64_t i = 0; i < n; i++)
			if (i % pitch < c->width)
				float_put(arrays[k].data, c->operand, i,
					  in[k][i / pitch * c->width + i % pitch]);
	}
	vout = prog_storage(&p, "out", pctl_build_array(p.b, type_of(&p, stored, c->width), 0, 0),
			    1);
	arrays[c->n_args] = (rig_bytes){calloc(n, 4), n * pctl_scalar_bytes(stored), 0};
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	for (uint32_t k = 0; k < c->n_args; k++)
		args[k] = (c->constants >> k) & 1 ? constant(&p, c, in[k])
						  : prog_load(&p, type_of(&p, c->operand, c->width),
							      vin[k], 1, gid);
	value = pctl_build_inst(p.b, c->op, type_of(&p, c->result, c->width), args, c->n_args);
	if (c->result == PCTL_SCALAR_BOOL)
		value = prog_op(&p, PCTL_OP_SELECT, type_of(&p, stored, c->width), 3, value,
				splat(&p, stored, c->width, 1), splat(&p, stored, c->width, 0));
	prog_store(&p, value, vout, 1, gid);
	rig_run_prog(r, &p, 64, 0, arrays, c->n_args + 1, (c->n_lanes + 63) / 64);
	for (uint64_t i = 0; i < n; i++)
		if (i % pitch < c->width)
			out[i / pitch * c->width + i % pitch] =
				float_get(arrays[c->n_args].data, stored, i);
	for (uint32_t k = 0; k <= c->n_args; k++)
		free(arrays[k].data);
}

void float_check(rig *r, const float_op *o, const float_format *f, uint32_t width,
		 uint32_t constants, uint32_t n_lanes, uint64_t seed)
{
	const float_case c = {.op = o->op,
			      .result = o->is_comparison ? PCTL_SCALAR_BOOL : f->scalar,
			      .operand = f->scalar,
			      .n_args = o->n_args,
			      .width = width,
			      .constants = constants,
			      .n_lanes = n_lanes};
	const uint32_t n = n_lanes * width;
	uint32_t *in[3] = {NULL, NULL, NULL}, *out = calloc(n, 4);

	for (uint32_t k = 0; k < o->n_args; k++) {
		in[k] = calloc(n, 4);
		for (uint32_t i = 0; i < n; i++)
			in[k][i] = float_operand(f, o->n_args, k, i + (uint32_t)seed,
						 seed * 1000 + o->op);
	}
	float_run(r, &c, in, out);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x[3] = {0}, want;

		for (uint32_t k = 0; k < o->n_args; k++)
			x[k] = in[k][(constants >> k) & 1 ? i % width : i];
		want = float_expect(o->op, f, x);
		if (out[i] != want)
			fail_msg("%s of %s, width %u, constants %x: element %u of %x %x %x is %x, "
				 "not %x",
				 pctl_op_get(o->op)->name, f->name, width, constants, i, x[0], x[1],
				 x[2], out[i], want);
	}
	for (uint32_t k = 0; k < 3; k++)
		free(in[k]);
	free(out);
}
