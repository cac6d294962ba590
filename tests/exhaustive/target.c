/* Implementation of target.h. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/file.h"

#define TIMEOUT_NS 900000000000ull

double target_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint32_t target_threads(void)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > 64 ? 64 : (uint32_t)n;
}

void host_complain(host *h)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(h->diagnostics); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(h->diagnostics, i)->code,
			pctl_diag_list_at(h->diagnostics, i)->message);
	pctl_diag_list_destroy(h->diagnostics);
	h->diagnostics = pctl_diag_list_create();
	h->call = pctl_diag_list_call(h->diagnostics);
}

int host_open(host *h, const char *plugins, const char *home)
{
	pctl_registry_options registry = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1};
	pctl_profiles_options profiles = {.home = home};
	char *keys = pctl_path_join(home, "keys");
	pctl_status status;

	memset(h, 0, sizeof(*h));
	h->diagnostics = pctl_diag_list_create();
	h->call = pctl_diag_list_call(h->diagnostics);
	h->kernels = pctl_kernels_create(NULL);
	registry.dirs = &plugins;
	registry.home = home;
	registry.call_ms = 900000;
	status = pctl_registry_open(&registry, h->call, &h->registry);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&profiles, h->call, &h->profiles);
	if (status == PCTL_OK)
		status = pctl_signer_open(keys, h->call, &h->signer);
	free(keys);
	if (status != PCTL_OK)
		host_complain(h);
	return status == PCTL_OK;
}

void host_close(host *h)
{
	pctl_devices_destroy(h->list);
	pctl_kernels_destroy(h->kernels);
	pctl_profiles_close(h->profiles);
	pctl_signer_close(h->signer);
	pctl_registry_close(h->registry);
	pctl_diag_list_destroy(h->diagnostics);
}

uint32_t host_find(host *h, const char *selector, const pctl_device_entry **out)
{
	pctl_status status;
	uint32_t n = 0;

	pctl_devices_destroy(h->list);
	h->list = NULL;
	if (strcmp(selector, "all") != 0) {
		status = pctl_devices_find(h->registry, selector, 0, h->call, &h->list, out);
		n = status == PCTL_OK;
	} else {
		status = pctl_devices_list(h->registry, NULL, 0, h->call, &h->list);
		for (uint32_t i = 0;
		     status == PCTL_OK && i < pctl_devices_count(h->list) && n < TARGETS; i++) {
			const pctl_device_entry *e = pctl_devices_at(h->list, i);

			if (e->state == PCTL_DEVICE_USABLE && !(e->roles & PCTL_ROLE_INERT))
				out[n++] = e;
		}
	}
	if (n == 0)
		host_complain(h);
	return n;
}

int target_open(host *h, const pctl_device_entry *e, target *t)
{
	pctl_session_options options = {.id = e->selector,
					.index = e->in_driver,
					.device_kind = e->kind,
					.profiles = h->profiles};
	pctl_str_buf name = PCTL_STR_BUF_INIT;
	pctl_status status;

	memset(t, 0, sizeof(*t));
	t->host = h;
	t->entry = e;
	pctl_str_addf(&name, "%s %s, %s", e->selector, e->name, e->driver);
	t->name = options.name = pctl_str_finish(&name);
	status = pctl_backend_instance_open(h->registry, e->backend, e->env, 0, h->call,
					    &t->backend);
	if (status == PCTL_OK) {
		options.backend = t->backend;
		status = pctl_session_open(&options, h->call, &t->session);
	}
	if (status == PCTL_OK) {
		t->table = pctl_session_table(t->session);
		t->dev = pctl_session_device(t->session);
	} else {
		fprintf(stderr, "%s cannot be opened\n", t->name);
		host_complain(h);
	}
	return status == PCTL_OK;
}

void target_close(target *t)
{
	pctl_session_close(t->session);
	pctl_backend_instance_close(t->backend, NULL);
	free((void *)(uintptr_t)t->name);
	memset(t, 0, sizeof(*t));
}

int target_speed(const target *t)
{
	if (strstr(t->name, "clgrind") != NULL)
		return TARGET_SIMULATOR;
	if (t->entry->kind == PCTL_DEVICE_REFERENCE)
		return TARGET_REFERENCE;
	return t->entry->kind == PCTL_DEVICE_CPU ? TARGET_CPU : TARGET_GPU;
}

char *target_text(const char *enable, const char *module, const char *body, int inputs,
		  uint32_t row)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t,
		      "%sstruct P { base : u32, a : u32, b : u32, c : u32 }\n"
		      "@group(0) @binding(0) var<uniform> p : P;\n"
		      "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n%s%s"
		      "@compute @workgroup_size(256)\n"
		      "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
		      "  let i = id.y * %uu + id.x;\n%s}\n",
		      enable,
		      inputs ? "@group(0) @binding(2) var<storage, read> q : array<u32>;\n" : "",
		      module, row, body);
	return pctl_str_finish(&t);
}

pctl_status target_run_open(target *t, const char *name, const char *text, uint32_t row,
			    uint64_t n_words, uint64_t n_inputs, target_run *r)
{
	const uint32_t groups[3] = {row / 256, (uint32_t)((n_words + row - 1) / row), 1};
	const pctl_call *call = t->host->call;
	pctl_kernel_source source = {0};
	pctl_binding bindings[3] = {
		{0, 0, NULL, 0, 16}, {0, 1, NULL, 0, 0}, {0, 2, NULL, 0, n_inputs * 4}};
	const pctl_kernel_module *unit;
	pctl_status status;

	memset(r, 0, sizeof(*r));
	r->t = t;
	r->n_words = (uint64_t)groups[1] * row;
	bindings[1].n_bytes = r->n_words * 4;
	source.name = name;
	source.text = text;
	source.n_text = strlen(text);
	status = pctl_kernels_get(t->host->kernels, &source, call, &unit);
	if (status == PCTL_OK)
		status = pctl_session_kernel(t->session, unit, call, &r->kernel);
	if (status == PCTL_OK)
		status = t->table->buffer_create(
			t->dev, call, 16, PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER, &r->uniform);
	if (status == PCTL_OK)
		status = t->table->buffer_create(t->dev, call, r->n_words * 4,
						 PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
						 &r->results);
	if (status == PCTL_OK && n_inputs != 0)
		status = t->table->buffer_create(t->dev, call, n_inputs * 4,
						 PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
						 &r->inputs);
	bindings[0].buffer = r->uniform;
	bindings[1].buffer = r->results;
	bindings[2].buffer = r->inputs;
	if (status == PCTL_OK)
		status = t->table->list_begin(t->dev, call, &r->list);
	if (status == PCTL_OK)
		status = t->table->list_timestamp(r->list, call, 0);
	if (status == PCTL_OK)
		status = t->table->list_dispatch(r->list, call, r->kernel, bindings,
						 n_inputs != 0 ? 3 : 2, groups);
	if (status == PCTL_OK)
		status = t->table->list_timestamp(r->list, call, 1);
	return status == PCTL_OK ? t->table->list_end(r->list, call) : status;
}

pctl_status target_run_inputs(target_run *r, const uint32_t *words, uint64_t n)
{
	return r->t->table->buffer_write(r->t->dev, r->t->host->call, r->inputs, 0, words, n * 4);
}

pctl_status target_run_go(target_run *r, const uint32_t uniform[4], uint32_t *words, uint64_t n)
{
	const pctl_backend *table = r->t->table;
	const pctl_call *call = r->t->host->call;
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket = 0;
	pctl_status status = table->buffer_write(r->t->dev, call, r->uniform, 0, uniform, 16);
	double begun = target_seconds();

	if (status == PCTL_OK)
		status = table->submit(r->t->dev, call, r->list, 1, &ticket);
	if (status == PCTL_OK)
		status = table->wait(r->t->dev, call, ticket, TIMEOUT_NS, &done);
	r->device_s += done.n_timestamps > 1
			       ? (double)(done.timestamps[1] - done.timestamps[0]) * 1e-9
			       : target_seconds() - begun;
	r->n_runs++;
	return status == PCTL_OK ? table->buffer_read(r->t->dev, call, r->results, 0, words, n * 4)
				 : status;
}

void target_run_close(target_run *r)
{
	if (r->list != NULL)
		r->t->table->list_destroy(r->t->dev, r->list);
	if (r->uniform != NULL)
		r->t->table->buffer_destroy(r->t->dev, r->uniform);
	if (r->results != NULL)
		r->t->table->buffer_destroy(r->t->dev, r->results);
	if (r->inputs != NULL)
		r->t->table->buffer_destroy(r->t->dev, r->inputs);
	memset(r, 0, sizeof(*r));
}

pctl_status target_record_begin(target *t, const char *name, pctl_str_buf *out)
{
	const pctl_profile_record *profile;
	char key[PCTL_CID_TEXT_SIZE];
	pctl_status status = pctl_session_profile(t->session, t->host->call, &profile);

	if (status != PCTL_OK)
		return status;
	pctl_str_addf(out, "%s : {\n  device = \"%s\";\n  driver = \"%s\";\n  profile = \"%s\";\n",
		      name, profile == NULL ? t->entry->selector : profile->device,
		      profile == NULL ? "" : profile->driver,
		      profile == NULL ? "" : pctl_cid_format(&profile->key, key));
	return PCTL_OK;
}

pctl_status target_record_write(target *t, pctl_str_buf *record, const char *dir, const char *file)
{
	const pctl_call *call = t->host->call;
	char *path = pctl_path_join(dir, file);
	pctl_status status = pctl_signer_seal(t->host->signer, record, call);

	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, record->data, record->n, 0, call);
	free(path);
	pctl_str_drop(record);
	return status;
}
