/* Sessions: opening, building kernels through the legaliser, the cache of compiled kernels on disk.
 */
#include "exec/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/num.h"
#include "base/str.h"
#include "legal/legal.h"
#include "policy/limits.h"

#define MOST_IDENTITY 32u
#define LARGEST_CACHE (64u << 20)

/* A unit on this device; the kernel is NULL until somebody runs it. */
struct built {
	uint8_t *wire;
	uint64_t n_wire;
	pctl_kernel *kernel;
};

struct pctl_session {
	pctl_session_options o;
	char *name, *id, *cache_dir;
	pctl_device *dev;
	pctl_device_caps caps;
	pctl_key_value identity[MOST_IDENTITY];
	uint32_t n_identity;
	char files[PCTL_SESSION_FILES_TEXT]; /* what it runs on, see plugin/session.h */
	pctl_cid
		identity_cid; /* of identity facts and files: part of the key of compiled kernels */
	pctl_profile_record *profile; /* NULL: not asked for yet */
	pctl_map *kernels;	      /* text of a unit's CID to struct built */
	pctl_extent_limits limits;    /* what programs may need here; never of the reference */
	uint32_t limits_slow; /* bit e: extent e ends where the device was too slow to be asked */
	int limits_known;     /* 1: by the table, so that nothing needs to be searched for */
	int limits_learned;   /* 1: what is kept of this device is among them */
};

static pctl_status read_identity(pctl_session *s, const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = s->o.table->device_identity(s->dev, call, MOST_IDENTITY, s->identity,
							 &s->n_identity);

	if (status != PCTL_OK)
		return status;
	if (s->n_identity > MOST_IDENTITY)
		s->n_identity = MOST_IDENTITY;
	for (uint32_t i = 0; i < s->n_identity; i++)
		pctl_str_addf(&text, "%.63s=%.255s\n", s->identity[i].key, s->identity[i].value);
	if (s->o.backend != NULL && s->o.device_kind != PCTL_DEVICE_REFERENCE)
		status = pctl_backend_session_files(s->o.backend, call, s->files);
	pctl_str_addf(&text, "files=%s\n", s->files);
	if (status == PCTL_OK && text.failed)
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a session");
	if (status == PCTL_OK)
		status = pctl_cid_of(text.data == NULL ? "" : text.data, text.n, call,
				     &s->identity_cid);
	pctl_str_drop(&text);
	return status;
}

pctl_status pctl_session_open(const pctl_session_options *o, const pctl_call *call,
			      pctl_session **out)
{
	pctl_session *s = calloc(1, sizeof(*s));
	pctl_status status;

	*out = NULL;
	if (s == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a session");
	s->o = *o;
	if (o->backend != NULL && o->table == NULL)
		s->o.table = o->backend->table;
	if (o->backend != NULL && o->inst == NULL)
		s->o.inst = o->backend->inst;
	s->name = strdup(o->name);
	s->id = strdup(o->id);
	s->cache_dir = o->cache_dir == NULL ? NULL : strdup(o->cache_dir);
	s->kernels = pctl_map_create();
	if (s->name == NULL || s->id == NULL || s->kernels == NULL ||
	    (o->cache_dir != NULL && s->cache_dir == NULL)) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a session");
		goto out;
	}
	status = s->o.table->device_open(s->o.inst, call, o->index, &s->dev);
	if (status != PCTL_OK)
		goto out;
	s->caps = (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps)};
	status = s->o.table->device_caps(s->dev, call, &s->caps);
	if (status == PCTL_OK)
		status = read_identity(s, call);
	if (status == PCTL_OK && o->device_kind != PCTL_DEVICE_REFERENCE)
		s->limits_known = pctl_limits_known(s->identity, s->n_identity, &s->limits);
out:
	if (status != PCTL_OK) {
		pctl_session_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

void pctl_session_close(pctl_session *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; s->kernels != NULL && i < pctl_map_count(s->kernels); i++) {
		struct built *built = pctl_map_value_at(s->kernels, i);

		if (built->kernel != NULL)
			s->o.table->kernel_destroy(s->dev, built->kernel);
		free(built->wire);
		free(built);
	}
	if (s->dev != NULL)
		s->o.table->device_close(s->dev);
	pctl_map_destroy(s->kernels);
	free(s->profile);
	free(s->name);
	free(s->id);
	free(s->cache_dir);
	free(s);
}

