/* Values on edges: a source not yet uploaded, or a buffer of some session. */
#include <stdlib.h>
#include <string.h>

#include "exec/value.h"

pctl_value *pctl_value_from_source(pctl_data_source *source)
{
	pctl_value *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->references = 1;
	v->source = source;
	v->n_bytes = pctl_source_bytes(source);
	return v;
}

pctl_value *pctl_value_from_buffer(pctl_session *s, pctl_buffer *buffer, uint64_t n_bytes)
{
	pctl_value *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->references = 1;
	v->at[0].session = s;
	v->at[0].buffer = buffer;
	v->n_at = 1;
	v->n_bytes = n_bytes;
	return v;
}

pctl_value *pctl_value_retain(pctl_value *v)
{
	v->references++;
	return v;
}

void pctl_value_release(pctl_value *v)
{
	if (v == NULL || --v->references != 0)
		return;
	for (uint32_t i = 0; i < v->n_at; i++)
		pctl_session_table(v->at[i].session)
			->buffer_destroy(pctl_session_device(v->at[i].session), v->at[i].buffer);
	free(v);
}

uint64_t pctl_value_bytes(const pctl_value *v)
{
	return v->n_bytes;
}

struct upload {
	pctl_session *session;
	pctl_buffer *buffer;
	const pctl_call *call;
};

static pctl_status upload_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct upload *u = ctx;

	return pctl_session_table(u->session)
		->buffer_write(pctl_session_device(u->session), u->call, u->buffer, offset, data,
			       n);
}

/* From one session to another through host memory, in pieces. */
static pctl_status move_pieces(pctl_value *v, struct upload *to)
{
	uint8_t *piece = malloc(PCTL_SOURCE_PIECE);
	pctl_status status = PCTL_OK;

	if (piece == NULL)
		return pctl_refuse(to->call, PC2_NOMEM, "no memory to move data");
	for (uint64_t offset = 0; status == PCTL_OK && offset < v->n_bytes;) {
		uint64_t n = v->n_bytes - offset < PCTL_SOURCE_PIECE ? v->n_bytes - offset
								     : PCTL_SOURCE_PIECE;

		status = pctl_value_read(v, offset, piece, n, to->call);
		if (status == PCTL_OK)
			status = upload_piece(to, offset, piece, n);
		offset += n;
	}
	free(piece);
	return status;
}

pctl_status pctl_value_on(pctl_value *v, pctl_session *s, const pctl_call *call, pctl_buffer **out)
{
	struct upload u = {s, NULL, call};
	pctl_status status;

	*out = NULL;
	for (uint32_t i = 0; i < v->n_at; i++) {
		if (v->at[i].session == s) {
			*out = v->at[i].buffer;
			return PCTL_OK;
		}
	}
	if (v->n_at == PCTL_VALUE_PLACES)
		return pctl_refuse(call, PC1_INTERNAL, "a value is wanted on more than %u sessions",
				   PCTL_VALUE_PLACES);
	status = pctl_session_table(s)->buffer_create(
		pctl_session_device(s), call, (v->n_bytes + 3) & ~3ull,
		PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER, &u.buffer);
	if (status != PCTL_OK)
		return status;
	status = v->n_at == 0 ? pctl_source_stream(v->source, call, upload_piece, &u)
			      : move_pieces(v, &u);
	if (status != PCTL_OK) {
		pctl_session_table(s)->buffer_destroy(pctl_session_device(s), u.buffer);
		return status;
	}
	v->at[v->n_at].session = s;
	v->at[v->n_at++].buffer = u.buffer;
	*out = u.buffer;
	return PCTL_OK;
}

struct slice {
	uint8_t *to;
	uint64_t offset, n;
};

static pctl_status take_slice(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct slice *s = ctx;
	uint64_t from = offset > s->offset ? offset : s->offset;
	uint64_t end = offset + n < s->offset + s->n ? offset + n : s->offset + s->n;

	if (from < end)
		memcpy(s->to + (from - s->offset), (const uint8_t *)data + (from - offset),
		       end - from);
	return PCTL_OK;
}

pctl_status pctl_value_read(pctl_value *v, uint64_t offset, void *data, uint64_t n,
			    const pctl_call *call)
{
	struct slice s = {data, offset, n};

	if (n == 0)
		return PCTL_OK;
	if (v->n_at == 0)
		return pctl_source_stream(v->source, call, take_slice, &s);
	return pctl_session_table(v->at[0].session)
		->buffer_read(pctl_session_device(v->at[0].session), call, v->at[0].buffer, offset,
			      data, n);
}

pctl_status pctl_value_fetch(pctl_value *v, const pctl_call *call, uint8_t **out)
{
	pctl_status status;

	*out = malloc(v->n_bytes == 0 ? 1 : v->n_bytes);
	if (*out == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for %llu bytes",
				   (unsigned long long)v->n_bytes);
	status = pctl_value_read(v, 0, *out, v->n_bytes, call);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
	}
	return status;
}
