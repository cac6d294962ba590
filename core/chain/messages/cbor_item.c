/* Reading and writing items of CBOR: libcbor takes heads apart and makes them; that a head is the shortest is checked
 * here. Floats are bits throughout, so that no arithmetic of the machine takes part. */
#include "chain/messages/cbor_item.h"

#include <cbor.h>
#include <string.h>

#include "foundation/base/bytes.h"

/* ---- floats ------------------------------------------------------------------------------- */

uint32_t pctl_cbor_half_bits(uint16_t half)
{
	const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
	uint32_t exponent = (half >> 10) & 31u, mantissa = half & 0x3ffu;

	if (exponent == 31)
		return sign | 0x7f800000u | mantissa << 13;
	if (exponent == 0 && mantissa == 0)
		return sign;
	if (exponent == 0) {
		for (exponent = 1; (mantissa & 0x400u) == 0; exponent--)
			mantissa <<= 1;
		mantissa &= 0x3ffu;
	}
	return sign | (exponent + 112u) << 23 | mantissa << 13;
}

int pctl_cbor_to_half(uint32_t bits, uint16_t *out)
{
	const uint32_t sign = bits >> 16 & 0x8000u, mantissa = bits & 0x7fffffu;
	const int exponent = (int)(bits >> 23 & 0xffu) - 127;
	uint32_t half;

	*out = 0;
	if ((bits & 0x7fffffffu) == 0) {
		half = 0;
	} else if (exponent == 128) {
		if (mantissa != 0)
			return 0;
		half = 0x7c00u;
	} else if (exponent > 15 || exponent < -24) {
		return 0;
	} else if (exponent >= -14) {
		if ((mantissa & 0x1fffu) != 0)
			return 0;
		half = (uint32_t)(exponent + 15) << 10 | mantissa >> 13;
	} else {
		const uint32_t whole = mantissa | 0x800000u, shift = (uint32_t)(-1 - exponent);

		if ((whole & ((1u << shift) - 1)) != 0)
			return 0;
		half = whole >> shift;
	}
	*out = (uint16_t)(sign | half);
	return 1;
}

