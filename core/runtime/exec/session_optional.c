/* What a device does itself of the operations that it need not have: the record of optional.h, asked for what is missing. */
#include "runtime/exec/session_private.h"

#include <stdlib.h>

#include "compiler/legalize/legal.h"
#include "foundation/diag/diag.h"
#include "runtime/device/probe.h"

/* What is asked at once: products of packed bytes, kinds of subgroup operations of one size, or products of matrix tiles. */
typedef struct question {
	const char *what; /* for people */
	uint32_t first;	  /* PCTL_OPTIONAL_*: the verdict of the lowest bit of kinds */
	uint32_t size, kinds;
} question;

static pctl_status learn(pctl_session *s, const pctl_call *call)
{
	const pctl_profiled_device d = pctl_session_profiled(s);
	pctl_optional_record *made;
	pctl_status status = PCTL_OK;

	if (s->optional != NULL)
		return PCTL_OK;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return pctl_no_memory(call, "what a device has of its own");
	if (s->o.profiles != NULL)
		status = pctl_profiles_optional(s->o.profiles, &d, s->o.profile_flags, call, made);
	if (status != PCTL_OK) {
		free(made);
		return status;
	}
	s->optional = made;
	return PCTL_OK;
}

/* exact: of the question's kinds; of packed products 1. */
static pctl_status probe(const pctl_session *s, const question *q, const pctl_backend *table,
			 pctl_device *dev, const pctl_call *call, uint32_t *exact)
{
	int right = 0;
	pctl_status status;

	*exact = 0;
	if (q->first >= PCTL_OPTIONAL_TILES)
		return pctl_probe_tiles(table, dev, &s->caps, q->kinds, call, exact);
	if (q->first != PCTL_OPTIONAL_DOT4)
		return pctl_probe_subgroups(table, dev, &s->caps, q->size, q->kinds, call, exact);
	status = pctl_probe_dot4(table, dev, &s->caps, call, &right);
	*exact = (uint32_t)right;
	return status;
}

static void note(pctl_optional_record *r, const question *q, uint32_t exact, int lost)
{
	for (uint32_t k = 0; q->kinds >> k; k++)
		if (q->kinds >> k & 1)
			r->verdict[q->first + k] = exact >> k & 1 ? PCTL_OPTIONAL_EXACT
						   : lost	  ? PCTL_OPTIONAL_LOST
								  : PCTL_OPTIONAL_WRONG;
}

/* Ask the device, and keep what it showed. What ends the probe but want of memory and the user's word is the device's doing, and
 * an answer: what was shown until then stands, the rest is not proven. */
static pctl_status ask(pctl_session *s, const question *q, const pctl_call *call)
{
	pctl_backend_instance *aside = NULL;
	const pctl_backend *table;
	pctl_call quiet = *call;
	uint32_t exact = 0;
	pctl_device *dev;
	pctl_status status;
	int is_open;

	quiet.diag = NULL;
	status = pctl_session_aside(s, &quiet, &aside, &table, &dev);
	is_open = status == PCTL_OK;
	if (is_open) {
		status = probe(s, q, table, dev, &quiet, &exact);
		pctl_session_aside_close(aside, dev, &quiet);
	}
	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "a probe");
	if (status == PCTL_E_CANCELLED || pctl_is_cancelled(call))
		return PCTL_E_CANCELLED;
	/* Without a process of its own the device is lost for the job, too. */
	if (status != PCTL_OK && is_open && aside == NULL)
		return pctl_refuse(call, PC4331_PROBE, "%s: the device was lost at its own %s",
				   s->name, q->what);
	if (status != PCTL_OK)
		pctl_warn_at(
			call, PC4331_PROBE, NULL,
			is_open ? "they are made of ordinary operations; the device is not asked "
				  "again before `pipectl device probe --fresh`"
				: "they are made of ordinary operations",
			is_open ? "%s: the device hung, died or failed at its own %s"
				: "%s: the device could not be opened once more to ask it for its "
				  "own %s",
			s->name, q->what);
	note(s->optional, q, exact, status != PCTL_OK);
	/* One that could not be opened twice may be another time. */
	return s->o.profiles == NULL || !is_open
		       ? PCTL_OK
		       : pctl_profiles_keep_optional(s->o.profiles, s->optional, call);
}

/* Of a device with products of packed bytes of its own. */
static pctl_status ask_dot4(pctl_session *s, const pctl_call *call, uint32_t *keeps)
{
	static const question packed = {"products of packed bytes", PCTL_OPTIONAL_DOT4, 0, 1};
	pctl_status status = learn(s, call);

	if (status == PCTL_OK && s->optional->verdict[PCTL_OPTIONAL_DOT4] == PCTL_OPTIONAL_UNASKED)
		status = ask(s, &packed, call);
	*keeps = status == PCTL_OK &&
		 s->optional->verdict[PCTL_OPTIONAL_DOT4] == PCTL_OPTIONAL_EXACT;
	return status;
}

