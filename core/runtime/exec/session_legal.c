/* What a device gets of a program: legalised by its profile, flattened where its limits ask for it, measured as it will
 * see it, and refused where that is more than it does right. */
#include "runtime/exec/session_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/legal.h"

static const char *fact(const pctl_session *s, const char *key)
{
	for (uint32_t i = 0; i < s->n_identity; i++)
		if (strcmp(s->identity[i].key, key) == 0)
			return s->identity[i].value;
	return NULL;
}

static pctl_profiled_device profiled(const pctl_session *s)
{
	return (pctl_profiled_device){.table = s->o.table,
				      .dev = s->dev,
				      .caps = &s->caps,
				      .identity = s->identity,
				      .n_identity = s->n_identity,
				      .roles = pctl_session_roles(s),
				      .files = s->files_now,
				      .name = s->name,
				      .device = fact(s, "device"),
				      .driver = fact(s, "driver")};
}

pctl_status pctl_session_profile(pctl_session *s, const pctl_call *call,
				 const pctl_profile_record **out)
{
	const pctl_profiled_device d = profiled(s);
	pctl_profile_record *made;
	uint32_t broken;
	pctl_status status;

	*out = s->profile;
	if (s->profile != NULL || s->o.profiles == NULL ||
	    s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	made = malloc(sizeof(*made));
	if (made == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a profile");
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

/* Integer programs need no profile, and so no probe. */
static pctl_status options_for(pctl_session *s, const pctl_program *p, const pctl_call *call,
			       pctl_legal_options *out)
{
	const uint64_t floats = PCTL_CAP_STRICT_FLOAT | PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16;
	const pctl_profile_record *record = NULL;
	pctl_status status = PCTL_OK;

	*out = (pctl_legal_options){.head = PCTL_HEAD(pctl_legal_options),
				    .flags = s->o.legal_flags};
	if (!(p->caps & floats) || s->o.profiles == NULL)
		return PCTL_OK;
	status = pctl_session_profile(s, call, &record);
	if (status == PCTL_OK)
		status = pctl_profiles_softfloat(s->o.profiles, call, &out->forms);
	out->profile = record == NULL ? NULL : &record->profile;
	return status;
}

pctl_status pctl_session_limits(pctl_session *s, const pctl_call *call, pctl_limits_record *out)
{
	const pctl_profiled_device d = profiled(s);

	memset(out, 0, sizeof(*out));
	if (s->o.profiles == NULL || s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	return pctl_profiles_limits(s->o.profiles, &d, s->o.profile_flags, call, out);
}

/* The first program that is more than any device can be taken to do (NULL: one of any size) asks for the record of this
 * one; a device that no table knows and that has none is searched, once for all sessions to come. */
static pctl_status learn_limits(pctl_session *s, const pctl_extents *x, const pctl_call *call)
{
	const pctl_profiled_device d = profiled(s);
	const uint32_t flags = s->limits_known ? PCTL_PROFILES_KEPT : 0;
	pctl_limits_record *found;
	pctl_status status;

	if (s->limits_learned || s->o.profiles == NULL ||
	    s->o.device_kind == PCTL_DEVICE_REFERENCE ||
	    (x != NULL && pctl_extents_over(x, &pctl_limits_floor) == PCTL_N_EXTENTS))
		return PCTL_OK;
	found = malloc(sizeof(*found));
	if (found == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for limits");
	status = pctl_profiles_limits(s->o.profiles, &d, flags, call, found);
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
	const pctl_status status = pctl_program_extents(unit->program, call, &x);

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
			      "another device may run it, in the end the reference",
			      "%s: kernel %s needs %" PRIu64 " %s (%s), the device is right up to "
			      "%" PRIu64 "%s",
			      s->name, unit->name, x->need[over], pctl_extent_unit(over),
			      pctl_extent_doc(over), s->limits.most[over],
			      s->limits_slow >> over & 1
				      ? " and was too slow to be asked for more (`pipectl device "
					"probe --fresh` asks again)"
				      : "");
}

/* Legalised for this device, and measured as the driver will see it, whatever flattening says it did. Its size may be
 * what has the device's limits asked for: then it is legalised for these. */
static pctl_status legal_for(pctl_session *s, const pctl_kernel_module *unit, const pctl_call *call,
			     pctl_program **out)
{
	pctl_legal_options options;
	pctl_extents x;
	pctl_status status = options_for(s, unit->program, call, &options);

	while (status == PCTL_OK) {
		const uint64_t nesting = s->limits.most[PCTL_EXTENT_NESTING];

		options.nesting = nesting > UINT32_MAX ? UINT32_MAX : (uint32_t)nesting;
		status = pctl_legalise(unit->program, &s->caps, &options, call, out);
		if (status == PCTL_OK)
			status = pctl_program_extents(*out, call, &x);
		if (status == PCTL_OK)
			status = learn_limits(s, &x, call);
		if (status != PCTL_OK || nesting == s->limits.most[PCTL_EXTENT_NESTING])
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
			return pctl_refuse(call, PC2_NOMEM, "no memory for a kernel");
		memcpy(*wire, unit->wire, unit->wire_bytes);
		*n = unit->wire_bytes;
		return PCTL_OK;
	}
	status = legal_for(s, unit, call, &legal);
	if (status == PCTL_OK)
		status = pctl_program_encode(legal, call, wire, n);
	pctl_program_destroy(legal);
	return status;
}
