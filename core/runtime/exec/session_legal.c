/* What a device gets of a program: legalised by its profile, flattened where its limits ask for it, measured as it will
 * see it, and refused where that is more than it does right. */
#include "runtime/exec/session_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/legal.h"
#include "runtime/device/probe.h"

#define LARGEST_SOURCE (64u << 20)

static const char *fact(const pctl_session *s, const char *key)
{
	for (uint32_t i = 0; i < s->n_identity; i++)
		if (strcmp(s->identity[i].key, key) == 0)
			return s->identity[i].value;
	return NULL;
}

pctl_profiled_device pctl_session_profiled(const pctl_session *s)
{
	return (pctl_profiled_device){.table = s->o.table,
				      .dev = s->dev,
				      .caps = &s->caps,
				      .identity = s->identity,
				      .n_identity = s->n_identity,
				      .roles = pctl_session_roles(s),
				      .files = s->files_now,
				      .drivers = s->drivers_now,
				      .name = s->name,
				      .device = fact(s, "device"),
				      .driver = fact(s, "driver")};
}

pctl_status pctl_session_profile(pctl_session *s, const pctl_call *call,
				 const pctl_profile_record **out)
{
	const pctl_profiled_device d = pctl_session_profiled(s);
	pctl_profile_record *made;
	uint32_t broken;
	pctl_status status;

	*out = s->profile;
	if (s->profile != NULL || s->o.profiles == NULL ||
	    s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	made = malloc(sizeof(*made));
	if (made == NULL)
		return pctl_no_memory(call, "a profile");
	status = pctl_profiles_obtain(s->o.profiles, &d, s->o.profile_flags, call, made);
	broken = status == PCTL_OK ? pctl_profile_broken(made) : PCTL_N_FACTS;
	if (broken < PCTL_N_FACTS)
		status = pctl_refuse(call, PC5214_DEVICE_BROKEN, "%s: %s: %s", s->name,
				     pctl_fact_name(broken), made->fact_witness[broken].text);
	if (status != PCTL_OK) {
		free(made);
		return status;
	}
	*out = s->profile = made;
	return PCTL_OK;
}

static pctl_status learn_limits(pctl_session *s, const pctl_extents *x, const pctl_call *call);

/* What PCTL_PLAN_PROVEN_F64_TILES says. */
#define DOUBLE_TILES (PCTL_LEGAL_TILE_F32_16_8_8 | PCTL_LEGAL_TILE_F32_16_8_16)

pctl_status pctl_session_learn_doubles(pctl_session *s, const pctl_call *call)
{
	const uint64_t needed = PCTL_CAP_F64 | PCTL_CAP_NATIVE_FLOAT;
	const pctl_profile_record *record;
	pctl_status status;

	if ((pctl_session_caps(s)->caps & needed) != needed)
		return PCTL_OK;
	status = pctl_session_profile(s, call, &record);
	if (status == PCTL_OK && pctl_session_proven(s))
		status = pctl_session_learn_tiles(s, DOUBLE_TILES, call);
	/* Who multiplies by tiles wants workgroup memory, as much as is right. */
	return status == PCTL_OK && (pctl_session_proven(s) & PCTL_PLAN_PROVEN_F64_TILES)
		       ? learn_limits(s, NULL, call)
		       : status;
}

pctl_status pctl_session_learn_bytes(pctl_session *s, const pctl_call *call)
{
	const uint32_t tiles = PCTL_LEGAL_TILE_I8_16_16_32 | PCTL_LEGAL_TILE_U8_16_16_32;
	pctl_status status = pctl_session_learn_dot4(s, call);

	if (status == PCTL_OK)
		status = pctl_session_learn_tiles(s, tiles, call);
	return status == PCTL_OK && s->optional != NULL &&
			       (pctl_optional_tiles_exact(s->optional) & tiles)
		       ? learn_limits(s, NULL, call)
		       : status;
}

uint64_t pctl_session_proven(const pctl_session *s)
{
	const int has_dot4 = s->optional != NULL &&
			     s->optional->verdict[PCTL_OPTIONAL_DOT4] == PCTL_OPTIONAL_EXACT;
	const uint32_t tiles = s->optional != NULL ? pctl_optional_tiles_exact(s->optional) : 0;
	const uint64_t bytes =
		(has_dot4 ? PCTL_PLAN_PROVEN_DOT4 : 0) |
		(tiles & PCTL_LEGAL_TILE_I8_16_16_32 ? PCTL_PLAN_PROVEN_I8_TILES : 0) |
		(tiles & PCTL_LEGAL_TILE_U8_16_16_32 ? PCTL_PLAN_PROVEN_U8_TILES : 0);
	int has_fma = 1, has_f32 = 1;

	if (s->o.device_kind != PCTL_DEVICE_REFERENCE &&
	    (s->profile == NULL ||
	     !pctl_legal_has_f64(&s->profile->profile, pctl_session_caps(s), &has_fma)))
		return bytes;
	if (s->o.device_kind != PCTL_DEVICE_REFERENCE)
		has_f32 = pctl_legal_has_f32(&s->profile->profile, pctl_session_caps(s));
	return bytes | PCTL_PLAN_PROVEN_F64 | (has_f32 ? PCTL_PLAN_PROVEN_F32 : 0) |
	       (has_fma ? PCTL_PLAN_PROVEN_F64_FMA : 0) |
	       ((tiles & DOUBLE_TILES) == DOUBLE_TILES ? PCTL_PLAN_PROVEN_F64_TILES : 0);
}

/* Integer programs need no profile, and so no probe of floats. */
static pctl_status options_for(pctl_session *s, const pctl_program *p, const pctl_call *call,
			       pctl_legal_options *out)
{
	const uint64_t floats = PCTL_CAP_STRICT_FLOAT | PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16;
	const pctl_profile_record *record = NULL;
	pctl_status status = PCTL_OK;

	*out = (pctl_legal_options){.head = PCTL_HEAD(pctl_legal_options),
				    .flags = s->o.legal_flags};
	status = pctl_session_optional(s, p, call, out);
	if (status != PCTL_OK)
		return status;
	if (!(p->caps & floats) || s->o.profiles == NULL)
		return PCTL_OK;
	status = pctl_session_profile(s, call, &record);
	if (status == PCTL_OK)
		status = pctl_profiles_softfloat(s->o.profiles, call, &out->forms);
	out->profile = record == NULL ? NULL : &record->profile;
	return status;
}

/* What is found out of the second process is held against the first one's device. */
static pctl_status is_same_device(const pctl_session *s, const pctl_backend *table,
				  pctl_device *dev, const pctl_call *call)
{
	pctl_key_value facts[PCTL_SESSION_IDENTITY];
	uint32_t n = 0;
	pctl_status status = table->device_identity(dev, call, PCTL_SESSION_IDENTITY, facts, &n);

	if (status != PCTL_OK)
		return status;
	if (n > PCTL_SESSION_IDENTITY)
		n = PCTL_SESSION_IDENTITY;
	for (uint32_t i = 0; i < n && i < s->n_identity; i++)
		if (strcmp(facts[i].key, s->identity[i].key) != 0 ||
		    strcmp(facts[i].value, s->identity[i].value) != 0)
			return pctl_refuse(call, PC4331_PROBE,
					   "%s: opened once more it is another device: %s is "
					   "\"%s\", where %s was \"%s\"",
					   s->name, facts[i].key, facts[i].value,
					   s->identity[i].key, s->identity[i].value);
	return n == s->n_identity ? PCTL_OK
				  : pctl_refuse(call, PC4331_PROBE,
						"%s: opened once more it is another device: it "
						"names %" PRIu32 " facts, not %" PRIu32,
						s->name, n, s->n_identity);
}

pctl_status pctl_session_aside(const pctl_session *s, const pctl_call *call,
			       pctl_backend_instance **aside, const pctl_backend **table,
			       pctl_device **dev)
{
	pctl_status status;

	*aside = NULL;
	*table = s->o.table;
	*dev = s->dev;
	if (s->o.backend == NULL || pctl_backend_instance_worker(s->o.backend) == 0)
		return PCTL_OK;
	*dev = NULL;
	status = pctl_backend_instance_twin(s->o.backend, call, aside);
	if (status != PCTL_OK)
		return status;
	*table = (*aside)->table;
	status = (*table)->device_open((*aside)->inst, call, s->o.index, dev);
	if (status == PCTL_OK)
		status = is_same_device(s, *table, *dev, call);
	if (status != PCTL_OK) {
		pctl_session_aside_close(*aside, *dev, call);
		*aside = NULL;
		*dev = NULL;
	}
	return status;
}

void pctl_session_aside_close(pctl_backend_instance *aside, pctl_device *dev, const pctl_call *call)
{
	if (aside != NULL && dev != NULL)
		aside->table->device_close(dev);
	pctl_backend_instance_close(aside, call);
}

/* A search looks for what breaks the device, and may well find it. */
static pctl_status search_aside(pctl_session *s, const pctl_call *call, pctl_limits_record *out)
{
	pctl_profiled_device d = pctl_session_profiled(s);
	pctl_backend_instance *aside;
	pctl_status status = pctl_session_aside(s, call, &aside, &d.table, &d.dev);

	if (status != PCTL_OK)
		return status;
	status = pctl_profiles_limits(s->o.profiles, &d, s->o.profile_flags, call, out);
	pctl_session_aside_close(aside, d.dev, call);
	return status;
}

/* The record that is kept of this device; with `searches` it is searched where there is none. */
static pctl_status limits_of(pctl_session *s, int searches, const pctl_call *call,
			     pctl_limits_record *out)
{
	const pctl_profiled_device d = pctl_session_profiled(s);
	const uint32_t flags = s->o.profile_flags | PCTL_PROFILES_KEPT;
	const pctl_status status = pctl_profiles_limits(s->o.profiles, &d, flags, call, out);

	if (status != PCTL_OK || out->path[0] != '\0' || !searches)
		return status;
	return search_aside(s, call, out);
}

pctl_status pctl_session_limits(pctl_session *s, const pctl_call *call, pctl_limits_record *out)
{
	memset(out, 0, sizeof(*out));
	if (s->o.profiles == NULL || s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	return limits_of(s, 1, call, out);
}

/* The first program that is more than any device can be taken to do (NULL: one of any size) asks for the record of this
 * one; a device that no table knows and that has none is searched, once for all sessions to come. */
static pctl_status learn_limits(pctl_session *s, const pctl_extents *x, const pctl_call *call)
{
	pctl_limits_record *found;
	pctl_status status;

	if (s->limits_learned || s->o.profiles == NULL ||
	    s->o.device_kind == PCTL_DEVICE_REFERENCE ||
	    (x != NULL && pctl_extents_over(x, &pctl_limits_floor) == PCTL_N_EXTENTS))
		return PCTL_OK;
	found = malloc(sizeof(*found));
	if (found == NULL)
		return pctl_no_memory(call, "limits");
	status = limits_of(s, !s->limits_known, call, found);
	if (status == PCTL_OK) {
		pctl_extent_limits_least(&s->limits, &found->limits);
		s->limits_slow = found->slow;
		s->limits_learned = 1;
	}
	free(found);
	return status;
}

pctl_status pctl_session_learn(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call)
{
	pctl_extents x;
	const pctl_status status = pctl_program_extents(unit->program, &unit->known, call, &x);

	return status == PCTL_OK ? learn_limits(s, &x, call) : status;
}

pctl_status pctl_session_most(pctl_session *s, const pctl_call *call, pctl_extent_limits *out)
{
	const pctl_status status = learn_limits(s, NULL, call);

	*out = s->limits;
	return status;
}

/* What the driver will see must be within what the device does right: over that it is silently wrong, or never comes
 * back. The reason is typed and speaks of this device alone. */
static pctl_status check_extents(pctl_session *s, const pctl_kernel_module *unit,
				 const pctl_program *legal, const pctl_extents *x,
				 const pctl_call *call)
{
	const uint32_t over = pctl_extents_over(x, &s->limits);
	pctl_pos pos;

	if (over == PCTL_N_EXTENTS)
		return PCTL_OK;
	pos = pctl_extents_position(legal, x, over);
	return pctl_refuse_at(call, PC5218_DEVICE_CANNOT, pos.file == NULL ? NULL : &pos,
			      "choose another device with --backend, or the reference",
			      "%s: kernel %s needs %" PRIu64
			      " %s (%s), the device is known to be right up to "
			      "%" PRIu64 "%s",
			      s->name, unit->name, x->need[over], pctl_extent_unit(over),
			      pctl_extent_doc(over), s->limits.most[over],
			      s->limits_slow >> over & 1
				      ? " and was too slow to be asked for more (`pipectl device "
					"probe --fresh` asks again)"
				      : "");
}

/* Legalised for this device, and measured as the driver will see it, whatever flattening says it did. Its size may be
 * what has the device's limits asked for: then it is legalised for these. proof: under range contracts, where *out is NULL
 * if nothing is proven; or NULL. */
static pctl_status legal_for(pctl_session *s, const pctl_kernel_module *unit, const pctl_call *call,
			     pctl_contract_proof *proof, pctl_program **out)
{
	pctl_legal_options options;
	pctl_extents x;
	pctl_status status = options_for(s, unit->program, call, &options);

	while (status == PCTL_OK) {
		const uint64_t nesting = s->limits.most[PCTL_EXTENT_NESTING];
		const uint64_t turns = s->limits.most[PCTL_EXTENT_TURNS];

		options.nesting = nesting > UINT32_MAX ? UINT32_MAX : (uint32_t)nesting;
		options.turns = turns;
		options.known = &unit->known;
		status = proof == NULL ? pctl_legalise(unit->program, &s->caps, &options, call, out)
				       : pctl_legalise_contract(unit->program, &s->caps, &options,
								call, proof, out);
		if (status == PCTL_OK && *out == NULL)
			return PCTL_OK;
		if (status == PCTL_OK)
			status = pctl_program_extents(*out, &unit->known, call, &x);
		if (status == PCTL_OK)
			status = learn_limits(s, &x, call);
		/* Simplified it may be more than it was; it is not refused for that. */
		if (status == PCTL_OK && !(options.flags & PCTL_LEGAL_PLAIN) &&
		    pctl_extents_over(&x, &s->limits) != PCTL_N_EXTENTS)
			options.flags |= PCTL_LEGAL_PLAIN;
		else if (status != PCTL_OK || (nesting == s->limits.most[PCTL_EXTENT_NESTING] &&
					       turns == s->limits.most[PCTL_EXTENT_TURNS]))
			break;
		pctl_program_destroy(*out);
		*out = NULL;
	}
	return status == PCTL_OK ? check_extents(s, unit, *out, &x, call) : status;
}

pctl_status pctl_session_wire(pctl_session *s, const pctl_kernel_module *unit,
			      const pctl_call *call, uint8_t **wire, uint64_t *n)
{
	pctl_program *legal = NULL;
	pctl_status status;

	*wire = NULL;
	*n = 0;
	if (s->o.device_kind == PCTL_DEVICE_REFERENCE) {
		*wire = malloc(unit->wire_bytes);
		if (*wire == NULL)
			return pctl_no_memory(call, "a kernel");
		memcpy(*wire, unit->wire, unit->wire_bytes);
		*n = unit->wire_bytes;
		return PCTL_OK;
	}
	status = legal_for(s, unit, call, NULL, &legal);
	if (status == PCTL_OK)
		status = pctl_program_encode(legal, call, wire, n);
	pctl_program_destroy(legal);
	return status;
}

pctl_status pctl_session_contract_wire(pctl_session *s, const pctl_kernel_module *unit,
				       const pctl_call *call, pctl_contract_proof *proof,
				       uint8_t **wire, uint64_t *n)
{
	pctl_call quiet = *call;
	pctl_program *legal = NULL;
	pctl_status status;

	*wire = NULL;
	*n = 0;
	quiet.diag = NULL;
	status = legal_for(s, unit, &quiet, proof, &legal);
	if (status == PCTL_OK && legal != NULL)
		status = pctl_program_encode(legal, &quiet, wire, n);
	pctl_program_destroy(legal);
	return status;
}

pctl_status pctl_session_legal(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call, pctl_program **legal)
{
	*legal = NULL;
	if (s->o.device_kind != PCTL_DEVICE_REFERENCE)
		return legal_for(s, unit, call, NULL, legal);
	return pctl_program_decode(unit->wire, unit->wire_bytes, call, legal);
}

pctl_status pctl_session_source(pctl_session *s, const pctl_kernel_module *unit,
				const pctl_call *call, char **text, uint64_t *n, char *language)
{
	const pctl_backend *t = s->o.table;
	uint64_t n_wire, n_first;
	uint8_t *wire;
	pctl_status status;

	*text = NULL;
	*n = n_first = 0;
	if (t->kernel_source == NULL)
		return pctl_refuse(call, PC3218_KERNEL_SOURCE, "%s shows no source of kernels",
				   s->name);
	status = pctl_session_wire(s, unit, call, &wire, &n_wire);
	if (status == PCTL_OK)
		status = t->kernel_source(s->dev, call, wire, n_wire, 0, NULL, &n_first, language);
	if (status == PCTL_OK &&
	    (n_first > LARGEST_SOURCE || (*text = calloc((size_t)n_first + 1, 1)) == NULL))
		status = pctl_no_memory(call, "a listing");
	if (status == PCTL_OK)
		status = t->kernel_source(s->dev, call, wire, n_wire, n_first, *text, n, language);
	free(wire);
	if (status == PCTL_OK && *n != n_first)
		status = pctl_refuse(call, PC3218_KERNEL_SOURCE,
				     "%s first tells of %" PRIu64 " bytes, then of %" PRIu64,
				     s->name, n_first, *n);
	if (status != PCTL_OK) {
		free(*text);
		*text = NULL;
	}
	return status;
}
