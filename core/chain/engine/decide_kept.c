/* What came of the last blocks, as files: for an engine that asks again. */
#include <engine.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/engine/decide_private.h"
#include "foundation/base/bytes.h"
#include "foundation/base/file.h"

#define FILE_MAX (64u << 20)
#define PATH_SIZE 4096u

pctl_status pctl_decide_digest(uint64_t height, const pctl_msg_bytes *messages, uint32_t n,
			       const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	static const char domain[] = "pipectl decided 1";
	uint8_t number[8];
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(call, &h);

	if (status == PCTL_OK)
		status = pctl_hasher_update(h, domain, sizeof(domain));
	for (uint64_t i = 0; status == PCTL_OK && i <= n; i++) {
		const uint64_t v = i == 0 ? height : messages[i - 1].n;

		pctl_le_put(number, v, sizeof(number));
		status = pctl_hasher_update(h, number, sizeof(number));
		if (status == PCTL_OK && i != 0 && v != 0)
			status = pctl_hasher_update(h, messages[i - 1].data, v);
	}
	return pctl_hasher_end(h, status, out);
}

static pctl_status path_of(const pctl_decider *d, uint64_t height, const pctl_call *call,
			   char out[PATH_SIZE])
{
	return (size_t)snprintf(out, PATH_SIZE, "%s/%" PRIu64, d->dir, height) < PATH_SIZE
		       ? PCTL_OK
		       : pctl_refuse(call, PC3_IO, "%s: the path is too long", d->dir);
}

static ProtobufCBinaryData borrow(const void *data, uint64_t n)
{
	return (ProtobufCBinaryData){(size_t)n, (uint8_t *)(uintptr_t)data};
}

static pctl_status write_file(const char *path, const Engine__Decided *pb, const pctl_call *call)
{
	const size_t n = engine__decided__get_packed_size(pb);
	uint8_t *bytes = malloc(n + 1);
	pctl_status status;

	if (bytes == NULL)
		return pctl_no_memory(call, "results of a block");
	engine__decided__pack(pb, bytes);
	status = pctl_file_write(path, bytes, n, 1, call);
	free(bytes);
	return status;
}

pctl_status pctl_decide_keep(const pctl_decider *d, const pctl_decided *b,
			     const uint8_t digest[PCTL_DIGEST_BYTES], const pctl_call *call)
{
	Engine__Decided pb = ENGINE__DECIDED__INIT;
	Engine__Result *rows = pctl_arena_array(d->arena, b->n_results, sizeof(*rows));
	Engine__Result **of = pctl_arena_array(d->arena, b->n_results, sizeof(Engine__Result *));
	char path[PATH_SIZE];
	pctl_status status;

	if (rows == NULL || of == NULL)
		return pctl_no_memory(call, "results of a block");
	for (uint32_t i = 0; i < b->n_results; i++) {
		const pctl_decided_result *r = &b->results[i];

		engine__result__init(&rows[i]);
		rows[i].code = r->code;
		rows[i].gas_wanted = r->gas_wanted;
		rows[i].gas_used = r->gas_used;
		rows[i].data = borrow(r->data.data, r->data.n);
		of[i] = &rows[i];
	}
	pb.height = b->height;
	pb.messages = borrow(digest, PCTL_DIGEST_BYTES);
	pb.root = borrow(b->root, PCTL_DIGEST_BYTES);
	pb.n_results = b->n_results;
	pb.results = of;
	status = path_of(d, b->height, call, path);
	if (status == PCTL_OK)
		status = write_file(path, &pb, call);
	if (status == PCTL_OK && b->height > PCTL_DECIDE_KEPT &&
	    path_of(d, b->height - PCTL_DECIDE_KEPT, call, path) == PCTL_OK)
		(void)unlink(path);
	return status;
}

static pctl_status copy(pctl_decider *d, const Engine__Decided *pb, const pctl_call *call,
			pctl_decided *out)
{
	pctl_decided_result *results = pctl_arena_array(d->arena, pb->n_results, sizeof(*results));

	if (results == NULL)
		return pctl_no_memory(call, "results of a block");
	*out = (pctl_decided){
		.height = pb->height, .results = results, .n_results = (uint32_t)pb->n_results};
	memcpy(out->root, pb->root.data, PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; i < out->n_results; i++) {
		const Engine__Result *from = pb->results[i];
		uint8_t *data = (uint8_t *)pctl_arena_dup_n(
			d->arena, from->data.len == 0 ? "" : (char *)from->data.data,
			from->data.len);

		if (data == NULL)
			return pctl_no_memory(call, "results of a block");
		results[i] = (pctl_decided_result){.code = from->code,
						   .gas_wanted = from->gas_wanted,
						   .gas_used = from->gas_used,
						   .data = {data, from->data.len},
						   .text = ""};
	}
	return PCTL_OK;
}

pctl_status pctl_decide_recall(pctl_decider *d, uint64_t height,
			       const uint8_t digest[PCTL_DIGEST_BYTES], const pctl_call *call,
			       pctl_decided *out)
{
	char path[PATH_SIZE], *bytes = NULL;
	Engine__Decided *pb = NULL;
	uint64_t n = 0;
	pctl_status status = path_of(d, height, call, path);

	if (status == PCTL_OK && !pctl_file_exists(path))
		status = pctl_refuse(call, PC6168_DECIDE_FORGOTTEN,
				     "block %" PRIu64 " is done; results are kept of the last %u",
				     height, PCTL_DECIDE_KEPT);
	if (status == PCTL_OK)
		status = pctl_file_read(path, FILE_MAX, call, &bytes, &n);
	if (status != PCTL_OK)
		return status;
	pb = engine__decided__unpack(NULL, (size_t)n, (const uint8_t *)bytes);
	if (pb == NULL || pb->height != height || pb->messages.len != PCTL_DIGEST_BYTES ||
	    pb->root.len != PCTL_DIGEST_BYTES)
		status = pctl_refuse(call, PC6168_DECIDE_FORGOTTEN,
				     "block %" PRIu64 " is done; %s is damaged", height, path);
	else if (memcmp(pb->messages.data, digest, PCTL_DIGEST_BYTES) != 0)
		status = pctl_refuse(call, PC6167_DECIDE_OTHER,
				     "block %" PRIu64 " is done here with other messages", height);
	else
		status = copy(d, pb, call, out);
	if (pb != NULL)
		engine__decided__free_unpacked(pb, NULL);
	free(bytes);
	return status;
}
