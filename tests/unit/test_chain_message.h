/* What tests of messages share: a message that passes both ways, and one that is refused for one field. */
#ifndef PIPECTL_TESTS_CHAIN_MESSAGE_H
#define PIPECTL_TESTS_CHAIN_MESSAGE_H

#include "main.h"

#include "chain/messages/message.h"
#include "test_chain_bytes.h"

#define CID "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" /* of no bytes */
#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LONG65 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void request_passes(const pctl_request *r)
{
	uint8_t *bytes, *again;
	uint64_t n, n_again;
	pctl_request back;

	forget();
	assert_int_equal(pctl_request_encode(r, &call, &bytes, &n), PCTL_OK);
	assert_int_equal(pctl_request_decode(bytes, n, &call, &back), PCTL_OK);
	assert_int_equal(pctl_request_encode(&back, &call, &again, &n_again), PCTL_OK);
	assert_int_equal(n, n_again);
	assert_memory_equal(bytes, again, n);
	assert_int_equal(n_refused, 0);
	pctl_request_destroy(&back);
	free(bytes);
	free(again);
}

static void response_passes(const pctl_response *r)
{
	uint8_t *bytes, *again;
	uint64_t n, n_again;
	pctl_response back;

	forget();
	assert_int_equal(pctl_response_encode(r, &call, &bytes, &n), PCTL_OK);
	assert_int_equal(pctl_response_decode(bytes, n, &call, &back), PCTL_OK);
	assert_int_equal(pctl_response_encode(&back, &call, &again, &n_again), PCTL_OK);
	assert_int_equal(n, n_again);
	assert_memory_equal(bytes, again, n);
	assert_int_equal(n_refused, 0);
	pctl_response_destroy(&back);
	free(bytes);
	free(again);
}

/* Exactly this one complaint, and it names the field. */
static void only(uint32_t code, const char *field, pctl_status status)
{
	if (n_refused != 1 || refused[0] != code || strstr(words, field) != words)
		print_error("%s: PC%u x %u, not PC%u: %s\n", field, refused[0], n_refused, code,
			    words);
	assert_int_equal(n_refused, 1);
	assert_int_equal(refused[0], code);
	assert_ptr_equal(strstr(words, field), words);
	assert_int_equal(status, pctl_code_status(code));
}

/* Change one member of a good message and expect one refusal. */
#define WRONG_REQUEST(make, change, code, field)                               \
	do {                                                                   \
		pctl_request m = make;                                         \
		uint8_t *bytes;                                                \
		uint64_t n;                                                    \
		m.as.change;                                                   \
		forget();                                                      \
		only(code, field, pctl_request_encode(&m, &call, &bytes, &n)); \
		assert_null(bytes);                                            \
	} while (0)

#define WRONG_RESPONSE(make, change, code, field)                               \
	do {                                                                    \
		pctl_response m = make;                                         \
		uint8_t *bytes;                                                 \
		uint64_t n;                                                     \
		m.as.change;                                                    \
		forget();                                                       \
		only(code, field, pctl_response_encode(&m, &call, &bytes, &n)); \
		assert_null(bytes);                                             \
	} while (0)

#endif
