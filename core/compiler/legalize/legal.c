/* The legaliser's passes in their order, and what none of them can take away. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

#include "compiler/analysis/extents.h"
#include "compiler/legalize/contract.h"

#define FLOAT_CAPS (PCTL_CAP_STRICT_FLOAT | PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16)
/* What integer programs may have that a device has not. */
#define LOWERED_CAPS ((uint64_t)(PCTL_CAP_I64 | PCTL_CAP_SUBGROUPS | PCTL_CAP_TILES))
#define BOTH_INT64 ((1u << PCTL_SCALAR_I64) | (1u << PCTL_SCALAR_U64))

/* A legalisation under way. */
typedef struct passes {
	const pctl_device_caps *caps;
	const pctl_legal_options *options;
	const pctl_call *call;
	pctl_softfloat *forms; /* the caller's or own */
	legal_chooser *chooser;
	pctl_contract_proof *proof; /* NULL: without contracts */
	pctl_program *now;	    /* NULL: still the program as written */
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
		{PCTL_CAP_SUBGROUPS, "subgroup operations"},
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

/* A program that meets its contracts needs no loop written twice; one that does not is not gone on with. */
static pctl_status lower_under_contracts(passes *s, const pctl_program *p,
					 const pctl_program *module)
{
	uint8_t *contracts = calloc(p->n_vars + 1u, 1);
	pctl_program *next = NULL;
	pctl_status status;

	if (!contracts)
		return pctl_refuse(s->call, PC2_NOMEM, "legalising a program");
	pctl_contract_vars(p, contracts);
	status = legal_contract_prove(p, contracts, s->chooser, s->call, s->proof);
	if (status == PCTL_OK && s->proof->verdict == PCTL_CONTRACT_PROVEN)
		status = legal_float_pass(p, NULL, contracts, s->chooser, module, s->call, &next);
	if (next)
		step(s, next);
	free(contracts);
	return status;
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
	if (status == PCTL_OK && s->proof)
		return lower_under_contracts(s, p, module);
	if (status == PCTL_OK)
		status = legal_loop_version_pass(p, s->chooser, s->call, &assumed, &twice);
	if (twice) {
		step(s, twice);
		p = twice;
	}
	if (status == PCTL_OK)
		status = legal_float_pass(p, assumed, NULL, s->chooser, module, s->call, &next);
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

/* Drivers write loops out by themselves where it pays; here it is done for those that do not turn often enough. */
static pctl_status unroll(passes *s)
{
	const uint64_t most = s->options ? s->options->turns : 0;
	pctl_program *next = NULL;
	pctl_extents x;
	pctl_status status;

	if (!most)
		return PCTL_OK;
	status = pctl_program_extents(s->now, s->options->known, s->call, &x);
	if (status == PCTL_OK && x.need[PCTL_EXTENT_TURNS] > most)
		status = legal_unroll_pass(s->now, s->call, &next);
	if (next)
		step(s, next);
	return status;
}

/* What costs nothing to leave out. Before the float pass: strict operations are still what they mean, and their forms are
 * written once for each that is left. */
static pctl_status simplify(passes *s, const pctl_program **p)
{
	const uint32_t flags = s->options ? s->options->flags : PCTL_LEGAL_PLAIN;
	pctl_program *next = NULL;
	pctl_status status = PCTL_OK;

	if (!(flags & PCTL_LEGAL_NO_HOIST))
		status = legal_hoist_pass(*p, s->call, &next);
	if (next) {
		step(s, next);
		*p = next;
		next = NULL;
	}
	if (status == PCTL_OK && !(flags & PCTL_LEGAL_NO_NUMBER))
		status = legal_number_pass(*p, s->call, &next);
	if (next) {
		step(s, next);
		*p = next;
	}
	return status;
}

/* Both copies of a loop count as loops of the program: not where they would be more than the device does right. */
static pctl_status check_before_loops(passes *s)
{
	const pctl_legal_options *o = s->options;
	pctl_program *next = NULL;
	pctl_status status = PCTL_OK;
	pctl_extents x;

	if (!o || !(o->flags & PCTL_LEGAL_NO_LENGTHS))
		status = legal_lengths_pass(s->now, s->call, &next);
	if (next && o && o->turns) {
		status = pctl_program_extents(next, o->known, s->call, &x);
		if (status != PCTL_OK || x.need[PCTL_EXTENT_TURNS] > o->turns) {
			pctl_program_destroy(next);
			return status;
		}
	}
	if (next)
		step(s, next);
	return status;
}

/* Only what a probe has shown of this very size on this very device stays. */
static uint32_t kept_subgroups(const passes *s, const pctl_program *p)
{
	if (!s->options || s->options->subgroup_size != pctl_program_subgroup_size(p) ||
	    !pctl_legal_subgroups_fit(p, s->caps))
		return 0;
	return s->options->subgroup_kinds;
}

static int has_float_tiles(const pctl_program *p)
{
	uint32_t i = 0;

	while (i < p->n_types &&
	       (p->types[i].kind != PCTL_TYPE_TILE || !pctl_tile_is_float(&p->types[i])))
		i++;
	return i < p->n_types;
}

/* Moves of tiles that a device keeps vote, and ask what lane 0 brings. */
static int keeps_tiles(const passes *s, const pctl_program *p)
{
	const uint32_t kinds = PCTL_SUBGROUP_VOTE | PCTL_SUBGROUP_MOVE;
	/* Tiles of floats are moved as their bits. */
	const uint64_t floats = has_float_tiles(p) ? PCTL_CAP_F64 | PCTL_CAP_I64 : 0;
	const uint64_t caps = PCTL_CAP_TILES | PCTL_CAP_SUBGROUPS | floats;
	const uint32_t own = s->caps->subgroup_size;

	return s->options && (s->caps->caps & caps) == caps &&
	       (own == PCTL_TILE_LANES || own == 0) &&
	       s->options->subgroup_size == PCTL_TILE_LANES &&
	       (s->options->subgroup_kinds & kinds) == kinds &&
	       !(pctl_legal_tile_products(p) & ~s->options->tile_products);
}

static pctl_status run(passes *s, const pctl_program *p)
{
	/* A program of native operations has been lowered by whoever wrote it. */
	int is_strict;
	pctl_program *next = NULL;
	pctl_status status = PCTL_OK;
	uint32_t int64;

	/* First: it brings products of packed bytes, and strict operations. */
	if (p->caps & PCTL_CAP_TILES) {
		status = keeps_tiles(s, p) ? legal_tile_native_pass(p, s->call, &next)
					   : legal_tile_pass(p, s->call, &next);
		if (status != PCTL_OK)
			return status;
		step(s, next);
		p = next;
		next = NULL;
	}
	is_strict = (p->caps & FLOAT_CAPS) && !(p->caps & PCTL_CAP_NATIVE_FLOAT);
	if ((s->caps->caps & PCTL_CAP_DOT4) && !(s->options && s->options->keeps_dot4) &&
	    pctl_legal_has_dot4(p)) {
		status = legal_dot4_pass(p, s->call, &next);
		if (status != PCTL_OK)
			return status;
		step(s, next);
		p = next;
		next = NULL;
	}
	if (pctl_legal_subgroup_kinds(p) & ~kept_subgroups(s, p)) {
		status = legal_subgroup_pass(p, kept_subgroups(s, p), s->call, &next);
		if (status != PCTL_OK)
			return status;
		step(s, next);
		p = next;
		next = NULL;
	}
	status = simplify(s, &p);
	if (status == PCTL_OK && s->options && is_strict)
		status = lower_floats(s, p);
	if (status != PCTL_OK || (s->proof && s->proof->verdict != PCTL_CONTRACT_PROVEN))
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
	status = check_before_loops(s);
	if (status == PCTL_OK)
		status = unroll(s);
	if (status != PCTL_OK)
		return status;
	next = NULL;
	status = legal_flatten_pass(s->now, s->options ? s->options->nesting : 0,
				    s->options ? s->options->known : NULL, s->call, &next);
	if (status != PCTL_OK)
		return status;
	if (next)
		step(s, next);
	return check_left(s->now, s->caps, s->call);
}

/* proof NULL: without contracts. */
static pctl_status legalise(const pctl_program *p, const pctl_device_caps *caps,
			    const pctl_legal_options *options, const pctl_call *call,
			    pctl_contract_proof *proof, pctl_program **out)
{
	passes s = {.caps = caps, .options = options, .call = call, .proof = proof};
	pctl_softfloat *own = NULL;
	pctl_status status;

	*out = NULL;
	if (p->caps & PCTL_CAP_OVERRIDES)
		return pctl_refuse(call, PC2502_LEGAL_UNSPECIALISED,
				   "set its override values first");
	if (!options && (p->caps & ~caps->caps & ~LOWERED_CAPS))
		return check_left(p, caps, call);
	s.forms = options ? options->forms : NULL;
	if (!s.forms) {
		status = pctl_softfloat_create(call, &own);
		if (status != PCTL_OK)
			return status;
		s.forms = own;
	}
	status = run(&s, p);
	if (status == PCTL_OK && (!proof || proof->verdict == PCTL_CONTRACT_PROVEN))
		*out = s.now;
	else
		pctl_program_destroy(s.now);
	legal_chooser_destroy(s.chooser);
	pctl_softfloat_destroy(own);
	return status;
}

pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_legal_options *options, const pctl_call *call,
			  pctl_program **out)
{
	return legalise(p, caps, options, call, NULL, out);
}

pctl_status pctl_legalise_contract(const pctl_program *p, const pctl_device_caps *caps,
				   const pctl_legal_options *options, const pctl_call *call,
				   pctl_contract_proof *proof, pctl_program **out)
{
	*proof = (pctl_contract_proof){.verdict = PCTL_CONTRACT_NEEDLESS};
	*out = NULL;
	if (!options || !options->profile || (options->flags & PCTL_LEGAL_NATIVE) ||
	    pctl_contract_vars(p, NULL) == 0)
		return PCTL_OK;
	return legalise(p, caps, options, call, proof, out);
}
