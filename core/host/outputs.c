/* Outputs as files; see outputs.h. */
#include "host/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/output.h"
#include "foundation/tensorfile/tensor_file.h"

/* Where one output goes. is_tensor 0: bytes alone, `file` is the whole text. */
typedef struct place {
	char *file;
	const char *name;
	pctl_tensor_format format;
	uint32_t is_tensor, done;
	const pctl_run_output *from;
} place;

static pctl_status place_of(const pctl_setting *out, const pctl_call *call, place *p)
{
	const char *name;
	size_t n;

	memset(p, 0, sizeof(*p));
	p->is_tensor = (uint32_t)pctl_tensor_ref_parse(out->value, &n, &name);
	p->file = p->is_tensor ? strndup(out->value, n) : strdup(out->value);
	p->name = name != NULL ? name : out->name;
	if (p->file == NULL)
		return pctl_no_memory(call, "a path");
	if (!p->is_tensor)
		return PCTL_OK;
	if (!pctl_tensor_format_of(p->file, &p->format))
		return pctl_tensor_format_check(p->file, call);
	if (p->format == PCTL_TENSOR_FORMAT_NPY && name != NULL)
		return pctl_refuse(call, PC10_USAGE,
				   "%s: an .npy holds one tensor, which has no name", out->value);
	if (p->format != PCTL_TENSOR_FORMAT_NPY && p->name[0] == '\0')
		return pctl_refuse(call, PC10_USAGE, "%s: the name of the tensor is missing",
				   out->value);
	return PCTL_OK;
}

/* Outputs in one file of several tensors. */
static int together(const place *a, const place *b)
{
	return a->is_tensor && b->is_tensor && a->format != PCTL_TENSOR_FORMAT_NPY &&
	       strcmp(a->file, b->file) == 0;
}

static void drop_places(place *p, uint32_t n)
{
	for (uint32_t i = 0; p != NULL && i < n; i++)
		free(p[i].file);
	free(p);
}

static pctl_status all_places(const pctl_setting *outs, uint32_t n, const pctl_call *call,
			      place **out)
{
	place *p = calloc((size_t)n + 1, sizeof(*p));
	pctl_status status = p == NULL ? pctl_no_memory(call, "outputs") : PCTL_OK;

	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		status = place_of(&outs[i], call, &p[i]);
		for (uint32_t k = 0; k < i && status == PCTL_OK; k++)
			if (together(&p[k], &p[i]) && strcmp(p[k].name, p[i].name) == 0)
				status = pctl_refuse(call, PC10_USAGE,
						     "two outputs would be \"%s\" of %s", p[i].name,
						     p[i].file);
			else if (!together(&p[k], &p[i]) && pctl_output_same(p[k].file, p[i].file))
				status = pctl_refuse(call, PC10_USAGE,
						     "outputs \"%s\" and \"%s\" would be the same "
						     "file: %s",
						     outs[k].name, outs[i].name, p[i].file);
	}
	if (status != PCTL_OK) {
		drop_places(p, n);
		p = NULL;
	}
	*out = p;
	return status;
}

pctl_status pctl_outputs_check(const pctl_setting *outs, uint32_t n, const pctl_call *call)
{
	place *p;
	const pctl_status status = all_places(outs, n, call, &p);

	drop_places(p, n);
	return status;
}

static pctl_tensor_type type_of(const pctl_run_output *from, const pctl_tensor_type *given)
{
	pctl_tensor_type t =
		given != NULL && given->dtype != PCTL_SCALAR_NONE ? *given : from->type;

	if (t.dtype == PCTL_DTYPE_BYTES)
		t.dtype = PCTL_SCALAR_U8;
	return t;
}

static pctl_status write_tensors(pctl_store *store, place *p, uint32_t first, uint32_t n,
				 const pctl_tensor_type *types, const pctl_call *call)
{
	pctl_tensor *tensors = calloc(n, sizeof(*tensors));
	pctl_blob *blobs = calloc(n, sizeof(*blobs));
	pctl_status status =
		tensors == NULL || blobs == NULL ? pctl_no_memory(call, "outputs") : PCTL_OK;
	uint32_t k = 0;

	for (uint32_t i = first; i < n && status == PCTL_OK; i++) {
		if (i != first && !together(&p[first], &p[i]))
			continue;
		p[i].done = 1;
		status = pctl_store_get(store, &p[i].from->cid, call, &blobs[k]);
		if (status != PCTL_OK)
			break;
		tensors[k] = (pctl_tensor){p[i].name,
					   type_of(p[i].from, types == NULL ? NULL : &types[i]),
					   blobs[k].data};
		k++;
	}
	if (status == PCTL_OK)
		status = pctl_tensor_file_write(p[first].file, p[first].format, tensors, k, call);
	for (uint32_t i = 0; i < k; i++)
		pctl_blob_release(&blobs[i]);
	free(blobs);
	free(tensors);
	return status;
}

pctl_status pctl_outputs_write(pctl_store *store, const pctl_run_result *r,
			       const pctl_setting *outs, const pctl_tensor_type *types, uint32_t n,
			       const pctl_call *call)
{
	place *p;
	pctl_status status = all_places(outs, n, call, &p);

	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		for (uint32_t k = 0; k < r->n_outputs; k++)
			if (strcmp(r->outputs[k].name, outs[i].name) == 0)
				p[i].from = &r->outputs[k];
		if (p[i].from != NULL && p[i].is_tensor) {
			const pctl_tensor t = {p[i].name,
					       type_of(p[i].from, types == NULL ? NULL : &types[i]),
					       NULL};

			status = pctl_tensor_format_takes(p[i].file, p[i].format, &t, call);
		}
	}
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		if (p[i].from == NULL || p[i].done)
			continue;
		status = p[i].is_tensor
				 ? write_tensors(store, p, i, n, types, call)
				 : pctl_store_get_file(store, &p[i].from->cid, p[i].file, call);
	}
	drop_places(p, n);
	return status;
}
