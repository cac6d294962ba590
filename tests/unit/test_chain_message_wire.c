/* The canonical form seen on the bytes is the one that packing gives: for messages of every kind, and for each of them
 * with bytes changed, doubled, dropped and moved, both say the same. */
#include "main.h"

#include <messages.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "chain/messages/message_wire.h"
#include "test_chain_bytes.h"

/* ---- the oracle ---------------------------------------------------------------------------- */

static int has_unknown(const ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		const uint8_t *base = (const uint8_t *)m;
		ProtobufCMessage *one, **list;
		uint32_t which = f->id;
		size_t n;

		if (f->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			memcpy(&n, base + f->quantifier_offset, sizeof(n));
			memcpy(&list, base + f->offset, sizeof(list));
			for (size_t k = 0; k < n; k++)
				if (has_unknown(list[k]))
					return 1;
			continue;
		}
		if ((f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
			memcpy(&which, base + f->quantifier_offset, sizeof(which));
		memcpy(&one, base + f->offset, sizeof(one));
		if (which == f->id && one != NULL && has_unknown(one))
			return 1;
	}
	return m->n_unknown_fields != 0;
}

/* -1: no message, or one with unknown fields, which nobody asks about. */
static int packs_to_itself(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(type, NULL, n, bytes);
	int is_same = -1;
	uint8_t *again;

	if (m != NULL && !has_unknown(m)) {
		again = malloc(protobuf_c_message_get_packed_size(m) + 1);
		assert_non_null(again);
		is_same = protobuf_c_message_pack(m, again) == n && memcmp(again, bytes, n) == 0;
		free(again);
	}
	if (m != NULL)
		protobuf_c_message_free_unpacked(m, NULL);
	return is_same;
}

/* How often either said yes and no. */
static uint32_t seen[2];

static void compare(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n)
{
	const int want = packs_to_itself(type, bytes, n);
	size_t at = 0;
	const int got = pctl_wire_is_canonical(type, bytes, n, &at);

	if (want < 0)
		return;
	if (got != want) {
		for (size_t i = 0; i < n; i++)
			print_error("%02x", bytes[i]);
		print_error(": packing says %d, the bytes %d at %zu\n", want, got, at);
	}
	assert_int_equal(got, want);
	assert_true(at <= n);
	seen[want]++;
}

/* ---- messages to begin with ---------------------------------------------------------------- */

/* Every field of an upload, an execute, a proposal, and a response with an enum, ticks and lists. */
static const char *const requests[] = {
	"0a1c0a03616e6e1204666e20661a01642201612202626222002a03626166",
	"12540a01611201621a016322070801108002180128904e3209080110021a03616263320510021a016438ffffff"
	"ffffffffffff014201754880800452016a52016b5a016c62050a016e100562030a016f6a046d61696e",
	"1a030a0161",
	"2205080712016e",
	"2a0308ac02",
	"2a00",
	"320a0a016110011a01622007",
	"3a110a016110012003280132060a0170120171",
	"42080a01611001220163",
	"62040a020000",
	"6a030a0163"};
static const char *const responses[] = {
	"0a1d0a016312180a0c1007180120082804300258030a001009180120082807",
	"1a0f08031201631805208080012a026e6f",
	"1a0b08ffffffffffffffffff01",
	"2216080110021a01722201632a016a2a016b320038056001",
	"7a06080712026e6f",
	"320408011002"};

static uint64_t seed = 1;

static uint32_t below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

/* One change of what stands there, which never grows by more than 4 bytes. */
static size_t change(uint8_t *bytes, size_t n)
{
	static const uint8_t odd[] = {0x00, 0x01, 0x02, 0x7f, 0x80, 0x81,
				      0xff, 0x08, 0x0a, 0x10, 0x12};
	const size_t at = n == 0 ? 0 : below(n), more = 1 + below(4);

	switch (n == 0 ? 0 : below(6)) {
	case 0: /* one more byte */
		memmove(bytes + at + 1, bytes + at, n - at);
		bytes[at] = odd[below(sizeof(odd))];
		return n + 1;
	case 1:
		bytes[at] = odd[below(sizeof(odd))];
		return n;
	case 2:
		bytes[at] ^= (uint8_t)(1u << below(8));
		return n;
	case 3:
		memmove(bytes + at, bytes + at + 1, n - at - 1);
		return n - 1;
	case 4: /* a stretch twice, and the length before it made right */
		if (at + more > n)
			return n;
		memmove(bytes + at + more, bytes + at, n - at);
		bytes[1] = (uint8_t)(bytes[1] + more);
		return n + more;
	default: /* a number with a byte more, and the length before it made right */
		memmove(bytes + at + 1, bytes + at, n - at);
		bytes[at] |= 0x80;
		bytes[at + 1] = 0;
		bytes[1]++;
		return n + 1;
	}
}

static void vary(const ProtobufCMessageDescriptor *type, const char *hex)
{
	size_t n, m;
	uint8_t *bytes = unhex(hex, &n), buf[512], *exact;

	assert_int_equal(packs_to_itself(type, bytes, n), 1);
	compare(type, bytes, n);
	for (uint32_t round = 0; round < 40000; round++) {
		memcpy(buf, bytes, n);
		m = n;
		for (uint32_t k = 1 + below(3); k > 0; k--)
			m = change(buf, m);
		exact = malloc(m +
			       1); /* of its own size, so that a sanitizer sees a read behind it */
		assert_non_null(exact);
		exact = realloc(exact, m == 0 ? 1 : m);
		assert_non_null(exact);
		memcpy(exact, buf, m);
		compare(type, exact, m);
		free(exact);
	}
	free(bytes);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_chain_message_wire__the_bytes_say_what_packing_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		vary(&gpu__request__descriptor, requests[i]);
	for (size_t i = 0; i < sizeof(responses) / sizeof(*responses); i++)
		vary(&gpu__response__descriptor, responses[i]);
	assert_true(seen[0] > 10000 && seen[1] > 10000);
}

/* What changes at random hardly meet: numbers beyond their type, which are cut where they are read, and a bool that is no
 * varint. */
static void test_chain_message_wire__numbers_are_those_of_their_type(void **state)
{
	static const char *const wrong[] = {"32 06 10 81 80 80 80 10", /* a u32 of 33 bits */
					    "32 02 10 00",	       /* 0, which is left out */
					    "3A 05 2D 01 00 00 00",    /* a bool as 4 bytes */
					    "3A 03 28 81 00",	       /* in two bytes */
					    "3A 02 28 02"};	       /* neither 0 nor 1 */
	static const char status[] = "1A 06 08 FF FF FF FF 0F";	       /* -1 as a u32 */
	size_t n, at;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint8_t *bytes = unhex(wrong[i], &n);

		assert_int_equal(packs_to_itself(&gpu__request__descriptor, bytes, n), 0);
		assert_int_equal(pctl_wire_is_canonical(&gpu__request__descriptor, bytes, n, &at),
				 0);
		assert_int_equal(at, 2);
		free(bytes);
	}
	uint8_t *bytes = unhex(status, &n);
	assert_int_equal(packs_to_itself(&gpu__response__descriptor, bytes, n), 0);
	assert_int_equal(pctl_wire_is_canonical(&gpu__response__descriptor, bytes, n, &at), 0);
	free(bytes);
}

