/* The canonical form of an encoded message, decided by one pass over the bytes along the descriptor of its type. */
#include "chain/messages/message_wire.h"

#include <string.h>

/* One message: how far it is read, and where what is read next begins. */
typedef struct reader {
	const uint8_t *bytes;
	size_t n, at;
} reader;

int pctl_wire_varint(const uint8_t *bytes, size_t n, size_t *at, uint64_t *out)
{
	uint64_t v = 0;

	for (uint32_t shift = 0; *at < n && shift < 64; shift += 7) {
		const uint8_t b = bytes[(*at)++];

		v |= (uint64_t)(b & 0x7f) << shift;
		if (b >= 0x80)
			continue;
		*out = v;
		/* The last byte says something, and no bit of the tenth is lost. */
		return (shift == 0 || b != 0) && (shift != 63 || b == 1);
	}
	return 0;
}

static int varint(reader *r, uint64_t *out)
{
	return pctl_wire_varint(r->bytes, r->n, &r->at, out);
}

static int is_message(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n,
		      size_t *at);

static int is_number(reader *r, const ProtobufCFieldDescriptor *f)
{
	uint64_t v;

	if (f->label == PROTOBUF_C_LABEL_REPEATED || !varint(r, &v) || v == 0)
		return 0;
	switch (f->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return v == 1;
	case PROTOBUF_C_TYPE_UINT32:
		return v <= UINT32_MAX;
	case PROTOBUF_C_TYPE_ENUM: /* an i32, sign-extended */
		return v <= INT32_MAX || v >= (uint64_t)(int64_t)INT32_MIN;
	default:
		return f->type == PROTOBUF_C_TYPE_UINT64;
	}
}

/* A string, bytes or a message: its length and as many bytes. */
static int is_counted(reader *r, const ProtobufCFieldDescriptor *f)
{
	const uint8_t *data;
	size_t within = 0;
	uint64_t n;

	if (!varint(r, &n) || n > r->n - r->at)
		return 0;
	data = r->bytes + r->at;
	if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
		const int is_good = is_message(f->descriptor, data, (size_t)n, &within);

		r->at += is_good ? (size_t)n : within;
		return is_good;
	}
	r->at += (size_t)n;
	if (f->type == PROTOBUF_C_TYPE_STRING && n != 0 && memchr(data, '\0', (size_t)n) != NULL)
		return 0;
	return f->label == PROTOBUF_C_LABEL_REPEATED || n != 0;
}

static int is_field(reader *r, const ProtobufCFieldDescriptor *f, uint32_t wire_type)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED && is_counted(r, f);
	default:
		return wire_type == PROTOBUF_C_WIRE_TYPE_VARINT && is_number(r, f);
	}
}

static int is_message(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n,
		      size_t *at)
{
	const ProtobufCFieldDescriptor *f, *before = NULL;
	reader r = {.bytes = bytes, .n = n};
	uint64_t tag;

	while (r.at < n) {
		*at = r.at;
		if (!varint(&r, &tag) || tag > UINT32_MAX)
			return 0;
		f = protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
		if (f == NULL)
			return 0;
		if (before != NULL &&
		    (f->id < before->id ||
		     (f->id == before->id && f->label != PROTOBUF_C_LABEL_REPEATED) ||
		     (f->flags & before->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0))
			return 0;
		if (!is_field(&r, f, (uint32_t)tag & 7)) {
			if (f->type == PROTOBUF_C_TYPE_MESSAGE)
				*at = r.at;
			return 0;
		}
		before = f;
	}
	return 1;
}

int pctl_wire_is_canonical(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n,
			   size_t *at)
{
	*at = 0;
	return is_message(type, bytes, n, at);
}
