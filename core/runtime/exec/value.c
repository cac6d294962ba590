/* Values on edges: a source not yet uploaded, or a buffer of some session. What a device made is read from it once: the
 * bytes that are compared are those that are hashed, stored and handed on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/value.h"
#include "runtime/exec/readback.h"

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

pctl_value *pctl_value_from_bytes(const void *data, uint64_t n)
{
	pctl_value *v = calloc(1, sizeof(*v));

	if (v == NULL || (v->host = malloc(n == 0 ? 1 : n)) == NULL) {
		free(v);
		return NULL;
	}
	if (n != 0)
		memcpy(v->host, data, n);
	v->references = 1;
	v->n_bytes = n;
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

pctl_value *pctl_value_take_over(pctl_value *v, const pctl_session *s, uint64_t n_bytes)
{
	pctl_value *out = calloc(1, sizeof(*out));

	if (out == NULL)
		return NULL;
	out->references = 1;
	out->n_bytes = n_bytes;
	for (uint32_t i = 0; i < v->n_at; i++) {
		if (v->at[i].session != s)
			continue;
		out->at[out->n_at++] = v->at[i];
		out->at[0].range = 0;
		v->at[i] = v->at[--v->n_at];
		break;
	}
	return out;
}

pctl_value *pctl_value_retain(pctl_value *v)
{
	v->references++;
	return v;
}

void pctl_value_leave(pctl_value *v)
{
	for (uint32_t i = 0; i < v->n_at; i++)
		pctl_session_table(v->at[i].session)
			->buffer_destroy(pctl_session_device(v->at[i].session), v->at[i].buffer);
	v->n_at = 0;
}

void pctl_value_release(pctl_value *v)
{
	if (v == NULL || --v->references != 0)
		return;
	pctl_value_leave(v);
	free(v->host);
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
	uint64_t base;
};

static pctl_status upload_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct upload *u = ctx;

	return pctl_session_table(u->session)
		->buffer_write(pctl_session_device(u->session), u->call, u->buffer,
			       u->base + offset, data, n);
}

/* A small value with its zones and what pads it, in one call. */
static pctl_status upload_whole(pctl_value *v, const struct upload *u, const pctl_zones *zones,
				uint64_t n)
{
	uint8_t *bytes = calloc(1, n + 1);
	pctl_status status = bytes == NULL ? pctl_no_memory(u->call, "a value")
					   : pctl_value_read(v, 0, bytes, v->n_bytes, u->call);

	if (status == PCTL_OK)
		status = pctl_zones_write(u->session, u->buffer, zones, bytes, n, u->call);
	free(bytes);
	return status;
}

pctl_status pctl_value_on(pctl_value *v, pctl_session *s, const pctl_zones *zones,
			  const pctl_call *call, pctl_buffer **out, pctl_zones *where)
{
	const uint64_t n = (v->n_bytes + 3) & ~3ull;
	struct upload u = {s, NULL, call, zones->before};
	pctl_status status;

	*out = NULL;
	for (uint32_t i = 0; i < v->n_at; i++) {
		if (v->at[i].session == s) {
			*out = v->at[i].buffer;
			*where = v->at[i].zones;
			return PCTL_OK;
		}
	}
	if (v->n_at == PCTL_VALUE_PLACES)
		return pctl_refuse(call, PC1_INTERNAL, "a value is wanted on more than %u sessions",
				   PCTL_VALUE_PLACES);
	status = pctl_session_table(s)->buffer_create(
		pctl_session_device(s), call, zones->before + n + zones->behind,
		PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER, &u.buffer);
	if (status != PCTL_OK)
		return status;
	if (pctl_zones_are_one(zones, n)) {
		status = upload_whole(v, &u, zones, n);
	} else {
		status = pctl_zones_write(s, u.buffer, zones, NULL, n, call);
		if (status == PCTL_OK)
			status = pctl_value_stream(v, call, upload_piece, &u);
	}
	if (status != PCTL_OK) {
		pctl_session_table(s)->buffer_destroy(pctl_session_device(s), u.buffer);
		return status;
	}
	v->at[v->n_at].session = s;
	v->at[v->n_at].range = 0;
	v->at[v->n_at].zones = *where = *zones;
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

/* A destination never holds the right answer before the device has given one. */
static pctl_status read_from_device(pctl_value *v, const pctl_call *call)
{
	pctl_status status;

	v->host = malloc(v->n_bytes == 0 ? 1 : v->n_bytes);
	if (v->host == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for %" PRIu64 " bytes", v->n_bytes);
	status = v->n_bytes == 0 ? PCTL_OK
				 : pctl_readback_fill(v->at[0].session, call, v->at[0].buffer,
						      v->at[0].zones.before, v->host, v->n_bytes);
	if (status != PCTL_OK) {
		free(v->host);
		v->host = NULL;
	}
	return status;
}

static pctl_status read_from_source(pctl_value *v, const pctl_call *call)
{
	struct slice all = {malloc(v->n_bytes == 0 ? 1 : v->n_bytes), 0, v->n_bytes};
	pctl_status status;

	if (all.to == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for %" PRIu64 " bytes", v->n_bytes);
	status = pctl_source_stream(v->source, call, take_slice, &all);
	if (status == PCTL_OK)
		v->host = all.to;
	else
		free(all.to);
	return status;
}

pctl_status pctl_value_hold(pctl_value *v, const pctl_call *call, const uint8_t **out)
{
	pctl_status status = PCTL_OK;

	if (v->host == NULL)
		status = v->source != NULL ? read_from_source(v, call) : read_from_device(v, call);
	*out = v->host;
	return status;
}

pctl_status pctl_value_stream(pctl_value *v, const pctl_call *call,
			      pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						  uint64_t n),
			      void *ctx)
{
	const uint8_t *data;
	pctl_status status;

	if (v->source != NULL && v->host == NULL)
		return pctl_source_stream(v->source, call, take, ctx);
	status = pctl_value_hold(v, call, &data);
	for (uint64_t at = 0; status == PCTL_OK && at < v->n_bytes; at += PCTL_SOURCE_PIECE)
		status = take(ctx, at, data + at,
			      v->n_bytes - at < PCTL_SOURCE_PIECE ? v->n_bytes - at
								  : PCTL_SOURCE_PIECE);
	return status;
}

pctl_status pctl_value_read(pctl_value *v, uint64_t offset, void *data, uint64_t n,
			    const pctl_call *call)
{
	struct slice s = {data, offset, n};
	const uint8_t *all;
	pctl_status status;

	if (n == 0)
		return PCTL_OK;
	if (v->source != NULL && v->host == NULL)
		return pctl_source_stream(v->source, call, take_slice, &s);
	status = pctl_value_hold(v, call, &all);
	if (status == PCTL_OK)
		memcpy(data, all + offset, n);
	return status;
}

pctl_status pctl_value_fetch(pctl_value *v, const pctl_call *call, uint8_t **out)
{
	const uint8_t *all;
	pctl_status status = pctl_value_hold(v, call, &all);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	*out = malloc(v->n_bytes == 0 ? 1 : v->n_bytes);
	if (*out == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for %" PRIu64 " bytes", v->n_bytes);
	memcpy(*out, all, v->n_bytes);
	return PCTL_OK;
}
