/* See device_pair.h. */
#include "device_pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/exec/session.h"

#define KEPT (sizeof(((device_pair *)0)->kept) / sizeof(((device_pair *)0)->kept[0]))

const pctl_call *device_pair_call(device_pair *b)
{
	return pctl_diag_list_call(b->diagnostics);
}

static pctl_status open_on(device_pair *b, const pctl_device_entry *e, uint32_t flags, int wrapped,
			   const pctl_call *call, pctl_session **out)
{
	pctl_session_options options = {.index = e->in_driver,
					.device_kind = e->kind,
					.id = e->selector,
					.name = e->name,
					.build_flags = flags};
	size_t k = 0;
	pctl_status status;

	*out = NULL;
	while (k < KEPT && b->kept[k].backend != NULL)
		k++;
	if (k == KEPT)
		return PCTL_E_LIMIT;
	status = pctl_backend_instance_open(b->context.registry, e->backend, e->env, 0, call,
					    &b->kept[k].backend);
	if (status != PCTL_OK)
		return status;
	options.backend = b->kept[k].backend;
	if (wrapped && b->wrap != NULL)
		options.table = b->wrap(options.backend->table, b->opened);
	b->opened += (uint32_t)wrapped;
	status = pctl_session_open(&options, call, &b->kept[k].session);
	*out = b->kept[k].session;
	return status;
}

static pctl_status open_again(pctl_proof_context *context, const pctl_call *call,
			      pctl_session **out)
{
	device_pair *b = context->ctx;

	return open_on(b, context->entry, 0, 1, call, out);
}

static void close_again(pctl_proof_context *context, pctl_session *s)
{
	device_pair *b = context->ctx;

	for (size_t k = 0; k < KEPT; k++) {
		if (b->kept[k].session != s || s == NULL)
			continue;
		pctl_session_close(s);
		pctl_backend_instance_close(b->kept[k].backend, NULL);
		b->kept[k].backend = NULL;
		b->kept[k].session = NULL;
	}
}

static pctl_status open_all(device_pair *b, const char *selector, int sanitizer,
			    const pctl_call *call)
{
	const pctl_registry_options o = {.home = b->home, .strikes = 1000000};
	pctl_status status = pctl_registry_open(&o, call, &b->context.registry);

	if (status == PCTL_OK && (b->context.kernels = pctl_kernels_create(NULL)) == NULL)
		status = PCTL_E_NOMEM;
	if (status == PCTL_OK)
		status = pctl_devices_find(b->context.registry, selector, 0, call, &b->lists[0],
					   &b->context.entry);
	if (status == PCTL_OK)
		status = pctl_devices_find(b->context.registry, "cpu", 0, call, &b->lists[1],
					   &b->reference_entry);
	if (status == PCTL_OK)
		status = open_on(b, b->context.entry, 0, 1, call, &b->context.device);
	if (status == PCTL_OK)
		status = open_on(b, b->reference_entry, 0, 0, call, &b->context.reference);
	if (status == PCTL_OK && sanitizer)
		status = open_on(b, b->reference_entry, PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT, 0,
				 call, &b->context.sanitizer);
	return status;
}

int device_pair_open(device_pair *b, const char *selector, uint64_t seed, int sanitizer,
		     const pctl_backend *(*wrap)(const pctl_backend *real, uint32_t opened))
{
	char home[] = "/tmp/pipectl-suite-XXXXXX";
	pctl_status status = PCTL_E_NOMEM;

	memset(b, 0, sizeof(*b));
	b->wrap = wrap;
	b->context.seed = seed;
	b->context.ctx = b;
	b->context.open_again = open_again;
	b->context.close_again = close_again;
	b->diagnostics = pctl_diag_list_create();
	if (b->diagnostics != NULL && mkdtemp(home) != NULL && (b->home = strdup(home)) != NULL)
		status = open_all(b, selector, sanitizer, device_pair_call(b));
	if (status != PCTL_OK && b->diagnostics != NULL)
		pctl_diag_render_text(b->diagnostics, stderr, 0);
	return status == PCTL_OK;
}

void device_pair_close(device_pair *b)
{
	char command[200];

	for (size_t k = KEPT; k-- > 0;) {
		if (b->kept[k].backend == NULL)
			continue;
		pctl_session_close(b->kept[k].session);
		pctl_backend_instance_close(b->kept[k].backend, NULL);
	}
	pctl_devices_destroy(b->lists[0]);
	pctl_devices_destroy(b->lists[1]);
	pctl_kernels_destroy(b->context.kernels);
	pctl_registry_close(b->context.registry);
	if (b->home != NULL) {
		snprintf(command, sizeof(command), "rm -rf '%s'", b->home);
		if (system(command) != 0)
			fprintf(stderr, "%s was left behind\n", b->home);
	}
	free(b->home);
	pctl_diag_list_destroy(b->diagnostics);
}