/* Of a device that claims subgroup operations: those of the size and kinds that nobody asked for. One that was lost at some is
 * asked for no others. */
static pctl_status ask_subgroups(pctl_session *s, uint32_t size, uint32_t kinds,
				 const pctl_call *call, pctl_legal_options *out)
{
	question q = {"subgroup operations", pctl_optional_of_size(size), size, 0};
	pctl_status status = learn(s, call);

	if (status != PCTL_OK)
		return status;
	q.kinds = kinds & ~pctl_optional_asked(s->optional, size);
	if (q.kinds != 0 && !pctl_optional_lost(s->optional))
		status = ask(s, &q, call);
	/* What is wrong goes by shuffles, where these are right. */
	q.kinds = PCTL_SUBGROUP_MOVE & ~pctl_optional_asked(s->optional, size);
	if (status == PCTL_OK && q.kinds != 0 && !pctl_optional_lost(s->optional) &&
	    (kinds & ~pctl_optional_exact(s->optional, size)))
		status = ask(s, &q, call);
	out->subgroup_size = size;
	out->subgroup_kinds = pctl_optional_exact(s->optional, size);
	return status;
}

/* Of a device that claims matrix tiles: products that nobody asked for. Their moves vote, and ask lane 0. */
static pctl_status ask_tiles(pctl_session *s, uint32_t products, uint32_t kinds,
			     const pctl_call *call, pctl_legal_options *out)
{
	const uint32_t needed = PCTL_SUBGROUP_VOTE | PCTL_SUBGROUP_MOVE;
	question q = {"matrix tiles", PCTL_OPTIONAL_TILES, PCTL_TILE_LANES, 0};
	pctl_status status = ask_subgroups(s, PCTL_TILE_LANES, kinds | needed, call, out);

	if (status != PCTL_OK)
		return status;
	q.kinds = products & ~pctl_optional_tiles_asked(s->optional);
	if (q.kinds != 0 && (out->subgroup_kinds & needed) == needed &&
	    !pctl_optional_lost(s->optional))
		status = ask(s, &q, call);
	out->tile_products = pctl_optional_tiles_exact(s->optional);
	return status;
}

/* Devices with subgroups of 32, or of sizes of the program's. */
static int has_tiles(const pctl_session *s)
{
	const uint64_t caps = PCTL_CAP_TILES | PCTL_CAP_SUBGROUPS;

	return (s->caps.caps & caps) == caps &&
	       (s->caps.subgroup_size == PCTL_TILE_LANES || s->caps.subgroup_size == 0);
}

pctl_status pctl_session_optional(pctl_session *s, const pctl_program *p, const pctl_call *call,
				  pctl_legal_options *out)
{
	pctl_status status = PCTL_OK;

	if ((s->caps.caps & PCTL_CAP_DOT4) && pctl_legal_has_dot4(p))
		status = ask_dot4(s, call, &out->keeps_dot4);
	if (status == PCTL_OK && pctl_legal_subgroups_fit(p, &s->caps))
		status = ask_subgroups(s, pctl_program_subgroup_size(p),
				       pctl_legal_subgroup_kinds(p), call, out);
	if (status == PCTL_OK && (p->caps & PCTL_CAP_TILES) && has_tiles(s))
		status = ask_tiles(s, pctl_legal_tile_products(p), pctl_legal_subgroup_kinds(p),
				   call, out);
	return status;
}

pctl_status pctl_session_learn_tiles(pctl_session *s, uint32_t products, const pctl_call *call)
{
	pctl_legal_options ignored;

	return has_tiles(s) ? ask_tiles(s, products, 0, call, &ignored) : PCTL_OK;
}

pctl_status pctl_session_learn_dot4(pctl_session *s, const pctl_call *call)
{
	uint32_t ignored;

	return (s->caps.caps & PCTL_CAP_DOT4) ? ask_dot4(s, call, &ignored) : PCTL_OK;
}

pctl_status pctl_session_own_operations(pctl_session *s, const pctl_call *call,
					const pctl_optional_record **out)
{
	pctl_legal_options ignored;
	pctl_status status = learn(s, call);

	*out = NULL;
	if (status == PCTL_OK && (s->caps.caps & PCTL_CAP_DOT4))
		status = ask_dot4(s, call, &ignored.keeps_dot4);
	if (status == PCTL_OK && (s->caps.caps & PCTL_CAP_SUBGROUPS) && s->caps.subgroup_size != 0)
		status = ask_subgroups(s, s->caps.subgroup_size, PCTL_SUBGROUP_KINDS, call,
				       &ignored);
	if (status == PCTL_OK && has_tiles(s) && s->caps.subgroup_size != 0)
		status = ask_tiles(s, PCTL_TILE_PRODUCTS, 0, call, &ignored);
	if (status == PCTL_OK)
		*out = s->optional;
	return status;
}
