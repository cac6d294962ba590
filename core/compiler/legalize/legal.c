/* The legaliser's passes in their order, and what none of them can take away. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

#define FLOAT_CAPS (PCTL_CAP_STRICT_FLOAT | PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16)
#define BOTH_INT64 ((1u << PCTL_SCALAR_I64) | (1u << PCTL_SCALAR_U64))

/* A legalisation under way. */
typedef struct passes {
	const pctl_device_caps *caps;
	const pctl_legal_options *options;
	const pctl_call *call;
	pctl_softfloat *forms; /* the caller's or own */
	legal_chooser *chooser;
	pctl_program *now; /* NULL: still the program as written */
} passes;

static pctl_status check_left(const pctl_program *p, const pctl_device_caps *caps,
			      const pctl_call *call)
{
	static const struct {
		uint64_t cap;
		const char *what;
	} names[] = {
		{PCTL_CAP_I64, "64-bit integers"},
		{PCTL_CAP_F16, "16-bit floats"},
		{PCTL_CAP_F32, "32-bit floats"},
		{PCTL_CAP_BF16, "bfloat16"},
		{PCTL_CAP_F64, "64-bit floats"},
		{PCTL_CAP_NARROW, "8- and 16-bit integers"},
		{PCTL_CAP_OVERRIDES, "override values that were never set"},
		{PCTL_CAP_STRICT_FLOAT, "strict float operations"},
		{PCTL_CAP_STORE16, "16-bit values in storage memory"},
		{PCTL_CAP_NATIVE_FLOAT, "native float operations"},
	};
	const uint64_t left = p->caps & ~caps->caps;

	if (!left)
		return PCTL_OK;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (left & names[i].cap)
			return pctl_refuse(call, PC2501_LEGAL_CAPABILITY,
					   "the program needs %s: the device has none and no exact "
					   "replacement is known",
					   names[i].what);
	return pctl_refuse(call, PC2501_LEGAL_CAPABILITY,
			   "the program needs capabilities 0x%llx that the device lacks",
			   (unsigned long long)left);
}

static void step(passes *s, pctl_program *next)
{
	pctl_program_destroy(s->now);
	s->now = next;
}

static pctl_status lower_floats(passes *s, const pctl_program *p)
{
	const pctl_program *module = NULL;
	pctl_program *next = NULL, *written_out = NULL, *twice = NULL;
	int16_t *assumed = NULL;
	pctl_status status = legal_softfloat_float(s->forms, s->call, &module);

	if (status == PCTL_OK)
		status = legal_inline_pass(p, s->call, &written_out);
	if (written_out) {
		step(s, written_out);
		p = written_out;
	}
	if (status == PCTL_OK)
		status = legal_chooser_create(s->options->profile, s->caps, s->options->flags,
					      module, s->call, &s->chooser);
	if (status == PCTL_OK)
		status = legal_loop_version_pass(p, s->chooser, s->call, &assumed, &twice);
	if (twice) {
		step(s, twice);
		p = twice;
	}
	if (status == PCTL_OK)
		status = legal_float_pass(p, assumed, s->chooser, module, s->call, &next);
	if (status == PCTL_OK)
		step(s, next);
	free(assumed);
	return status;
}

/* The scalars that must become pairs of words. */
static uint32_t int64_scalars(const passes *s, const pctl_program *p)
{
	uint32_t int64 = p->caps & ~s->caps->caps & PCTL_CAP_I64 ? BOTH_INT64 : 0;

	if (s->chooser && (p->caps & PCTL_CAP_F64) &&
	    (!(s->caps->caps & PCTL_CAP_F64) || !legal_f64_is_exact(s->chooser, p)))
		int64 |= 1u << PCTL_SCALAR_F64;
	return int64;
}

static pctl_status run(passes *s, const pctl_program *p)
{
	/* A program of native operations has been lowered by whoever wrote it. */
	const int is_strict = (p->caps & FLOAT_CAPS) && !(p->caps & PCTL_CAP_NATIVE_FLOAT);
	pctl_program *next = NULL;
	pctl_status status = PCTL_OK;
	uint32_t int64;

	if (s->options && is_strict)
		status = lower_floats(s, p);
	if (status != PCTL_OK)
		return status;
	int64 = int64_scalars(s, s->now ? s->now : p);
	if (int64 || !s->now || !(s->caps->caps & PCTL_CAP_I64_DIV)) {
		status = legal_int64_pass(s->now ? s->now : p, int64,
					  !(s->caps->caps & PCTL_CAP_I64_DIV), s->forms, s->call,
					  &next);
		if (status != PCTL_OK)
			return status;
		step(s, next);
	}
	next = NULL;
	status = legal_flatten_pass(s->now, s->options ? s->options->nesting : 0, s->call, &next);
	if (status != PCTL_OK)
		return status;
	if (next)
		step(s, next);
	return check_left(s->now, s->caps, s->call);
}

pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_legal_options *options, const pctl_call *call,
			  pctl_program **out)
{
	passes s = {.caps = caps, .options = options, .call = call};
	pctl_softfloat *own = NULL;
	pctl_status status;

	*out = NULL;
	if (p->caps & PCTL_CAP_OVERRIDES)
		return pctl_refuse(call, PC2502_LEGAL_UNSPECIALISED,
				   "set its override values first");
	if (!options && (p->caps & ~caps->caps & ~(uint64_t)PCTL_CAP_I64))
		return check_left(p, caps, call);
	s.forms = options ? options->forms : NULL;
	if (!s.forms) {
		status = pctl_softfloat_create(call, &own);
		if (status != PCTL_OK)
			return status;
		s.forms = own;
	}
	status = run(&s, p);
	if (status == PCTL_OK)
		*out = s.now;
	else
		pctl_program_destroy(s.now);
	legal_chooser_destroy(s.chooser);
	pctl_softfloat_destroy(own);
	return status;
}
