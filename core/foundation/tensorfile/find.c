/* Which tensor is meant: the reference FILE:NAME, and the name in a file, with the nearest ones where there is none such. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "foundation/tensorfile/private.h"

#define NAMES_SHOWN 4u

static int ends_as_tensors(const char *text, size_t n)
{
	static const char *const endings[] = {".npy", ".npz", ".safetensors", ".gguf"};

	for (uint32_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t k = strlen(endings[i]);

		/* A name before the ending: ".npy" alone is a hidden file. */
		if (n > k && text[n - k - 1] != '/' && memcmp(text + n - k, endings[i], k) == 0)
			return 1;
	}
	return 0;
}

int pctl_tensor_ref_parse(const char *text, size_t *n_path, const char **name)
{
	*name = NULL;
	for (*n_path = 0;; ++*n_path) {
		if (text[*n_path] != '\0' && text[*n_path] != ':')
			continue;
		if (ends_as_tensors(text, *n_path)) {
			*name = text[*n_path] == ':' ? text + *n_path + 1 : NULL;
			return 1;
		}
		if (text[*n_path] == '\0')
			return 0;
	}
}

/* "did you mean ..?" where a name is near, else the first ones. */
static char *hint_of(const pctl_tensor_file *f, const char *name)
{
	const char **names = malloc((f->n + 1) * sizeof(*names)), *near = NULL;
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const uint32_t n = f->n < UINT32_MAX ? (uint32_t)f->n : UINT32_MAX;

	for (uint32_t i = 0; names != NULL && i < n; i++)
		names[i] = f->tensors[i].entry.name;
	if (names != NULL && name != NULL && n != 0)
		near = pctl_str_nearest(name, names, n);
	if (near != NULL)
		pctl_str_addf(&s, "did you mean \"%.200s\"? ", near);
	pctl_str_add(&s, n == 0 ? "it has none" : "it has ");
	for (uint32_t i = 0; i < n && i < NAMES_SHOWN; i++)
		pctl_str_addf(&s, "%s%.200s", i == 0 ? "" : ", ", f->tensors[i].entry.name);
	if (n > NAMES_SHOWN)
		pctl_str_addf(&s, " and %" PRIu32 " more", n - NAMES_SHOWN);
	free(names);
	return pctl_str_finish(&s);
}

pctl_status pctl_tensor_file_find(const pctl_tensor_file *f, const char *name,
				  const pctl_call *call, uint64_t *out)
{
	pctl_status status;
	char *hint;

	for (*out = 0; name != NULL && *out < f->n; ++*out)
		if (strcmp(f->tensors[*out].entry.name, name) == 0)
			return PCTL_OK;
	*out = 0;
	if (name == NULL && f->n == 1)
		return PCTL_OK;
	if (f->format == PCTL_TENSOR_FORMAT_NPY)
		return pctl_refuse_at(call, PC4215_TENSOR_MEMBER, NULL,
				      "an .npy holds one tensor, which has no name",
				      "%s has no tensor \"%.200s\"", f->path, name);
	hint = hint_of(f, name);
	if (name != NULL)
		status = pctl_refuse_at(call, PC4215_TENSOR_MEMBER, NULL, hint,
					"%s has no tensor \"%.200s\"", f->path, name);
	else
		status = pctl_refuse_at(call, PC4215_TENSOR_MEMBER, NULL, hint,
					"%s holds %" PRIu64 " tensors: name one behind a colon",
					f->path, f->n);
	free(hint);
	return status;
}
