/* A token's row of the embedding, by the host: what SEMANTICS.md 18.10 says of the op, by the table of element types. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "model/machine/private.h"

/* Bytes of a row, and that they lie where a file can be read from; else all of the table is read, once. */
static pctl_status take_row(pctl_llm *m, const pctl_model_tensor *t, uint32_t token, uint64_t n,
			    const pctl_call *call, const uint8_t **out)
{
	const char *path;
	pctl_tensor_file *f = pctl_model_tensor_file(m->model, t->file, &path);
	uint64_t place;
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (!pctl_tensor_file_place(f, t->index, &place)) {
		if (m->table == NULL)
			status = pctl_tensor_file_read(f, t->index, call, (void **)&m->table);
		*out = status == PCTL_OK ? m->table + token * n : NULL;
		return status;
	}
	if (m->row == NULL && (m->row = malloc(n + 1u)) == NULL)
		return pctl_no_memory(call, "an embedding");
	*out = m->row;
	return pctl_tensor_file_read_part(f, t->index, token * n, m->row, n, call);
}

pctl_status pctl_llm_embed(pctl_llm *m, uint32_t token, float *out, const pctl_call *call)
{
	const pctl_model_tensor *t = pctl_model_tensor_of(m->model, PCTL_ROLE_TOK_EMBD, 0, 0);
	const pctl_dtype *type = pctl_dtype_of(t->type.dtype), *f32 = pctl_dtype_named("f32", 3);
	const float scale = (float)m->s->embed_scale;
	const uint8_t *row;
	uint64_t n = 0;
	pctl_status status;

	if (token >= m->s->n_vocab)
		return pctl_refuse(call, PC6290_MODEL_PLAN, "token %" PRIu32 ", of %" PRIu64, token,
				   m->s->n_vocab);
	(void)pctl_dtype_size(type, m->s->n_embd, &n);
	status = take_row(m, t, token, n, call, &row);
	for (uint64_t i = 0; status == PCTL_OK && i < m->s->n_embd; i++) {
		pctl_exact v;

		if (!pctl_dtype_read(type, row, i, &v) ||
		    !pctl_dtype_write(f32, v, PCTL_DTYPE_OVERFLOW_IEEE, out, i))
			return pctl_refuse(call, PC4213_TENSOR_VALUE,
					   "%s: element %" PRIu64 " of row %" PRIu32
					   " of \"%s\" stands for nothing",
					   pctl_model_path(m->model), i, token, t->name);
		out[i] *= scale;
		if (isnan(out[i])) {
			const uint32_t canonical = 0x7fc00000u;

			memcpy(&out[i], &canonical, 4);
		}
	}
	return status;
}
