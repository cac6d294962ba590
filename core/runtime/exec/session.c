/* Sessions: opening, building kernels, the cache of compiled kernels on disk. */
#include "runtime/exec/session_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/base/map.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "compiler/legalize/legal.h"
#include "runtime/device/limits.h"

#define LARGEST_CACHE (64u << 20)

static pctl_status read_identity(pctl_session *s, const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = s->o.table->device_identity(s->dev, call, PCTL_SESSION_IDENTITY,
							 s->identity, &s->n_identity);

	if (status != PCTL_OK)
		return status;
	if (s->n_identity > PCTL_SESSION_IDENTITY)
		s->n_identity = PCTL_SESSION_IDENTITY;
	for (uint32_t i = 0; i < s->n_identity; i++)
		pctl_str_addf(&text, "%.63s=%.255s\n", s->identity[i].key, s->identity[i].value);
	if (s->o.backend != NULL && s->o.device_kind != PCTL_DEVICE_REFERENCE)
		status = pctl_backend_instance_files(s->o.backend, call, s->files, s->drivers,
						     &s->libraries);
	if (status == PCTL_OK)
		status = pctl_session_know_driver(s, call);
	memcpy(s->files_now, s->files, sizeof(s->files));
	memcpy(s->drivers_now, s->drivers, sizeof(s->drivers));
	pctl_str_addf(&text, "files=%s\n", s->files);
	if (status == PCTL_OK && text.failed)
		status = pctl_no_memory(call, "a session");
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
		return pctl_no_memory(call, "a session");
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
		status = pctl_no_memory(call, "a session");
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
		s->limits_known = pctl_limits_known(s->identity, s->n_identity,
						    pctl_session_roles(s), &s->limits);
out:
	if (status != PCTL_OK) {
		pctl_session_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

void pctl_session_drop_built(pctl_session *s, struct pctl_session_built *built)
{
	if (built == NULL)
		return;
	if (built->kernel != NULL)
		s->o.table->kernel_destroy(s->dev, built->kernel);
	free(built->wire);
	free(built);
}

void pctl_session_close(pctl_session *s)
{
	if (s == NULL)
		return;
	pctl_session_end_ahead(s);
	for (uint32_t i = 0; s->kernels != NULL && i < pctl_map_count(s->kernels); i++) {
		struct pctl_session_built *built = pctl_map_value_at(s->kernels, i);

		pctl_session_drop_built(s, built->contract);
		pctl_session_drop_built(s, built);
	}
	pctl_session_drop_contracts(s);
	pctl_session_drop_constants(s);
	if (s->dev != NULL)
		s->o.table->device_close(s->dev);
	pctl_map_destroy(s->kernels);
	free(s->profile);
	free(s->optional);
	pctl_str_drop(&s->libraries);
	pctl_str_drop(&s->late);
	free(s->driver);
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

uint32_t pctl_session_plan_workgroup(const pctl_session *s)
{
	const uint64_t most = s->limits.most[PCTL_EXTENT_WORKGROUP];

	return most == 0 || most > s->caps.max_workgroup_bytes ? s->caps.max_workgroup_bytes
							       : (uint32_t)most;
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

uint32_t pctl_session_roles(const pctl_session *s)
{
	const pctl_plugin_info *p = pctl_session_plugin(s);

	return p == NULL ? 0 : p->roles;
}

int pctl_session_is_lost(const pctl_session *s)
{
	return s->o.backend != NULL && pctl_backend_instance_lost(s->o.backend) != NULL;
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

/* Everything that a compiled kernel depends on is in the name. */
char *pctl_session_cache_path(const pctl_session *s, const struct pctl_session_built *built,
			      const pctl_call *call)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];
	pctl_str_buf path = PCTL_STR_BUF_INIT;
	pctl_cid wire;

	if (s->cache_dir == NULL || s->o.table->kernel_cache == NULL ||
	    pctl_cid_of(built->wire, built->n_wire, call, &wire) != PCTL_OK)
		return NULL;
	pctl_str_addf(&path, "%s/%s-%s", s->cache_dir, pctl_cid_format(&s->identity_cid, a),
		      pctl_cid_format(&wire, b));
	return pctl_str_finish(&path);
}

/* A cache that cannot be written only costs time. Of a driver that keeps its kernels itself an empty file says that it has this one. */
void pctl_session_keep_compiled(const pctl_session *s, const pctl_backend *table, pctl_device *dev,
				pctl_kernel *k, const char *path, const char *cached,
				uint64_t n_cached)
{
	uint64_t n = 0;
	void *blob;

	if (path == NULL || table->kernel_cache(dev, NULL, k, 0, NULL, &n) != PCTL_OK ||
	    n > LARGEST_CACHE || (n == 0 && pctl_file_exists(path)))
		return;
	blob = malloc(n + 1);
	if (blob != NULL && (n == 0 || table->kernel_cache(dev, NULL, k, n, blob, &n) == PCTL_OK) &&
	    (n == 0 || n != n_cached || memcmp(blob, cached, n) != 0) &&
	    pctl_file_make_dirs(s->cache_dir, NULL) == PCTL_OK)
		(void)pctl_file_write(path, blob, n, 0, NULL);
	free(blob);
}

pctl_status pctl_session_entry(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call, struct pctl_session_built **out)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	struct pctl_session_built *built;
	pctl_status status;

	*out = pctl_map_get(s->kernels, unit->build_key);
	if (*out != NULL) {
		(*out)->used = ++s->n_asked;
		return PCTL_OK;
	}
	built = calloc(1, sizeof(*built));
	if (built == NULL)
		return pctl_no_memory(call, "a kernel");
	built->used = ++s->n_asked;
	status = pctl_session_wire(s, unit, call, &built->wire, &built->n_wire);
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
	if (status == PCTL_OK && !pctl_map_put(s->kernels, unit->build_key, built))
		status = pctl_no_memory(call, "a kernel");
	if (status != PCTL_OK) {
		free(built->wire);
		free(built);
		return status;
	}
	*out = built;
	return PCTL_OK;
}

pctl_status pctl_session_build_entry(pctl_session *s, struct pctl_session_built *built,
				     const pctl_call *call, pctl_kernel **out)
{
	char *path, *cached = NULL;
	uint64_t n_cached = 0, elsewhere_ns, began;
	pctl_status status;

	*out = built->kernel;
	if (*out != NULL)
		return PCTL_OK;
	elsewhere_ns = pctl_session_claim(s, built, call);
	path = pctl_session_cache_path(s, built, call);
	began = pctl_clock_ns();
	if (path != NULL && pctl_file_exists(path))
		(void)pctl_file_read(path, LARGEST_CACHE, NULL, &cached, &n_cached);
	status = s->o.table->kernel_build(s->dev, call, built->wire, built->n_wire,
					  s->o.build_flags, cached, n_cached, &built->kernel);
	if (status == PCTL_OK)
		pctl_session_keep_compiled(s, s->o.table, s->dev, built->kernel, path, cached,
					   n_cached);
	else
		built->kernel = NULL;
	pctl_session_judge_ahead(s, elsewhere_ns, pctl_clock_ns() - began);
	*out = built->kernel;
	free(cached);
	free(path);
	return status;
}

pctl_status pctl_session_kernel(pctl_session *s, const pctl_kernel_module *unit,
				const pctl_call *call, pctl_kernel **out)
{
	struct pctl_session_built *built;
	const pctl_status status = pctl_session_entry(s, unit, call, &built);

	*out = NULL;
	return status == PCTL_OK ? pctl_session_build_entry(s, built, call, out) : status;
}

pctl_status pctl_session_build(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call)
{
	pctl_call named = *call;
	pctl_status status = PCTL_OK;
	pctl_kernel *kernel;

	named.trace_id = pctl_trace(plan->name, 0, 0);
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_steps; i++) {
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_kernel(s, plan->steps[i].unit, &named, &kernel);
		if (status == PCTL_OK && plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_contract_kernel(s, plan->steps[i].unit, &named,
							      &kernel);
	}
	return status;
}

int pctl_session_has_built(const pctl_session *s, const pctl_job_plan *plan)
{
	const struct pctl_session_built *b;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL &&
		    ((b = pctl_map_get(s->kernels, plan->steps[i].unit->build_key)) == NULL ||
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
	uint64_t shared = step->unit->analysis->workgroup_bytes;

	if (s->o.device_kind != PCTL_DEVICE_REFERENCE)
		shared = pctl_num_align(shared, 4) +
			 pctl_legal_workgroup_bytes(
				 p,
				 s->optional == NULL ? 0 : pctl_optional_tiles_exact(s->optional));
	if (invocations > s->caps.max_invocations || size[0] > s->caps.max_local[0] ||
	    size[1] > s->caps.max_local[1] || size[2] > s->caps.max_local[2])
		return pctl_refuse(call, PC5202_LIMIT,
				   "%s: kernel %s wants %" PRIu32 "x%" PRIu32 "x%" PRIu32
				   " invocations in a workgroup, the device allows %" PRIu32,
				   s->name, step->unit->name, size[0], size[1], size[2],
				   s->caps.max_invocations);
	if (shared > s->caps.max_workgroup_bytes)
		return pctl_refuse(call, PC5202_LIMIT,
				   "%s: kernel %s wants %" PRIu64
				   " bytes of workgroup memory, the device has %" PRIu32,
				   s->name, step->unit->name, shared, s->caps.max_workgroup_bytes);
	if (step->n_bindings > s->caps.max_bindings)
		return pctl_refuse(
			call, PC5202_LIMIT,
			"%s: kernel %s binds %" PRIu32 " variables, the device allows %" PRIu32,
			s->name, step->unit->name, step->n_bindings, s->caps.max_bindings);
	for (uint32_t i = 0; i < 3; i++) {
		if (step->groups[i] > s->caps.max_groups[i])
			return pctl_refuse(call, PC5202_LIMIT,
					   "%s: kernel %s wants %" PRIu32
					   " workgroups along %c, the device allows %" PRIu64,
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

int pctl_session_pools(const pctl_session *s, const pctl_job_plan *plan)
{
	return plan->pool_bytes != 0 &&
	       (s->caps.binding_alignment == 0 ||
		PCTL_PLAN_ALIGN % s->caps.binding_alignment == 0) &&
	       (s->caps.max_buffer_bytes == 0 || plan->pool_bytes <= s->caps.max_buffer_bytes);
}

/* How much workgroup memory a program takes hangs on which of its matrix tiles are the device's own. */
static pctl_status learn_its_tiles(pctl_session *s, const pctl_program *p, const pctl_call *call)
{
	return (p->caps & PCTL_CAP_TILES) && s->o.device_kind != PCTL_DEVICE_REFERENCE
		       ? pctl_session_learn_tiles(s, pctl_legal_tile_products(p), call)
		       : PCTL_OK;
}

pctl_status pctl_session_qualify(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call)
{
	const uint64_t n_bytes =
		pctl_session_pools(s, plan) ? pctl_job_plan_peak(plan) : plan->buffer_bytes;
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		struct pctl_session_built *built;
		pctl_status status;

		if (plan->steps[i].kind != PCTL_STEP_KERNEL)
			continue;
		status = learn_its_tiles(s, plan->steps[i].unit->program, call);
		if (status == PCTL_OK)
			status = qualify_kernel(s, plan, &plan->steps[i], call);
		if (status == PCTL_OK)
			status = pctl_session_entry(s, plan->steps[i].unit, call, &built);
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
	if (s->caps.memory_bytes != 0 && n_bytes > s->caps.memory_bytes) {
		pctl_status status =
			pctl_refuse(call, PC5204_MEMORY,
				    "%s: job \"%s\" needs %" PRIu64
				    " bytes of device memory, there are %" PRIu64,
				    s->name, plan->name, n_bytes, s->caps.memory_bytes);

		if (first == PCTL_OK)
			first = status;
	}
	return first;
}