/* Types and labels that the pass over the bytes does not know would be refused for ever: messages.proto has none. */
static void known_types(const ProtobufCMessageDescriptor *type)
{
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &type->fields[i];
		const int is_list = f->label == PROTOBUF_C_LABEL_REPEATED;

		assert_true(is_list || f->label == PROTOBUF_C_LABEL_NONE);
		switch (f->type) {
		case PROTOBUF_C_TYPE_MESSAGE:
			known_types(f->descriptor);
			break;
		case PROTOBUF_C_TYPE_STRING:
		case PROTOBUF_C_TYPE_BYTES:
			break;
		case PROTOBUF_C_TYPE_BOOL:
		case PROTOBUF_C_TYPE_ENUM:
		case PROTOBUF_C_TYPE_UINT32:
		case PROTOBUF_C_TYPE_UINT64:
			assert_false(is_list);
			break;
		default:
			fail_msg("%s.%s has a type of its own", type->name, f->name);
		}
	}
}

static void test_chain_message_wire__no_message_has_another_type(void **state)
{
	(void)state;
	known_types(&gpu__request__descriptor);
	known_types(&gpu__response__descriptor);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_message_wire__the_bytes_say_what_packing_says),
		PCTL_TEST(test_chain_message_wire__numbers_are_those_of_their_type),
		PCTL_TEST(test_chain_message_wire__no_message_has_another_type))
