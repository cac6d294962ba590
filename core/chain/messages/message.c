/* Messages between structs and their canonical bytes, which stay beside a request that was decoded or sealed; and the id
 * of a job. */
#include "chain/messages/message.h"

#include <stdlib.h>
#include <string.h>

#include "chain/messages/message_pb.h"
#include "chain/messages/message_wire.h"
#include "foundation/base/bytes.h"
#include "foundation/base/order.h"

/* bytes: the canonical ones of a request that passed its check; NULL of a response. */
struct owner {
	ProtobufCMessage *pb;
	pctl_arena *arena;
	uint8_t *bytes;
	uint64_t n_bytes;
};

int pctl_msg_binding_order(const void *a, const void *b)
{
	const pctl_msg_binding *x = a, *y = b;
	const int groups = PCTL_ORDER(x->group, y->group);

	return groups != 0 ? groups : PCTL_ORDER(x->binding, y->binding);
}

static pctl_status too_long(uint64_t n, const pctl_call *call)
{
	return pctl_refuse(call, PC5780_MESSAGE_SIZE, "a message of %llu bytes, at most %u",
			   (unsigned long long)n, PCTL_MESSAGE_MAX);
}

/* ---- encoding ----------------------------------------------------------------------------- */

static pctl_status pack(const ProtobufCMessage *pb, const pctl_call *call, uint8_t **out,
			uint64_t *n_out)
{
	const size_t n = protobuf_c_message_get_packed_size(pb);

	if (n > PCTL_MESSAGE_MAX)
		return too_long(n, call);
	*out = malloc(n + 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a message");
	*n_out = protobuf_c_message_pack(pb, *out);
	return PCTL_OK;
}

/* Of a message that passed its check. */
static pctl_status encode(const pctl_request *q, const pctl_response *r, const pctl_call *call,
			  uint8_t **out, uint64_t *n_out)
{
	pctl_arena *arena = pctl_arena_create();
	const ProtobufCMessage *pb = NULL;
	pctl_status status;

	if (arena != NULL && q != NULL) {
		const Gpu__Request *made = pctl_request_to_pb(q, arena);

		pb = made == NULL ? NULL : &made->base;
	} else if (arena != NULL) {
		const Gpu__Response *made = pctl_response_to_pb(r, arena);

		pb = made == NULL ? NULL : &made->base;
	}
	status = pb == NULL ? pctl_no_memory(call, "a message") : pack(pb, call, out, n_out);
	pctl_arena_destroy(arena);
	return status;
}

pctl_status pctl_request_encode(const pctl_request *r, const pctl_call *call, uint8_t **out,
				uint64_t *n_out)
{
	pctl_status status = pctl_request_check(r, call);

	*out = NULL;
	*n_out = 0;
	return status == PCTL_OK ? encode(r, NULL, call, out, n_out) : status;
}

pctl_status pctl_response_encode(const pctl_response *r, const pctl_call *call, uint8_t **out,
				 uint64_t *n_out)
{
	pctl_status status = pctl_response_check(r, call);

	*out = NULL;
	*n_out = 0;
	return status == PCTL_OK ? encode(NULL, r, call, out, n_out) : status;
}

/* ---- the bytes beside a request ------------------------------------------------------------ */

pctl_status pctl_request_seal(const pctl_request *r, const pctl_call *call, pctl_request *out)
{
	struct owner *o = calloc(1, sizeof(*o));
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (o == NULL)
		return pctl_no_memory(call, "a message");
	status = pctl_request_encode(r, call, &o->bytes, &o->n_bytes);
	if (status != PCTL_OK) {
		free(o);
		return status;
	}
	*out = *r;
	out->owner = o;
	return PCTL_OK;
}

const uint8_t *pctl_request_bytes(const pctl_request *r, uint64_t *n)
{
	const struct owner *o = r->owner;

	*n = o == NULL ? 0 : o->n_bytes;
	return o == NULL ? NULL : o->bytes;
}

/* The request's one field is the message: a tag of one byte, the length, the bytes. */
const uint8_t *pctl_execute_bytes(const pctl_request *r, uint64_t *n)
{
	uint64_t n_bytes;
	const uint8_t *bytes = pctl_request_bytes(r, &n_bytes);
	size_t at = 1;

	*n = 0;
	if (bytes == NULL || r->kind != PCTL_MSG_EXECUTE ||
	    !pctl_wire_varint(bytes, (size_t)n_bytes, &at, n))
		return NULL;
	return bytes + at;
}

#define TAG_OF(kind) ((uint64_t)(kind) << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
#define AUTH_FIELD 20u

/* The message in the bytes of a request, with its tag: what stands beside its `auth`, which comes before kinds of a
 * greater number and behind the others. 0: there is none. */
static int message_field(const uint8_t *bytes, size_t n, size_t *from, size_t *to, uint64_t *tag)
{
	uint64_t length;
	size_t at = 0;

	do {
		*from = at;
		if (!pctl_wire_varint(bytes, n, &at, tag) ||
		    !pctl_wire_varint(bytes, n, &at, &length) || length > n - at)
			return 0;
		at += (size_t)length;
	} while (*tag == TAG_OF(AUTH_FIELD));
	*to = at;
	return 1;
}

const uint8_t *pctl_request_bare(const pctl_request *r, uint64_t *n)
{
	uint64_t n_bytes;
	const uint8_t *bytes = pctl_request_bytes(r, &n_bytes);
	size_t from = 0, to = 0;
	uint64_t tag;

	*n = 0;
	if (bytes == NULL || !message_field(bytes, (size_t)n_bytes, &from, &to, &tag))
		return NULL;
	*n = to - from;
	return bytes + from;
}

int pctl_request_tag_is(const uint8_t *bytes, uint64_t n, uint32_t kind)
{
	size_t from, to;
	uint64_t tag;

	return message_field(bytes, (size_t)n, &from, &to, &tag) && tag == TAG_OF(kind);
}

const char *pctl_request_sender(const pctl_request *r)
{
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		return r->as.upload.sender;
	case PCTL_MSG_EXECUTE:
		return r->as.execute.sender;
	case PCTL_MSG_LEDGER:
		return r->as.ledger.sender;
	case PCTL_MSG_PARAMS:
		return r->as.params.sender;
	case PCTL_MSG_NAME:
		return r->as.name.sender;
	case PCTL_MSG_CANCEL:
		return r->as.cancel.sender;
	case PCTL_MSG_LINK:
		return r->as.link.sender;
	case PCTL_MSG_VERDICT:
		return r->as.verdict.sender;
	case PCTL_MSG_KEYS:
		return r->as.keys.sender;
	case PCTL_MSG_ROLE:
		return r->as.role.sender;
	case PCTL_MSG_BLOB:
		return r->as.blob.sender;
	case PCTL_MSG_CONTRACT:
		return r->as.contract.sender;
	case PCTL_MSG_CALL:
		return r->as.call.sender;
	case PCTL_MSG_STATEMENT:
		return r->as.statement.sender;
	default:
		return NULL;
	}
}