const char *pctl_session_name(const pctl_session *s)
{
	return s->name;
}

const char *pctl_session_id(const pctl_session *s)
{
	return s->id;
}

const pctl_device_caps *pctl_session_caps(const pctl_session *s)
{
	return &s->caps;
}

uint32_t pctl_session_kind(const pctl_session *s)
{
	return s->o.device_kind;
}

uint32_t pctl_session_build_flags(const pctl_session *s)
{
	return s->o.build_flags;
}

uint32_t pctl_session_plan_turns(const pctl_session *s)
{
	const uint64_t most = s->limits.most[PCTL_EXTENT_TURNS];

	if (most == 0 || most / 2 > UINT32_MAX)
		return 0;
	return most < 2 ? 1 : (uint32_t)(most / 2);
}

uint32_t pctl_session_identity(const pctl_session *s, const pctl_key_value **out)
{
	*out = s->identity;
	return s->n_identity;
}

const char *pctl_session_files(const pctl_session *s)
{
	return s->files;
}

const pctl_plugin_info *pctl_session_plugin(const pctl_session *s)
{
	return s->o.backend == NULL ? NULL : s->o.backend->plugin;
}

const pctl_backend *pctl_session_table(const pctl_session *s)
{
	return s->o.table;
}

pctl_device *pctl_session_device(const pctl_session *s)
{
	return s->dev;
}

const pctl_profile_record *pctl_session_profile_known(const pctl_session *s)
{
	return s->profile;
}

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
				      .files = s->files,
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
		status = pctl_profiles_forms(s->o.profiles, call, &out->forms);
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

pctl_status pctl_session_learn(pctl_session *s, const pctl_kernel_unit *unit, const pctl_call *call)
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
static pctl_status check_extents(pctl_session *s, const pctl_kernel_unit *unit,
				 const pctl_program *legal, const pctl_call *call)
{
	pctl_extents x;
	pctl_pos pos;
	uint32_t over;
	pctl_status status = pctl_program_extents(legal, call, &x);

	if (status == PCTL_OK)
		status = learn_limits(s, &x, call);
	if (status != PCTL_OK)
		return status;
	over = pctl_extents_over(&x, &s->limits);
	if (over == PCTL_N_EXTENTS)
		return PCTL_OK;
	pos = pctl_extents_position(legal, &x, over);
	return pctl_refuse_at(call, PC5218_DEVICE_CANNOT, pos.file == NULL ? NULL : &pos,
			      "another device may run it, in the end the reference (--backend cpu)",
			      "%s: kernel %s needs %" PRIu64 " %s (%s), the device is right up to "
			      "%" PRIu64 "%s",
			      s->name, unit->name, x.need[over], pctl_extent_unit(over),
			      pctl_extent_doc(over), s->limits.most[over],
			      s->limits_slow >> over & 1
				      ? " and was too slow to be asked for more (`pipectl device "
					"probe --fresh` asks again)"
				      : "");
}

/* The wire form for this device: the reference gets the program as written, all others the legalised one. */
static pctl_status wire_for(pctl_session *s, const pctl_kernel_unit *unit, const pctl_call *call,
			    uint8_t **wire, uint64_t *n)
{
	pctl_legal_options options;
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
	status = options_for(s, unit->program, call, &options);
	if (status == PCTL_OK)
		status = pctl_legalise(unit->program, &s->caps, &options, call, &legal);
	if (status == PCTL_OK)
		status = check_extents(s, unit, legal, call);
	if (status == PCTL_OK)
		status = pctl_program_encode(legal, call, wire, n);
	pctl_program_destroy(legal);
	return status;
}

/* Path of a compiled kernel: everything it depends on is in the name. NULL: no cache, or no memory. */
static char *cache_path(const pctl_session *s, const pctl_cid *wire)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];
	pctl_str_buf path = PCTL_STR_BUF_INIT;

	if (s->cache_dir == NULL || s->o.table->kernel_cache == NULL)
		return NULL;
	pctl_str_addf(&path, "%s/%s-%s", s->cache_dir, pctl_cid_format(&s->identity_cid, a),
		      pctl_cid_format(wire, b));
	return pctl_str_finish(&path);
}

