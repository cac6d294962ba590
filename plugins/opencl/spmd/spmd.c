/* What the generator takes, and the source as a whole. */
#include "spmd/spmd.h"
#include "spmd/internal.h"

#include <stdlib.h>

#define PRIVATE_BYTES_MAX (256u << 10) /* on the stack of a driver's thread */
#define DEPTH_MAX 100u
#define WIDTH_MOST 16u

/* ---- what it cannot take ---- */

static const char *refuse_op(const pctl_program *p, uint32_t f, const pctl_inst *in)
{
	if (in->op >= PCTL_OP_NSIN && in->op <= PCTL_OP_NCBRT)
		return "a function of the vendor's";
	if (in->op == PCTL_OP_MATMUL || in->op == PCTL_OP_TRANSPOSE)
		return "matrices as operands";
	if (in->op == PCTL_OP_BUILTIN && f != p->entries[0].function &&
	    pctl_arg(p, in, 0) <= PCTL_BUILTIN_LOCAL_INDEX)
		return "the invocation's number outside of main";
	return NULL;
}

static const char *refuse_program(const spmd *s)
{
	const pctl_program *p = s->e.p;
	const uint32_t *size = p->entries[0].workgroup_size;
	const char *why = NULL;
	uint32_t depth = 0;

	if ((uint64_t)size[0] * size[1] * size[2] < 2)
		return "workgroups of one invocation";
	if (p->caps & (PCTL_CAP_F16 | PCTL_CAP_BF16 | PCTL_CAP_NARROW | PCTL_CAP_STORE16))
		return "types of 8 or 16 bits";
	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; s->e.reached[f] && !why && i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + i];

			why = refuse_op(p, f, in);
			depth += in->op == PCTL_OP_IF || in->op == PCTL_OP_LOOP ||
				 in->op == PCTL_OP_BLOCK || in->op == PCTL_OP_SWITCH;
			depth -= in->op == PCTL_OP_END_IF || in->op == PCTL_OP_END_LOOP ||
				 in->op == PCTL_OP_END_BLOCK || in->op == PCTL_OP_END_SWITCH;
			if (depth > DEPTH_MAX)
				why = "control that nests deeply";
		}
	if (!why && s->steps > 1)
		for (uint32_t f = 1; f < p->n_functions; f++)
			if (f != p->entries[0].function && s->e.reached[f] && s->e.has_barrier[f])
				why = "a barrier in a function, in a workgroup of several steps";
	return why;
}

/* Bytes of a variable that differs between lanes, at most. */
static uint64_t array_bytes(const spmd *s, uint32_t type)
{
	return (uint64_t)spmd_leaves(s->e.p, type) * 8u * s->width;
}

static const char *refuse_memory(const spmd *s)
{
	const pctl_program *p = s->e.p;
	uint64_t sum = 0;

	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *of = &p->functions[f];
		const spmd_function *fn = &s->functions[f];

		for (uint32_t k = 0; s->e.reached[f] && k < of->n_locals; k++) {
			const uint32_t type = p->locals[of->first_local + k].type;

			sum += !fn->locals[k].varies ? p->types[type].size : array_bytes(s, type);
		}
		for (uint32_t i = 0; s->e.reached[f] && i < of->n_insts; i++) {
			const uint32_t type = p->insts[of->first_inst + i].type;

			if (type && fn->values[i].varies && spmd_leaves(p, type) > SPMD_LEAVES_MAX)
				return "values of more than 64 scalars";
			if (fn->values[i].kept)
				sum += 16u * s->width;
		}
	}
	for (uint32_t v = 0; v < p->n_vars; v++)
		if (p->vars[v].space == PCTL_SPACE_PRIVATE)
			sum += array_bytes(s, p->vars[v].type);
	return sum * (s->split ? s->steps : 1) > PRIVATE_BYTES_MAX ? "private memory that is large"
								   : NULL;
}

static const char *refuse_results(const spmd *s)
{
	const pctl_program *p = s->e.p;

	for (uint32_t f = 1; f < p->n_functions; f++)
		if (s->e.reached[f] && !s->functions[f].is_plain && p->functions[f].return_type &&
		    !s->functions[f].result_varies &&
		    emit_is_whole(&s->e, p->functions[f].return_type))
			return "a whole that is the same for all invocations, from a function that "
			       "is not";
	return NULL;
}

/* ---- plain functions ---- */

