/* Tensors in several GGUF files, `NAME-00001-of-00003.gguf` and on: what a name says, and whether the files are parts of one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/order.h"
#include "foundation/tensorfile/private.h"
#include "foundation/tensorfile/shards.h"

#define ENDING "-00001-of-00001.gguf"
#define DIGITS 5u

static int number_at(const char *text, uint32_t *out)
{
	uint64_t v;

	for (uint32_t i = 0; i < DIGITS; i++)
		if (text[i] < '0' || text[i] > '9')
			return 0;
	if (!pctl_num_parse_u64(text, DIGITS, &v))
		return 0;
	*out = (uint32_t)v;
	return 1;
}

int tensor_part_named(const char *path, size_t *stem, uint32_t *number, uint32_t *n)
{
	const size_t length = strlen(path), ending = sizeof(ENDING) - 1;
	const char *at = path + (length < ending ? 0 : length - ending);

	if (length <= ending || at[0] != '-' || memcmp(at + 1 + DIGITS, "-of-", 4) != 0 ||
	    strcmp(at + 5 + 2 * DIGITS, ".gguf") != 0)
		return 0;
	*stem = (size_t)(at - path);
	return number_at(at + 1, number) && number_at(at + 5 + DIGITS, n);
}

static pctl_status bad(const char *path, const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC4218_TENSOR_INDEX, "%s: %s", path, what);
}

/* UINT64_MAX: not said, or no number. */
static uint64_t said(const pctl_tensor_file *f, const char *name)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(f, name);
	uint64_t v;

	return k != NULL && pctl_gguf_integer(k, &v) ? v : UINT64_MAX;
}

pctl_status tensor_part_alone(const pctl_tensor_file *f, const char *path, const pctl_call *call)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(f, "split.count");

	if (k == NULL || said(f, "split.count") <= 1)
		return PCTL_OK;
	return pctl_refuse_at(call, PC4218_TENSOR_INDEX, NULL,
			      "parts are called NAME-00001-of-00003.gguf and on",
			      "%s: it is one of several files, which its name does not say", path);
}

/* What counts stands in the first; another's word would be heard by nobody. */
static int keys_good(const pctl_tensor_file *f)
{
	const pctl_gguf_key *k;

	for (uint64_t i = 0; (k = pctl_tensor_file_key_at(f, i)) != NULL; i++)
		if (strncmp(k->name, "split.", 6) != 0 && strncmp(k->name, "general.", 8) != 0)
			return 0;
	return 1;
}

/* No name is there twice; n: of all parts. */
static pctl_status names_differ(pctl_tensor_file *const *files, const char *path, uint32_t n_files,
				uint64_t n, const pctl_call *call)
{
	const char **all = calloc(n + 1, sizeof(*all));
	const pctl_tensor_entry *e;
	pctl_status status = PCTL_OK;
	uint64_t k = 0;

	if (all == NULL)
		return pctl_no_memory(call, "tensors");
	for (uint32_t f = 0; f < n_files; f++)
		for (uint64_t i = 0; (e = pctl_tensor_file_at(files[f], i)) != NULL; i++)
			all[k++] = e->name;
	qsort(all, k, sizeof(*all), pctl_order_texts);
	for (uint64_t i = 1; i < k && status == PCTL_OK; i++)
		if (strcmp(all[i], all[i - 1]) == 0)
			status = pctl_refuse(call, PC4218_TENSOR_INDEX,
					     "%s: two of its parts hold tensor \"%.200s\"", path,
					     all[i]);
	free(all);
	return status;
}

pctl_status tensor_parts_check(pctl_tensor_file *const *files, const char *const *paths, uint32_t n,
			       const pctl_call *call)
{
	uint64_t tensors = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (pctl_tensor_file_format(files[i]) != PCTL_TENSOR_FORMAT_GGUF)
			return bad(paths[i], call, "it is no GGUF file");
		/* One alone need not say that it is. */
		if (n == 1 && pctl_tensor_file_key(files[i], "split.count") == NULL)
			return PCTL_OK;
		if (said(files[i], "split.count") != n)
			return bad(paths[i], call,
				   "split.count is another number than its name says");
		if (said(files[i], "split.no") != i)
			return bad(paths[i], call, "split.no is another number than its name says");
		if (i != 0 && !keys_good(files[i]))
			return bad(paths[i], call,
				   "a part behind the first says what only the first may say");
		tensors += files[i]->n;
	}
	if (said(files[0], "split.tensors.count") != tensors)
		return bad(paths[0], call,
			   "split.tensors.count is not the number of tensors of all parts");
	return names_differ(files, paths[0], n, tensors, call);
}