/* Keep what the driver compiled, unless the disk has these very bytes. */
static void keep_compiled(pctl_session *s, pctl_kernel *k, const char *path, const char *cached,
			  uint64_t n_cached)
{
	uint64_t n = 0;
	void *blob;

	if (path == NULL || s->o.table->kernel_cache(s->dev, NULL, k, 0, NULL, &n) != PCTL_OK ||
	    n == 0 || n > LARGEST_CACHE)
		return;
	blob = malloc(n);
	/* A cache that cannot be written only costs time. */
	if (blob != NULL && s->o.table->kernel_cache(s->dev, NULL, k, n, blob, &n) == PCTL_OK &&
	    (n != n_cached || memcmp(blob, cached, n) != 0) &&
	    pctl_file_make_dirs(s->cache_dir, NULL) == PCTL_OK)
		(void)pctl_file_write(path, blob, n, 0, NULL);
	free(blob);
}

/* The entry of a unit: its wire form for this device, which the backend has said it can run. */
static pctl_status entry_of(pctl_session *s, const pctl_kernel_unit *unit, const pctl_call *call,
			    struct built **out)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	char key[PCTL_CID_TEXT_SIZE];
	struct built *built;
	pctl_status status;

	*out = pctl_map_get(s->kernels, pctl_cid_format(&unit->cid, key));
	if (*out != NULL)
		return PCTL_OK;
	built = calloc(1, sizeof(*built));
	if (built == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a kernel");
	status = wire_for(s, unit, call, &built->wire, &built->n_wire);
	if (status == PCTL_E_UNSUPPORTED)
		(void)pctl_refuse(call, PC5201_UNSUPPORTED,
				  "%s cannot run kernel %s with the same bytes as others: the "
				  "reason stands above",
				  s->name, unit->name);
	if (status == PCTL_OK)
		status = s->o.table->supports(s->dev, call, built->wire, built->n_wire, &support);
	if (status == PCTL_OK && !support.supported) {
		support.reason[sizeof(support.reason) - 1] = '\0';
		status = pctl_refuse(call, PC5201_UNSUPPORTED, "%s cannot run kernel %s: %s",
				     s->name, unit->name,
				     support.reason[0] == '\0' ? "the backend gives no reason"
							       : support.reason);
	}
	if (status == PCTL_OK && !pctl_map_put(s->kernels, key, built))
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a kernel");
	if (status != PCTL_OK) {
		free(built->wire);
		free(built);
		return status;
	}
	*out = built;
	return PCTL_OK;
}

pctl_status pctl_session_kernel(pctl_session *s, const pctl_kernel_unit *unit,
				const pctl_call *call, pctl_kernel **out)
{
	char *path = NULL, *cached = NULL;
	uint64_t n_cached = 0;
	struct built *built;
	pctl_status status = entry_of(s, unit, call, &built);
	pctl_cid cid;

	*out = status == PCTL_OK ? built->kernel : NULL;
	if (status != PCTL_OK || *out != NULL)
		return status;
	status = pctl_cid_of(built->wire, built->n_wire, call, &cid);
	if (status != PCTL_OK)
		return status;
	path = cache_path(s, &cid);
	if (path != NULL && pctl_file_exists(path))
		(void)pctl_file_read(path, LARGEST_CACHE, NULL, &cached, &n_cached);
	status = s->o.table->kernel_build(s->dev, call, built->wire, built->n_wire,
					  s->o.build_flags, cached, n_cached, &built->kernel);
	if (status == PCTL_OK)
		keep_compiled(s, built->kernel, path, cached, n_cached);
	else
		built->kernel = NULL;
	*out = built->kernel;
	free(cached);
	free(path);
	return status;
}

pctl_status pctl_session_build(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call)
{
	pctl_call named = *call;
	pctl_status status = PCTL_OK;
	pctl_kernel *kernel;

	named.trace_id = pctl_trace(plan->name, 0, 0);
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_steps; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_kernel(s, plan->steps[i].unit, &named, &kernel);
	return status;
}

int pctl_session_has_built(const pctl_session *s, const pctl_job_plan *plan)
{
	const struct built *b;
	char key[PCTL_CID_TEXT_SIZE];

	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL &&
		    ((b = pctl_map_get(s->kernels,
				       pctl_cid_format(&plan->steps[i].unit->cid, key))) == NULL ||
		     b->kernel == NULL))
			return 0;
	return 1;
}

