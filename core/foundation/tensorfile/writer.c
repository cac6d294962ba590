/* A file of many tensors, as its bytes come. */
#include "foundation/tensorfile/writer.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/output.h"
#include "foundation/tensorfile/private.h"

/* sizes: the bytes of each tensor. at: the one at hand, of which `left` bytes are to come. */
struct pctl_tensor_writer {
	pctl_output *out;
	uint64_t *sizes;
	uint64_t n, at, left;
	pctl_tensor_format format;
};

static pctl_status begin(pctl_tensor_writer *w, const char *path, const pctl_tensor *tensors,
			 const pctl_gguf_keys *keys, const pctl_call *call)
{
	uint64_t n_header = 0;
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	char *text = NULL;

	for (uint64_t i = 0; i < w->n && status == PCTL_OK; i++) {
		stored s = {.entry.type = tensors[i].type};

		if (!tensor_sizes(&s) || (w->format == PCTL_TENSOR_FORMAT_SAFETENSORS &&
					  tensor_safetensors_type(tensors[i].type.dtype) == NULL))
			status = tensor_no_room(path, pctl_tensor_format_name(w->format),
						&tensors[i], call);
		w->sizes[i] = s.n_stored;
	}
	if (status == PCTL_OK && w->format == PCTL_TENSOR_FORMAT_GGUF)
		status = tensor_gguf_header(path, tensors, w->n, keys, call, &text, &n_header);
	else if (status == PCTL_OK &&
		 (text = tensor_safetensors_header(tensors, w->n, &n_header)) == NULL)
		status = pctl_no_memory(call, "a header");
	if (status == PCTL_OK && w->format == PCTL_TENSOR_FORMAT_SAFETENSORS)
		tensor_put_integer(&head, n_header, 8);
	if (status == PCTL_OK)
		status = pctl_output_open(path, 1, call, &w->out);
	if (status == PCTL_OK && head.n != 0)
		status = pctl_output_put(w->out, head.data, head.n, call);
	if (status == PCTL_OK)
		status = pctl_output_put(w->out, text, n_header, call);
	pctl_str_drop(&head);
	free(text);
	w->left = w->n ? w->sizes[0] : 0;
	return status;
}

pctl_status pctl_tensor_writer_open(const char *path, pctl_tensor_format format,
				    const pctl_tensor *tensors, uint64_t n,
				    const pctl_gguf_keys *keys, const pctl_call *call,
				    pctl_tensor_writer **out)
{
	pctl_tensor_writer *w = calloc(1, sizeof(*w));
	pctl_status status;

	*out = NULL;
	if (w != NULL)
		w->sizes = calloc(n + 1, sizeof(*w->sizes));
	if (w == NULL || w->sizes == NULL) {
		free(w);
		return pctl_no_memory(call, "a file of tensors");
	}
	w->n = n;
	w->format = format;
	status = begin(w, path, tensors, keys, call);
	if (status == PCTL_OK)
		*out = w;
	else
		pctl_tensor_writer_discard(w);
	return status;
}

/* Behind a tensor: what lies between it and the next. */
static pctl_status end_tensor(pctl_tensor_writer *w, const pctl_call *call)
{
	static const char zeros[GGUF_ALIGNMENT];
	const uint64_t n =
		w->format == PCTL_TENSOR_FORMAT_GGUF
			? pctl_num_align(w->sizes[w->at], GGUF_ALIGNMENT) - w->sizes[w->at]
			: 0;

	w->at++;
	w->left = w->at < w->n ? w->sizes[w->at] : 0;
	return n != 0 && w->at < w->n ? pctl_output_put(w->out, zeros, n, call) : PCTL_OK;
}

pctl_status pctl_tensor_writer_put(pctl_tensor_writer *w, const void *data, uint64_t n,
				   const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	while (w->left == 0 && w->at < w->n && n != 0 && status == PCTL_OK)
		status = end_tensor(w, call);
	if (status == PCTL_OK && n > w->left)
		return pctl_refuse(call, PC1_INTERNAL, "more bytes than the tensor has");
	if (status == PCTL_OK && n != 0)
		status = pctl_output_put(w->out, data, n, call);
	w->left -= status == PCTL_OK ? n : 0;
	return status;
}

pctl_status pctl_tensor_writer_commit(pctl_tensor_writer *w, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	while (w->at < w->n && w->left == 0 && status == PCTL_OK)
		status = end_tensor(w, call);
	if (status == PCTL_OK && w->at < w->n)
		status = pctl_refuse(call, PC1_INTERNAL, "bytes of a tensor are missing");
	if (status == PCTL_OK) {
		status = pctl_output_commit(w->out, call);
		w->out = NULL;
	}
	pctl_tensor_writer_discard(w);
	return status;
}

void pctl_tensor_writer_discard(pctl_tensor_writer *w)
{
	if (w == NULL)
		return;
	pctl_output_discard(w->out);
	free(w->sizes);
	free(w);
}
