/* Any bytes as an adapter: a GGUF file; where they begin with 'C' a folder, whose adapter_config.json and adapter_model.safetensors they are, parted by a byte of 0. Refused
 * with an error said, or described, with both matrices of every pair in their places; held against a model made here, and where it fits a pipeline is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/pipeline/pipeline.h"
#include "model/synth/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char folder[] = "/tmp/pipectl-fuzz-adapter-XXXXXX";
static pctl_model *base;

static void file(const char *name, char out[128])
{
	snprintf(out, 128, "%s/%s", folder, name);
}

static void remove_all(void)
{
	static const char *const names[] = {"adapter_config.json", "adapter_model.safetensors",
					    "a.gguf", "base.gguf"};
	char path[128];

	pctl_model_close(base);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		file(names[i], path);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

/* One layer of qwen2.5's, as small as may be: that of the corpus. */
static void make_base(void)
{
	static const struct {
		const char *name;
		uint64_t v;
	} sizes[] = {{"n_layers", 2}, {"n_embd", 8}, {"n_heads", 2},   {"n_kv_heads", 1},
		     {"head_dim", 4}, {"n_ff", 8},   {"n_vocab", 258}, {"n_context", 64}};
	const pctl_progress_sink silent = {NULL, NULL};
	pctl_model_shape s;
	char path[128];

	if (mkdtemp(folder) == NULL || atexit(remove_all) != 0 ||
	    pctl_synth_shape_named("qwen2.5-0.5b", NULL, &s) != PCTL_OK)
		abort();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!pctl_synth_set(&s, sizes[i].name, sizes[i].v))
			abort();
	file("base.gguf", path);
	if (pctl_synth_write(&s, 1, path, PCTL_SCALAR_F32, 0, NULL, silent, NULL) != PCTL_OK ||
	    pctl_model_open(path, NULL, &base) != PCTL_OK)
		abort();
}

static void put(const char *name, const uint8_t *data, size_t n)
{
	char path[128];
	FILE *f;

	file(name, path);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0)
		abort();
}

static void look(pctl_adapter *a)
{
	const pctl_model_plan plan = {
		.batch = 1,
		.chunk = 1,
		.context = 1,
		.adapters = &(pctl_adapter_use){a, 1, 0.5f},
		.n_adapters = 1,
		.set = 1,
	};
	const pctl_adapter_pair *p;
	pctl_cid cid;
	char *text;

	for (uint64_t i = 0; (p = pctl_adapter_at(a, i)) != NULL; i++)
		if (p->types[0].rank != 2 || p->types[1].rank != 2 || p->types[0].dim[0] == 0 ||
		    p->types[0].dim[0] != p->types[1].dim[1] || p->role != PCTL_ROLES ||
		    !(pctl_adapter_scale(a, p, 1) > 0))
			abort();
	if (pctl_adapter_cid(a, NULL, NULL, NULL, &cid) != PCTL_OK)
		abort();
	if (pctl_adapter_fit(a, base, NULL) != PCTL_OK)
		return;
	for (uint64_t i = 0; (p = pctl_adapter_at(a, i)) != NULL; i++)
		if (pctl_adapter_pair_of(a, p->role, p->layer) != p)
			abort();
	if (pctl_model_pipeline(base, &plan, NULL, &text) != PCTL_OK ||
	    strstr(text, "transformer.lora@1") == NULL)
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const int is_folder = n != 0 && data[0] == 'C';
	pctl_adapter *a;
	char path[128];

	if (base == NULL)
		make_base();
	if (is_folder) {
		const uint8_t *end = memchr(data, 0, n);
		const size_t length = end == NULL ? n : (size_t)(end - data);

		put("adapter_config.json", data + 1, length - 1);
		put("adapter_model.safetensors", data + (end == NULL ? n : length + 1),
		    end == NULL ? 0 : n - length - 1);
		snprintf(path, sizeof(path), "%s", folder);
	} else {
		put("a.gguf", data, n);
		file("a.gguf", path);
	}
	(void)pctl_adapter_is(path);
	if (pctl_adapter_open(path, NULL, &a) == PCTL_OK) {
		look(a);
		pctl_adapter_close(a);
	} else if (a != NULL) {
		abort();
	}
	return 0;
}