static pctl_status bare_bytes(const pctl_request *r, const pctl_call *call, uint8_t **made,
			      const uint8_t **out, uint64_t *n)
{
	pctl_request bare = *r;

	*made = NULL;
	*out = pctl_request_bare(r, n);
	if (*out != NULL)
		return PCTL_OK;
	memset(&bare.auth, 0, sizeof(bare.auth));
	return pctl_request_encode(&bare, call, made, n) == PCTL_OK ? (*out = *made, PCTL_OK)
								    : PCTL_E_INVALID;
}

pctl_status pctl_request_signed(const pctl_request *r, const pctl_call *call, uint8_t **out,
				uint64_t *n_out)
{
	static const char domain[] = "pipectl message 1";
	const uint64_t n_head = sizeof(domain) + PCTL_DIGEST_BYTES + 16;
	const uint8_t *bytes = NULL;
	uint8_t *made, *to;
	uint64_t n = 0;
	pctl_status status = bare_bytes(r, call, &made, &bytes, &n);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	to = malloc(n_head + n);
	if (to == NULL) {
		free(made);
		return pctl_no_memory(call, "a message");
	}
	memcpy(to, domain, sizeof(domain));
	memcpy(to + sizeof(domain), r->auth.chain.data, PCTL_DIGEST_BYTES);
	pctl_le_put(to + n_head - 16, r->auth.nonce, 8);
	pctl_le_put(to + n_head - 8, r->auth.expiry, 8);
	memcpy(to + n_head, bytes, n);
	free(made);
	*out = to;
	*n_out = n_head + n;
	return PCTL_OK;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static uint32_t unknown_tag(const ProtobufCMessage *m);

/* In the messages of one field. */
static uint32_t unknown_within(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	const uint8_t *base = (const uint8_t *)m;
	ProtobufCMessage *one, *const *list;
	uint32_t which, tag = 0;
	size_t n;

	if (f->label == PROTOBUF_C_LABEL_REPEATED) {
		memcpy(&n, base + f->quantifier_offset, sizeof(n));
		memcpy(&list, base + f->offset, sizeof(list));
		for (size_t i = 0; i < n && tag == 0; i++)
			tag = unknown_tag(list[i]);
		return tag;
	}
	if ((f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
		memcpy(&which, base + f->quantifier_offset, sizeof(which));
		if (which != f->id)
			return 0;
	}
	memcpy(&one, base + f->offset, sizeof(one));
	return one == NULL ? 0 : unknown_tag(one);
}

/* The number of the first unknown field anywhere, 0 when there is none. */
static uint32_t unknown_tag(const ProtobufCMessage *m)
{
	uint32_t tag = 0;

	if (m->n_unknown_fields != 0)
		return m->unknown_fields[0].tag;
	for (unsigned i = 0; i < m->descriptor->n_fields && tag == 0; i++)
		if (m->descriptor->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			tag = unknown_within(m, &m->descriptor->fields[i]);
	return tag;
}

static pctl_status check_canonical(const ProtobufCMessageDescriptor *type, const void *bytes,
				   uint64_t n, const pctl_call *call)
{
	size_t at;

	return pctl_wire_is_canonical(type, bytes, (size_t)n, &at)
		       ? PCTL_OK
		       : pctl_refuse(
				 call, PC5783_MESSAGE_CANONICAL,
				 "the field at byte %llu of the message is not in the canonical "
				 "encoding: fields ascending, none twice, no defaults, shortest "
				 "numbers",
				 (unsigned long long)at);
}

/* Everything up to the plain struct; *out owns what was made. */
static pctl_status open_message(const ProtobufCMessageDescriptor *type, const void *bytes,
				uint64_t n, const pctl_call *call, struct owner **out)
{
	struct owner *o;
	uint32_t tag;

	*out = NULL;
	if (n > PCTL_MESSAGE_MAX)
		return too_long(n, call);
	o = calloc(1, sizeof(*o));
	if (o == NULL || (o->arena = pctl_arena_create()) == NULL) {
		free(o);
		return pctl_no_memory(call, "a message");
	}
	*out = o;
	o->pb = protobuf_c_message_unpack(type, NULL, (size_t)n, bytes);
	if (o->pb == NULL)
		return pctl_refuse(call, PC5781_MESSAGE_WIRE, "these %llu bytes are no %s",
				   (unsigned long long)n, type->short_name);
	tag = unknown_tag(o->pb);
	if (tag != 0)
		return pctl_refuse(call, PC5782_MESSAGE_UNKNOWN, "field %u is unknown here", tag);
	return check_canonical(type, bytes, n, call);
}

static void close_message(struct owner *o)
{
	if (o == NULL)
		return;
	if (o->pb != NULL)
		protobuf_c_message_free_unpacked(o->pb, NULL);
	pctl_arena_destroy(o->arena);
	free(o->bytes);
	free(o);
}

static pctl_status keep_bytes(struct owner *o, const void *bytes, uint64_t n, const pctl_call *call)
{
	o->bytes = malloc((size_t)n + 1);
	if (o->bytes == NULL)
		return pctl_no_memory(call, "a message");
	if (n != 0)
		memcpy(o->bytes, bytes, (size_t)n);
	o->n_bytes = n;
	return PCTL_OK;
}

pctl_status pctl_request_decode(const void *bytes, uint64_t n, const pctl_call *call,
				pctl_request *out)
{
	struct owner *o;
	pctl_status status = open_message(&gpu__request__descriptor, bytes, n, call, &o);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_request_from_pb((const Gpu__Request *)(const void *)o->pb, o->arena,
					      call, out);
	if (status == PCTL_OK)
		status = pctl_request_check(out, call);
	if (status == PCTL_OK)
		status = keep_bytes(o, bytes, n, call);
	if (status == PCTL_OK) {
		out->owner = o;
		return PCTL_OK;
	}
	close_message(o);
	memset(out, 0, sizeof(*out));
	return status;
}

pctl_status pctl_response_decode(const void *bytes, uint64_t n, const pctl_call *call,
				 pctl_response *out)
{
	struct owner *o;
	pctl_status status = open_message(&gpu__response__descriptor, bytes, n, call, &o);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_response_from_pb((const Gpu__Response *)(const void *)o->pb, o->arena,
					       call, out);
	if (status == PCTL_OK)
		status = pctl_response_check(out, call);
	if (status == PCTL_OK) {
		out->owner = o;
		return PCTL_OK;
	}
	close_message(o);
	memset(out, 0, sizeof(*out));
	return status;
}

void pctl_request_destroy(pctl_request *r)
{
	close_message(r->owner);
	memset(r, 0, sizeof(*r));
}

void pctl_response_destroy(pctl_response *r)
{
	close_message(r->owner);
	memset(r, 0, sizeof(*r));
}

pctl_arena *pctl_response_arena(pctl_response *r)
{
	struct owner *o = calloc(1, sizeof(*o));

	if (o == NULL || (o->arena = pctl_arena_create()) == NULL) {
		free(o);
		return NULL;
	}
	r->owner = o;
	return o->arena;
}

/* ---- the id of a job ---------------------------------------------------------------------- */

pctl_status pctl_job_id(const void *message, uint64_t n, uint64_t height, uint64_t sequence,
			const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	static const char domain[] = "pipectl job-id 1";
	uint8_t head[sizeof(domain) + 24];
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(call, &h);

	memset(out, 0, PCTL_DIGEST_BYTES);
	memcpy(head, domain, sizeof(domain));
	pctl_le_put(head + sizeof(domain), height, 8);
	pctl_le_put(head + sizeof(domain) + 8, sequence, 8);
	pctl_le_put(head + sizeof(domain) + 16, n, 8);
	if (status == PCTL_OK)
		status = pctl_hasher_update(h, head, sizeof(head));
	if (status == PCTL_OK && n != 0)
		status = pctl_hasher_update(h, message, n);
	return pctl_hasher_end(h, status, out);
}
