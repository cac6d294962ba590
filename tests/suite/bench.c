/* See bench.h. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/exec/session.h"

#define KEPT (sizeof(((test_bench *)0)->kept) / sizeof(((test_bench *)0)->kept[0]))

const pctl_call *test_bench_call(test_bench *b)
{
	return pctl_diag_list_call(b->diagnostics);
}

static pctl_status open_on(test_bench *b, const pctl_device_entry *e, uint32_t flags, int wrapped,
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
	status = pctl_backend_instance_open(b->bench.registry, e->backend, e->env, 0, call,
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

static pctl_status open_again(pctl_proof_context *bench, const pctl_call *call, pctl_session **out)
{
	test_bench *b = bench->ctx;

	return open_on(b, bench->entry, 0, 1, call, out);
}

static void close_again(pctl_proof_context *bench, pctl_session *s)
{
	test_bench *b = bench->ctx;

	for (size_t k = 0; k < KEPT; k++) {
		if (b->kept[k].session != s || s == NULL)
			continue;
		pctl_session_close(s);
		pctl_backend_instance_close(b->kept[k].backend, NULL);
		b->kept[k].backend = NULL;
		b->kept[k].session = NULL;
	}
}

static pctl_status open_all(test_bench *b, const char *selector, int sanitizer,
			    const pctl_call *call)
{
	const pctl_registry_options o = {.home = b->home, .strikes = 1000000};
	pctl_status status = pctl_registry_open(&o, call, &b->bench.registry);

	if (status == PCTL_OK && (b->bench.kernels = pctl_kernels_create(NULL)) == NULL)
		status = PCTL_E_NOMEM;
	if (status == PCTL_OK)
		status = pctl_devices_find(b->bench.registry, selector, 0, call, &b->lists[0],
					   &b->bench.entry);
	if (status == PCTL_OK)
		status = pctl_devices_find(b->bench.registry, "cpu", 0, call, &b->lists[1],
					   &b->reference_entry);
	if (status == PCTL_OK)
		status = open_on(b, b->bench.entry, 0, 1, call, &b->bench.device);
	if (status == PCTL_OK)
		status = open_on(b, b->reference_entry, 0, 0, call, &b->bench.reference);
	if (status == PCTL_OK && sanitizer)
		status = open_on(b, b->reference_entry, PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT, 0,
				 call, &b->bench.sanitizer);
	return status;
}

int test_bench_open(test_bench *b, const char *selector, uint64_t seed, int sanitizer,
		    const pctl_backend *(*wrap)(const pctl_backend *real, uint32_t opened))
{
	char home[] = "/tmp/pipectl-suite-XXXXXX";
	pctl_status status = PCTL_E_NOMEM;

	memset(b, 0, sizeof(*b));
	b->wrap = wrap;
	b->bench.seed = seed;
	b->bench.ctx = b;
	b->bench.open_again = open_again;
	b->bench.close_again = close_again;
	b->diagnostics = pctl_diag_list_create();
	if (b->diagnostics != NULL && mkdtemp(home) != NULL && (b->home = strdup(home)) != NULL)
		status = open_all(b, selector, sanitizer, test_bench_call(b));
	if (status != PCTL_OK && b->diagnostics != NULL)
		pctl_diag_render_text(b->diagnostics, stderr, 0);
	return status == PCTL_OK;
}

void test_bench_close(test_bench *b)
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
	pctl_kernels_destroy(b->bench.kernels);
	pctl_registry_close(b->bench.registry);
	if (b->home != NULL) {
		snprintf(command, sizeof(command), "rm -rf '%s'", b->home);
		if (system(command) != 0)
			fprintf(stderr, "%s was left behind\n", b->home);
	}
	free(b->home);
	pctl_diag_list_destroy(b->diagnostics);
}