static int is_plain(const spmd *s, uint32_t f)
{
	const pctl_program *p = s->e.p;
	const pctl_function *of = &p->functions[f];
	const spmd_function *fn = &s->functions[f];

	if (fn->leaves)
		return 0;
	for (uint32_t i = 0; i < of->n_insts; i++) {
		const pctl_inst *in = &p->insts[of->first_inst + i];

		if (fn->values[i].varies ||
		    (in->op == PCTL_OP_CALL && !s->functions[pctl_arg(p, in, 0)].is_plain))
			return 0;
	}
	for (uint32_t v = 0; v < p->n_vars; v++)
		if (p->vars[v].space == PCTL_SPACE_PRIVATE && emit_uses(&s->e, f)[v])
			return 0;
	for (uint32_t k = 0; k < of->n_locals; k++)
		if (fn->locals[k].varies)
			return 0;
	return 1;
}

/* ---- the whole ---- */

/* Rows of a workgroup are whole vectors where they can be: then what hangs on y and z is the same for all lanes. */
static uint32_t width_of(const uint32_t size[3], uint32_t invocations)
{
	if (size[0] % WIDTH_MOST == 0)
		return WIDTH_MOST;
	return size[0] % 8 == 0 || invocations <= 8 ? 8 : WIDTH_MOST;
}

static pctl_status find(spmd *s)
{
	const pctl_program *p = s->e.p;
	pctl_status status = PCTL_OK;
	uint32_t n_regions = 0;

	for (uint32_t f = 1; f < p->n_functions && status == PCTL_OK; f++)
		if (s->e.reached[f]) {
			status = spmd_find_regions(s, f);
			if (s->functions[f].n_regions > n_regions)
				n_regions = s->functions[f].n_regions;
		}
	if (status != PCTL_OK)
		return status;
	s->open = calloc(n_regions + 2u, sizeof(*s->open));
	s->by_step = calloc(p->functions[p->entries[0].function].n_locals + 1u, 1);
	s->needed = calloc(p->functions[p->entries[0].function].n_insts + 1u, 1);
	if (!s->open || !s->by_step || !s->needed)
		return pctl_refuse(s->e.call, PC2_NOMEM, "opencl: writing the source of a kernel");
	spmd_find_varying(s);
	spmd_find_strides(s);
	for (uint32_t f = 1; f < p->n_functions; f++)
		if (s->e.reached[f] && f != p->entries[0].function)
			s->functions[f].is_plain = (uint8_t)is_plain(s, f);
	if (s->split)
		spmd_find_segments(s);
	/* Lanes win nothing there, and PoCL does well what has no barrier. */
	if (!s->why && !s->e.has_barrier[p->entries[0].function] && spmd_only_scatters(s))
		s->why = "loops that load and store here and there alone, without a barrier";
	if (!s->why)
		s->why = refuse_results(s);
	if (!s->why)
		s->why = refuse_memory(s);
	return PCTL_OK;
}

static pctl_status write(spmd *s, text *out)
{
	const pctl_program *p = s->e.p;

	emit_program_begin(&s->e, out);
	spmd_prelude(s);
	for (uint32_t f = 1; f < p->n_functions; f++) {
		if (!s->e.reached[f] || f == p->entries[0].function)
			continue;
		if (s->functions[f].is_plain)
			emit_function(&s->e, f);
		else
			spmd_body(s, f);
	}
	spmd_main(s);
	return emit_program_end(&s->e, out);
}

static void close_all(spmd *s)
{
	for (uint32_t f = 0; s->functions && f < s->e.p->n_functions; f++) {
		free(s->functions[f].regions);
		free(s->functions[f].values);
		free(s->functions[f].locals);
	}
	free(s->functions);
	free(s->open);
	free(s->by_step);
	free(s->needed);
	text_free(&s->segment);
	emit_close(&s->e);
}

pctl_status spmd_program(const pctl_program *p, const pctl_call *call, uint32_t flags, text *out,
			 const char **why)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	pctl_status status;
	spmd s = {0};

	*why = NULL;
	status = emit_open(&s.e, p, call);
	if (status == PCTL_OK) {
		s.e.flags = flags & ~EMIT_LANE_LOOPS;
		s.e.whole_groups = 1;
		s.invocations = size[0] * size[1] * size[2];
		s.width = width_of(size, s.invocations);
		s.steps = (s.invocations + s.width - 1) / s.width;
		s.split = s.steps > 1 && s.e.has_barrier[p->entries[0].function];
		s.why = refuse_program(&s);
		s.functions = calloc(p->n_functions + 1u, sizeof(*s.functions));
		if (!s.functions)
			status = pctl_refuse(call, PC2_NOMEM,
					     "opencl: writing the source of a kernel");
	}
	if (status == PCTL_OK && !s.why)
		status = find(&s);
	if (status == PCTL_OK && !s.why)
		status = write(&s, out);
	*why = s.why;
	close_all(&s);
	return status;
}
