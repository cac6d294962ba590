/* Any bytes as a model: a GGUF file; where they begin with 'C' or 'I' a folder, whose config.json (and index) and safetensors they
 * are, parted by a byte of 0; where they begin with 'P' two GGUF files that are to be parts, the second behind the length of the first in four bytes. Refused with an error said, or described, with every tensor in its place and a pipeline written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "model/pipeline/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PART_1 "m-00001-of-00002.gguf"
#define PART_2 "m-00002-of-00002.gguf"

static char folder[] = "/tmp/pipectl-fuzz-model-XXXXXX";

static void remove_folder(void)
{
	static const char *const names[] = {"config.json",
					    "model.safetensors",
					    "model.safetensors.index.json",
					    "a.safetensors",
					    PART_1,
					    PART_2};
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static void put(const char *name, const uint8_t *data, size_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0)
		abort();
}

/* The bytes up to the next 0; *at moves behind it. */
static size_t part(const uint8_t *data, size_t n, size_t *at, const uint8_t **out)
{
	const uint8_t *end;

	*out = data + *at;
	end = memchr(data + *at, 0, n - *at);
	*at = end == NULL ? n : (size_t)(end - data) + 1;
	return (size_t)((end == NULL ? data + n : end) - *out);
}

static void make_parts(const uint8_t *data, size_t n)
{
	uint32_t length = 0;

	if (n >= 5)
		memcpy(&length, data + 1, 4);
	data += n < 5 ? n : 5;
	n -= n < 5 ? n : 5;
	length = length < n ? length : (uint32_t)n;
	put(PART_1, data, length);
	put(PART_2, data + length, n - length);
}

static void make_folder(const uint8_t *data, size_t n)
{
	static int made;
	const uint8_t *text;
	size_t at = 1, length;

	if (!made) {
		made = mkdtemp(folder) != NULL && atexit(remove_folder) == 0;
		if (!made)
			abort();
	}
	if (data[0] == 'P') {
		make_parts(data, n);
		return;
	}
	length = part(data, n, &at, &text);
	put("config.json", text, length);
	if (data[0] == 'I') {
		length = part(data, n, &at, &text);
		put("model.safetensors.index.json", text, length);
	}
	put(data[0] == 'I' ? "a.safetensors" : "model.safetensors", data + at, n - at);
	if (data[0] == 'I') {
		char path[128];

		snprintf(path, sizeof(path), "%s/model.safetensors", folder);
		(void)unlink(path);
	}
}

static void look(const pctl_model *m)
{
	const pctl_model_plan plan = {.batch = 1, .chunk = 1, .context = 1};
	const pctl_model_tensor *t;
	pctl_model_vocabulary v;
	pctl_tensor_type want;
	char *text;

	for (uint64_t i = 0; (t = pctl_model_tensor_at(m, i)) != NULL; i++) {
		pctl_model_expected(pctl_model_shape_of(m), t->role, pctl_model_layout_of(m),
				    &want);
		if (pctl_model_tensor_of(m, t->role, t->layer, t->expert) != t ||
		    t->type.rank != want.rank ||
		    memcmp(t->type.dim, want.dim, sizeof(want.dim)) != 0)
			abort();
	}
	if (pctl_model_vocabulary_read(m, NULL, &v) == PCTL_OK && v.tokens.n == 0)
		abort();
	pctl_model_vocabulary_clear(&v);
	if (pctl_model_shape_of(m)->n_layers * (1 + pctl_model_shape_of(m)->n_experts) < 64 &&
	    pctl_model_pipeline(m, &plan, NULL, &text) == PCTL_OK)
		free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const int fd = memfd_create("fuzz", 0);
	const int is_folder = n != 0 && (data[0] == 'C' || data[0] == 'I' || data[0] == 'P');
	char path[96];
	pctl_model *m;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (is_folder) {
		make_folder(data, n);
		snprintf(path, sizeof(path), "%s%s", folder, data[0] == 'P' ? "/" PART_1 : "");
	}
	if (pctl_model_open(path, NULL, &m) == PCTL_OK) {
		look(m);
		pctl_model_close(m);
	} else if (m != NULL) {
		abort();
	}
	close(fd);
	return 0;
}
