/* One item of deterministic CBOR (RFC 8949 section 4.2) at a time, read with libcbor and written. Only the items a
 * uniform has are known: no tags, null, undefined or indefinite lengths. Private to uniform*.c. */
#ifndef PIPECTL_CHAIN_MESSAGES_CBOR_ITEM_H
#define PIPECTL_CHAIN_MESSAGES_CBOR_ITEM_H

#include "foundation/base/str.h"
#include "pipectl/host.h"

enum {
	PCTL_CBOR_UNSIGNED = 1,
	PCTL_CBOR_NEGATIVE, /* value is -1 - the number */
	PCTL_CBOR_BYTES,
	PCTL_CBOR_TEXT,
	PCTL_CBOR_ARRAY,
	PCTL_CBOR_MAP,
	PCTL_CBOR_BOOL,
	PCTL_CBOR_FLOAT, /* value: the bits as f32; of a wider one meaningless */
	PCTL_CBOR_OTHER	 /* tag, null, undefined, break */
};

typedef struct pctl_cbor_item {
	uint32_t kind;
	uint32_t is_wide;    /* a float that f32 cannot hold */
	uint64_t value;	     /* number, 0 or 1, items of an array, pairs of a map, bits */
	const uint8_t *text; /* of text and bytes, inside the input; `value` of them */
	size_t at;	     /* offset of the item */
} pctl_cbor_item;

typedef struct pctl_cbor_reader {
	const uint8_t *data;
	size_t n, at;
} pctl_cbor_reader;

/* The next item: 0 and *out, or the code of what is wrong with it (PC5761 to PC5764); out->at is set in any case. Of an
 * array or map only the head is read. */
uint32_t pctl_cbor_read(pctl_cbor_reader *r, pctl_cbor_item *out);

const char *pctl_cbor_kind_name(uint32_t kind);

/* Write one head or item, in its shortest form. A NaN is written as the one NaN. */
void pctl_cbor_put_unsigned(pctl_str_buf *s, uint64_t value);
void pctl_cbor_put_negative(pctl_str_buf *s, uint64_t value); /* the number -1 - value */
void pctl_cbor_put_text(pctl_str_buf *s, const char *text, size_t n);
void pctl_cbor_put_array(pctl_str_buf *s, size_t n);
void pctl_cbor_put_map(pctl_str_buf *s, size_t n);
void pctl_cbor_put_bool(pctl_str_buf *s, int value);
void pctl_cbor_put_float(pctl_str_buf *s, uint32_t bits);

/* Between the bits of f16 and f32, exactly: to_half is 0 when f16 cannot hold the number, or it is a NaN. */
uint32_t pctl_cbor_half_bits(uint16_t half);
int pctl_cbor_to_half(uint32_t bits, uint16_t *out);
#define PCTL_CBOR_NAN 0x7fc00000u

#endif
