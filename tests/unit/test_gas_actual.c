/* Estimates are upper bounds: programs run on the reference backend, which counts, and what it
 * counted is priced with the same schedule. What is proven in bounds or free of races is held
 * against what the reference saw. */
#include <dlfcn.h>
#include <stdlib.h>

#include "gas/gas.h"
#include "main.h"
#include "program/specialise.h"
#include "test_program_samples.h"

static void *host_alloc(void *ctx, uint64_t n)
{
	(void)ctx;
	return malloc(n);
}

static void host_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void host_log(void *ctx, uint32_t level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static const void *host_service(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static const pctl_host host = {.head = PCTL_HEAD(pctl_host),
			       .alloc = host_alloc,
			       .release = host_release,
			       .log = host_log,
			       .get_service = host_service};

typedef struct reference {
	const pctl_plugin *plugin;
	pctl_instance *instance;
	const pctl_backend *b;
	pctl_device *device;
} reference;

static void reference_open(reference *r)
{
	void *library = dlopen(PIPECTL_BINARY_DIR "/plugins/cpu.so", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		fail_msg("%s", dlerror());
	r->plugin = dlsym(library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(r->plugin);
	assert_int_equal(r->plugin->open(&host, NULL, &r->instance), PCTL_OK);
	r->b = r->plugin->interface(r->instance, PCTL_BACKEND_INTERFACE);
	assert_non_null(r->b);
	assert_int_equal(r->b->device_open(r->instance, NULL, 0, &r->device), PCTL_OK);
}

static void reference_close(reference *r)
{
	r->b->device_close(r->device);
	r->plugin->close(r->instance);
}

/* Run p on buffers of n words that all hold `word`; counts and the number of races seen. */
static void run_counted(reference *r, const pctl_program *p, const uint32_t groups[3], uint32_t n,
			uint32_t word, pctl_counts *counts, uint32_t *races)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_binding bindings[8] = {{0}};
	pctl_finding findings[16];
	uint32_t i, j, n_bindings = 0, n_findings = 0;
	pctl_kernel *kernel = NULL;
	pctl_list *list = NULL;
	uint8_t *wire = NULL;
	uint64_t size = 0, ticket;

	assert_int_equal(pctl_program_encode(p, NULL, &wire, &size), PCTL_OK);
	assert_int_equal(r->b->kernel_build(r->device, NULL, wire, size,
					    PCTL_BUILD_COUNT | PCTL_BUILD_SANITIZE, NULL, 0,
					    &kernel),
			 PCTL_OK);
	for (i = 0; i < p->n_vars; i++) {
		pctl_binding *x = &bindings[n_bindings];

		if (p->vars[i].space != PCTL_SPACE_UNIFORM &&
		    p->vars[i].space != PCTL_SPACE_STORAGE)
			continue;
		x->group = p->vars[i].group;
		x->binding = p->vars[i].binding;
		x->n_bytes = 4ull * n;
		assert_int_equal(r->b->buffer_create(r->device, NULL, x->n_bytes,
						     PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
							     PCTL_BUFFER_TRANSFER,
						     &x->buffer),
				 PCTL_OK);
		for (j = 0; j < n; j++)
			assert_int_equal(
				r->b->buffer_write(r->device, NULL, x->buffer, 4ull * j, &word, 4),
				PCTL_OK);
		n_bindings++;
	}
	assert_int_equal(r->b->list_begin(r->device, NULL, &list), PCTL_OK);
	assert_int_equal(r->b->list_dispatch(list, NULL, kernel, bindings, n_bindings, groups),
			 PCTL_OK);
	assert_int_equal(r->b->list_end(list, NULL), PCTL_OK);
	assert_int_equal(r->b->submit(r->device, NULL, list, 1, &ticket), PCTL_OK);
	assert_int_equal(r->b->wait(r->device, NULL, ticket, UINT64_MAX, &done), PCTL_OK);
	assert_int_equal(r->b->counts(r->device, NULL, counts), PCTL_OK);
	assert_int_equal(r->b->findings(r->device, NULL, 16, findings, &n_findings), PCTL_OK);
	for (i = 0, *races = 0; i < n_findings && i < 16; i++)
		*races += findings[i].kind == PCTL_FINDING_RACE;
	r->b->list_destroy(r->device, list);
	for (i = 0; i < n_bindings; i++)
		r->b->buffer_destroy(r->device, bindings[i].buffer);
	r->b->kernel_destroy(r->device, kernel);
	free(wire);
}

static void hold(pctl_builder *b, uint32_t n, uint32_t word)
{
	static const char *const files[] = {PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.1.cfg",
					    PIPECTL_SOURCE_DIR "/conf/gas/structured-1.cfg"};
	pctl_gas_query q = {.groups = {4, 1, 1}};
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	pctl_program *p = NULL, *special = NULL;
	pctl_analysis *a = NULL;
	uint64_t actual;
	uint32_t races, i;
	reference r;

	reference_open(&r);
	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, NULL, &special), PCTL_OK);
	assert_int_equal(pctl_program_analyse(special, q.groups, NULL, &a), PCTL_OK);
	run_counted(&r, special, q.groups, n, word, &counts, &races);
	if (a->race == PCTL_PROOF_PROVEN)
		assert_int_equal(races, 0);
	q.program = special;
	q.analysis = a;
	for (i = 0; i < 2; i++) {
		pctl_gas_schedule *s = NULL;
		pctl_gas_price price;

		assert_int_equal(pctl_gas_schedule_read(files[i], NULL, &s), PCTL_OK);
		assert_int_equal(pctl_gas_price_of(s, &q, NULL, &price), PCTL_OK);
		assert_int_equal(pctl_gas_actual(s, &counts, NULL, &actual), PCTL_OK);
		assert_true(actual > 0);
		assert_true(actual <= price.dispatch);
		pctl_gas_schedule_destroy(s);
	}
	pctl_analysis_destroy(a);
	pctl_program_destroy(special);
	pctl_program_destroy(p);
	reference_close(&r);
}

static void straight(void **state)
{
	(void)state;
	hold(sample_guarded(), 1024, 3); /* all in bounds */
	hold(sample_guarded(), 5, 3);	 /* most stop at the guard */
}

/* The loop runs as often as its declared maximum allows, and not at all. */
static void looping(void **state)
{
	(void)state;
	hold(sample_everything(), 4096, 64);
	hold(sample_everything(), 4096, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(straight), PCTL_TEST(looping))
