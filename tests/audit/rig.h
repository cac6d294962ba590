/* What audits in tests stand on: a home of their own, the built plugins beside the liar, and one call that resolves a
 * pipeline and audits it. */
#ifndef PIPECTL_TESTS_AUDIT_RIG_H
#define PIPECTL_TESTS_AUDIT_RIG_H

#include "main.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/audit/audit.h"
#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/check.h"
#include "runtime/graph/library.h"
#include "runtime/plugin/registry_private.h"

#define EDGES 2400u
#define NODES 400u

typedef struct bench {
	char home[64], scratch[96], repro[96], edges[96];
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_op_library *library;
	pctl_kernels *kernels;
	pctl_store *store;
	pctl_policy *policy;
	pctl_gas_schedule *schedule;
	pctl_pipeline *pipeline;
	pctl_graph *graph;
	pctl_audit_options options; /* of the last audit */
	pctl_setting in;
	pctl_audit_result *r;
	pctl_status status;
} bench;

static inline void must(bench *b, pctl_status status)
{
	for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(b->l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(b->l, i)->code,
			pctl_diag_list_at(b->l, i)->message);
	assert_int_equal(status, PCTL_OK);
}

static inline void write_edges(bench *b)
{
	static uint32_t edges[2 * EDGES];
	uint64_t h = 1;

	for (uint32_t i = 0; i < 2 * EDGES; i++) {
		h = h * 6364136223846793005ull + 1442695040888963407ull;
		edges[i] = (uint32_t)(h >> 33) % NODES;
	}
	snprintf(b->edges, sizeof(b->edges), "%s/edges", b->home);
	must(b, pctl_file_write(b->edges, edges, sizeof(edges), 0, b->call));
}

static inline void bench_open(bench *b)
{
	static const char *const dirs[] = {PIPECTL_BINARY_DIR "/plugins.d", AUDIT_PLUGINS};
	pctl_registry_options ro = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				    .dirs = dirs,
				    .n_dirs = 2,
				    .worker = PIPECTL_BINARY_DIR "/bin/pipectl-worker"};
	/* A plugin that lies on purpose is taken because somebody says so. */
	static char sha256[2 * PCTL_DIGEST_BYTES + 1];
	static const char *const pins[] = {"liar", sha256};
	const pctl_plugin_rules rules = {.pins = pins, .n_pins = 1, .pins_by = "test"};

	assert_true(pctl_plugin_hash_file(AUDIT_LIAR, sha256));
	ro.rules = &rules;
	memset(b, 0, sizeof(*b));
	strcpy(b->home, "/tmp/pipectl-audit-XXXXXX");
	assert_non_null(mkdtemp(b->home));
	snprintf(b->scratch, sizeof(b->scratch), "%s/scratch", b->home);
	snprintf(b->repro, sizeof(b->repro), "%s/repro", b->home);
	b->l = pctl_diag_list_create();
	b->call = pctl_diag_list_call(b->l);
	ro.home = b->home;
	must(b, pctl_registry_open(&ro, b->call, &b->registry));
	b->library = pctl_op_library_create(b->registry, b->call);
	b->kernels = pctl_kernels_create(pctl_op_library_source(b->library));
	must(b, pctl_store_open_memory(b->call, &b->store));
	must(b, pctl_policy_default(b->call, &b->policy));
	must(b, pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/structured-3.cfg", b->call,
				       &b->schedule));
	write_edges(b);
}

/* Resolve the text of a pipeline, or (text NULL) the shipped one of rank over the bench's edges. */
static inline void bench_pipeline(bench *b, const char *text)
{
	const pctl_setting sets[] = {{"iterations", "20"}};
	pctl_graph_options go = {.ops = pctl_op_library_source(b->library), .kernels = b->kernels};

	b->in = (pctl_setting){"edges", b->edges};
	if (text == NULL) {
		must(b, pctl_pipeline_read(PIPECTL_SOURCE_DIR "/pipelines/rank.pipe.cfg", b->call,
					   &b->pipeline));
		go.sets = sets;
		go.n_sets = 1;
		b->options.run.ins = &b->in;
		b->options.run.n_ins = 1;
	} else {
		must(b,
		     pctl_pipeline_read_text("p.cfg", text, strlen(text), b->call, &b->pipeline));
	}
	must(b, pctl_graph_resolve(b->pipeline, &go, b->call, NULL, NULL, &b->graph));
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void bench_close(bench *b)
{
	pctl_audit_result_destroy(b->r);
	pctl_graph_destroy(b->graph);
	pctl_pipeline_destroy(b->pipeline);
	pctl_kernels_destroy(b->kernels);
	pctl_op_library_destroy(b->library);
	pctl_registry_close(b->registry);
	pctl_store_close(b->store);
	pctl_policy_destroy(b->policy);
	pctl_gas_schedule_destroy(b->schedule);
	pctl_diag_list_destroy(b->l);
	nftw(b->home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Audit what bench_pipeline made, with `lie` in the liar's ear. flags: PCTL_RUN_*. */
static inline void bench_audit(bench *b, const char *const *selectors, uint32_t n, uint32_t repeat,
			       const char *lie, uint32_t flags)
{
	pctl_audit_options *o = &b->options;

	setenv("PIPECTL_LIAR", lie, 1);
	o->run.registry = b->registry;
	o->run.ops = pctl_op_library_source(b->library);
	o->run.store = b->store;
	o->run.policy = b->policy;
	o->run.schedule = b->schedule;
	o->run.flags = flags;
	o->selectors = selectors;
	o->n_selectors = n;
	o->repeat = repeat;
	o->scratch = b->scratch;
	o->repro = b->repro;
	pctl_audit_result_destroy(b->r);
	b->r = NULL;
	b->status = pctl_audit(b->graph, o, b->call, &b->r);
}

static inline const pctl_audit_device *device_of(const bench *b, uint32_t i)
{
	return &b->r->devices[i];
}

static inline uint32_t last_code(const bench *b)
{
	uint32_t n = pctl_diag_list_count(b->l);

	return n == 0 ? 0 : pctl_diag_list_at(b->l, n - 1)->code;
}

#endif