/* 1 when f32 holds the number whose f64 bits these are. */
static int fits_single(uint64_t bits)
{
	const uint64_t mantissa = bits & 0xfffffffffffffull;
	const int exponent = (int)(bits >> 52 & 0x7ffu) - 1023;

	if ((bits << 1) == 0 || (exponent == 1024 && mantissa == 0))
		return 1;
	if (exponent > 127 || exponent < -149)
		return 0;
	if (exponent >= -126)
		return (mantissa & 0x1fffffffu) == 0;
	return ((mantissa | 1ull << 52) & ((1ull << (29 - 126 - exponent)) - 1)) == 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct seen {
	pctl_cbor_item *item;
	uint32_t is_indefinite, is_length; /* is_length: the head's number is `value` */
	uint32_t float_bytes;
};

static void number(struct seen *s, uint32_t kind, uint64_t value)
{
	s->item->kind = kind;
	s->item->value = value;
	s->is_length = 1;
}

static void on_u8(void *ctx, uint8_t v)
{
	number(ctx, PCTL_CBOR_UNSIGNED, v);
}
static void on_u16(void *ctx, uint16_t v)
{
	number(ctx, PCTL_CBOR_UNSIGNED, v);
}
static void on_u32(void *ctx, uint32_t v)
{
	number(ctx, PCTL_CBOR_UNSIGNED, v);
}
static void on_u64(void *ctx, uint64_t v)
{
	number(ctx, PCTL_CBOR_UNSIGNED, v);
}
static void on_n8(void *ctx, uint8_t v)
{
	number(ctx, PCTL_CBOR_NEGATIVE, v);
}
static void on_n16(void *ctx, uint16_t v)
{
	number(ctx, PCTL_CBOR_NEGATIVE, v);
}
static void on_n32(void *ctx, uint32_t v)
{
	number(ctx, PCTL_CBOR_NEGATIVE, v);
}
static void on_n64(void *ctx, uint64_t v)
{
	number(ctx, PCTL_CBOR_NEGATIVE, v);
}
static void on_bytes(void *ctx, cbor_data data, size_t n)
{
	number(ctx, PCTL_CBOR_BYTES, n);
	((struct seen *)ctx)->item->text = data;
}
static void on_text(void *ctx, cbor_data data, size_t n)
{
	number(ctx, PCTL_CBOR_TEXT, n);
	((struct seen *)ctx)->item->text = data;
}
static void on_array(void *ctx, size_t n)
{
	number(ctx, PCTL_CBOR_ARRAY, n);
}
static void on_map(void *ctx, size_t n)
{
	number(ctx, PCTL_CBOR_MAP, n);
}
static void on_bool(void *ctx, bool v)
{
	((struct seen *)ctx)->item->kind = PCTL_CBOR_BOOL;
	((struct seen *)ctx)->item->value = v;
}
static void on_half(void *ctx, float v)
{
	(void)v;
	((struct seen *)ctx)->float_bytes = 2;
}
static void on_single(void *ctx, float v)
{
	(void)v;
	((struct seen *)ctx)->float_bytes = 4;
}
static void on_double(void *ctx, double v)
{
	(void)v;
	((struct seen *)ctx)->float_bytes = 8;
}
static void on_tag(void *ctx, uint64_t v)
{
	number(ctx, PCTL_CBOR_OTHER, v);
}
static void on_other(void *ctx)
{
	(void)ctx;
}
static void on_indefinite(void *ctx)
{
	((struct seen *)ctx)->is_indefinite = 1;
}

static const struct cbor_callbacks callbacks = {
	.uint8 = on_u8,
	.uint16 = on_u16,
	.uint32 = on_u32,
	.uint64 = on_u64,
	.negint8 = on_n8,
	.negint16 = on_n16,
	.negint32 = on_n32,
	.negint64 = on_n64,
	.byte_string_start = on_indefinite,
	.byte_string = on_bytes,
	.string = on_text,
	.string_start = on_indefinite,
	.indef_array_start = on_indefinite,
	.array_start = on_array,
	.indef_map_start = on_indefinite,
	.map_start = on_map,
	.tag = on_tag,
	.float2 = on_half,
	.float4 = on_single,
	.float8 = on_double,
	.undefined = on_other,
	.null = on_other,
	.boolean = on_bool,
	.indef_break = on_other,
};

static size_t head_bytes(uint64_t v)
{
	return v < 24 ? 1 : v <= 0xff ? 2 : v <= 0xffff ? 3 : v <= 0xffffffff ? 5 : 9;
}

/* The float whose n bytes follow its head; the code of what is wrong with it, or 0. */
static uint32_t read_float(const uint8_t *bytes, uint32_t n, pctl_cbor_item *out)
{
	const uint64_t bits = pctl_be_get(bytes, n);
	uint16_t half;

	out->kind = PCTL_CBOR_FLOAT;
	if (n == 8) {
		const int is_nan = (bits << 1) > 0xffe0000000000000ull;

		out->is_wide = 1;
		return is_nan || fits_single(bits) ? PC5763_UNIFORM_SHORTEST : 0;
	}
	out->value = n == 2 ? pctl_cbor_half_bits((uint16_t)bits) : bits;
	if (n == 2)
		return (bits & 0x7fffu) > 0x7c00u && bits != 0x7e00u ? PC5763_UNIFORM_SHORTEST : 0;
	return (bits & 0x7fffffffu) > 0x7f800000u || pctl_cbor_to_half((uint32_t)bits, &half)
		       ? PC5763_UNIFORM_SHORTEST
		       : 0;
}

uint32_t pctl_cbor_read(pctl_cbor_reader *r, pctl_cbor_item *out)
{
	struct seen seen = {.item = out};
	const uint8_t *at = r->data + r->at;
	struct cbor_decoder_result result;
	size_t head;

	*out = (pctl_cbor_item){.kind = PCTL_CBOR_OTHER, .at = r->at};
	if (r->at >= r->n)
		return PC5761_UNIFORM_TRUNCATED;
	result = cbor_stream_decode(at, r->n - r->at, &callbacks, &seen);
	if (result.status == CBOR_DECODER_NEDATA)
		return PC5761_UNIFORM_TRUNCATED;
	if (result.status != CBOR_DECODER_FINISHED || result.read == 0)
		return PC5762_UNIFORM_CBOR;
	r->at += result.read;
	if (seen.is_indefinite)
		return PC5764_UNIFORM_INDEFINITE;
	if (seen.float_bytes != 0)
		return read_float(at + 1, seen.float_bytes, out);
	head = out->text == NULL ? result.read : (size_t)(out->text - at);
	return seen.is_length && head != head_bytes(out->value) ? PC5763_UNIFORM_SHORTEST : 0;
}

const char *pctl_cbor_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		"",	  "an integer", "a negative integer", "bytes", "text", "an array", "a map",
		"a bool", "a float",	"another item"};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "";
}

/* ---- writing ------------------------------------------------------------------------------ */

#define HEAD_MAX 9u

static void put(pctl_str_buf *s, const unsigned char *head, size_t n)
{
	pctl_str_add_n(s, (const char *)head, n);
}

void pctl_cbor_put_unsigned(pctl_str_buf *s, uint64_t value)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_uint(value, head, sizeof(head)));
}

void pctl_cbor_put_negative(pctl_str_buf *s, uint64_t value)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_negint(value, head, sizeof(head)));
}

void pctl_cbor_put_text(pctl_str_buf *s, const char *text, size_t n)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_string_start(n, head, sizeof(head)));
	pctl_str_add_n(s, text, n);
}

void pctl_cbor_put_array(pctl_str_buf *s, size_t n)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_array_start(n, head, sizeof(head)));
}

void pctl_cbor_put_map(pctl_str_buf *s, size_t n)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_map_start(n, head, sizeof(head)));
}

void pctl_cbor_put_bool(pctl_str_buf *s, int value)
{
	unsigned char head[HEAD_MAX];

	put(s, head, cbor_encode_bool(value != 0, head, sizeof(head)));
}

/* By hand: libcbor takes a float's value, and a NaN's bits do not survive that. */
void pctl_cbor_put_float(pctl_str_buf *s, uint32_t bits)
{
	const int is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
	uint16_t half = 0x7e00u;
	unsigned char item[5] = {0xfa};
	size_t n = 5;

	for (uint32_t i = 0; i < 4; i++)
		item[1 + i] = (unsigned char)(bits >> (24 - 8 * i));
	if (is_nan || pctl_cbor_to_half(bits, &half)) {
		item[0] = 0xf9;
		item[1] = (unsigned char)(half >> 8);
		item[2] = (unsigned char)half;
		n = 3;
	}
	put(s, item, n);
}
