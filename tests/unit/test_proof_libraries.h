/* Op sources for tests of the proof system: the built op libraries, opened through their own symbol, and libraries in
 * memory put together row by row. */
#ifndef PIPECTL_TESTS_UNIT_PROOF_LIBRARIES_H
#define PIPECTL_TESTS_UNIT_PROOF_LIBRARIES_H

#include "main.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/graph/ops.h"
#include "pipectl/plugin.h"
#include "evidence/proof/proof.h"
#include "runtime/graph/kernel.h"

#define LIBRARIES_MAX 4u

typedef struct libraries {
	pctl_op_source source;
	pctl_op_ref libs[LIBRARIES_MAX]; /* without desc and index */
	uint32_t n;
} libraries;

static void *library_alloc(void *ctx, uint64_t n)
{
	(void)ctx;
	return malloc(n);
}

static void library_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void library_log(void *ctx, uint32_t level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static const void *library_service(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static const pctl_host library_host = {PCTL_HEAD(pctl_host), NULL,	  library_alloc,
				       library_release,	     library_log, library_service};

static uint32_t libraries_count(void *ctx)
{
	const libraries *l = ctx;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->libs[i].lib->op_count(l->libs[i].inst);
	return n;
}

static void libraries_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	const libraries *l = ctx;

	for (uint32_t k = 0; k < l->n; k++) {
		const uint32_t n = l->libs[k].lib->op_count(l->libs[k].inst);

		if (i < n) {
			*out = l->libs[k];
			out->index = i;
			out->desc = out->lib->op_at(out->inst, i);
			return;
		}
		i -= n;
	}
}

static inline void libraries_begin(libraries *l)
{
	memset(l, 0, sizeof(*l));
	l->source = (pctl_op_source){l, libraries_count, libraries_at};
}

static inline void libraries_add(libraries *l, const pctl_oplib *lib, pctl_instance *inst,
				 const char *id)
{
	assert_true(l->n < LIBRARIES_MAX);
	l->libs[l->n++] = (pctl_op_ref){.lib = lib, .inst = inst, .plugin = id, .digest = id};
}

/* A built plugin, opened once; it stays open until the process ends. */
static inline pctl_instance *libraries_plugin(const char *path, const pctl_plugin **out)
{
	static struct {
		char path[512];
		const pctl_plugin *plugin;
		pctl_instance *inst;
	} opened[2 * LIBRARIES_MAX];
	uint32_t i = 0;
	void *handle;

	while (opened[i].plugin != NULL && strcmp(opened[i].path, path) != 0)
		i++;
	*out = opened[i].plugin;
	if (*out != NULL)
		return opened[i].inst;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		fail_msg("%s", dlerror());
	*out = dlsym(handle, PCTL_PLUGIN_SYMBOL);
	assert_non_null(*out);
	assert_int_equal((*out)->open(&library_host, NULL, &opened[i].inst), PCTL_OK);
	opened[i].plugin = *out;
	snprintf(opened[i].path, sizeof(opened[i].path), "%s", path);
	return opened[i].inst;
}

/* A built op library. */
static inline void libraries_open(libraries *l, const char *id)
{
	const pctl_plugin *plugin;
	pctl_instance *inst;
	char path[512];

	snprintf(path, sizeof(path), PIPECTL_BINARY_DIR "/ops/%s.so", id);
	inst = libraries_plugin(path, &plugin);
	libraries_add(l, plugin->interface(inst, PCTL_OPLIB_INTERFACE), inst, id);
}

/* A bench for what needs no device. */
static inline pctl_proof_context libraries_bench(const libraries *l)
{
	return (pctl_proof_context){.ops = &l->source,
				    .kernels = pctl_kernels_create(&l->source),
				    .seed = 1,
				    .cases = 65536};
}

#endif