static pctl_status qualify_kernel(const pctl_session *s, const pctl_job_plan *plan,
				  const pctl_step *step, const pctl_call *call)
{
	const pctl_program *p = step->unit->program;
	const uint32_t *size = p->entries[0].workgroup_size;
	uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];

	if (invocations > s->caps.max_invocations || size[0] > s->caps.max_local[0] ||
	    size[1] > s->caps.max_local[1] || size[2] > s->caps.max_local[2])
		return pctl_refuse(call, PC5202_LIMIT,
				   "%s: kernel %s wants %" PRIu32 "x%" PRIu32 "x%" PRIu32
				   " invocations in a workgroup, it has %" PRIu32,
				   s->name, step->unit->name, size[0], size[1], size[2],
				   s->caps.max_invocations);
	if (step->unit->analysis->workgroup_bytes > s->caps.max_workgroup_bytes)
		return pctl_refuse(call, PC5202_LIMIT,
				   "%s: kernel %s wants %" PRIu64
				   " bytes of workgroup memory, it has %" PRIu32,
				   s->name, step->unit->name, step->unit->analysis->workgroup_bytes,
				   s->caps.max_workgroup_bytes);
	if (step->n_bindings > s->caps.max_bindings)
		return pctl_refuse(
			call, PC5202_LIMIT,
			"%s: kernel %s binds %" PRIu32 " variables, the device allows %" PRIu32,
			s->name, step->unit->name, step->n_bindings, s->caps.max_bindings);
	for (uint32_t i = 0; i < 3; i++) {
		if (step->groups[i] > s->caps.max_groups[i])
			return pctl_refuse(call, PC5202_LIMIT,
					   "%s: kernel %s wants %" PRIu32
					   " workgroups along %c, it has %" PRIu64,
					   s->name, step->unit->name, step->groups[i], "xyz"[i],
					   s -> caps.max_groups[i]);
	}
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		if (b->n_bytes > s->caps.max_binding_bytes)
			return pctl_refuse(call, PC5203_BINDING_SIZE,
					   "%s: job \"%s\" binds %" PRIu64
					   " bytes to group %" PRIu32 " binding %" PRIu32
					   " of kernel %s, the device allows %" PRIu64,
					   s->name, plan->name, b->n_bytes, b->group, b->binding,
					   step->unit->name, s->caps.max_binding_bytes);
		if (s->caps.binding_alignment > 1 && b->offset % s->caps.binding_alignment != 0)
			return pctl_refuse(call, PC5202_LIMIT,
					   "%s: kernel %s binds at offset %" PRIu64
					   ", the device wants multiples of %" PRIu64,
					   s->name, step->unit->name, b->offset,
					   s->caps.binding_alignment);
	}
	return PCTL_OK;
}

pctl_status pctl_session_qualify(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call)
{
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		struct built *built;
		pctl_status status;

		if (plan->steps[i].kind != PCTL_STEP_KERNEL)
			continue;
		status = qualify_kernel(s, plan, &plan->steps[i], call);
		if (status == PCTL_OK)
			status = entry_of(s, plan->steps[i].unit, call, &built);
		if (first == PCTL_OK)
			first = status;
	}
	for (uint32_t i = 0; i < plan->n_buffers; i++) {
		pctl_status status = PCTL_OK;

		if (s->caps.max_buffer_bytes != 0 &&
		    plan->buffers[i].n_bytes > s->caps.max_buffer_bytes)
			status = pctl_refuse(call, PC5203_BINDING_SIZE,
					     "%s: job \"%s\" needs a buffer of %" PRIu64
					     " bytes, the device allows %" PRIu64,
					     s->name, plan->name, plan->buffers[i].n_bytes,
					     s->caps.max_buffer_bytes);
		if (first == PCTL_OK)
			first = status;
	}
	if (s->caps.memory_bytes != 0 && plan->buffer_bytes > s->caps.memory_bytes) {
		pctl_status status =
			pctl_refuse(call, PC5204_MEMORY,
				    "%s: job \"%s\" needs %" PRIu64
				    " bytes of device memory, there are %" PRIu64,
				    s->name, plan->name, plan->buffer_bytes, s->caps.memory_bytes);

		if (first == PCTL_OK)
			first = status;
	}
	return first;
}
