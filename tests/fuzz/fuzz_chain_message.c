/* Any bytes as a request and as a response; what is accepted encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "chain/messages/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void same(pctl_status status, uint8_t *again, uint64_t n_again, const uint8_t *data,
		 size_t n)
{
	if (status != PCTL_OK || n_again != n || memcmp(again, data, n) != 0)
		abort();
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_request q;
	pctl_response r;
	uint8_t *again;
	uint64_t m;
	pctl_status status;

	if (pctl_request_decode(data, n, NULL, &q) == PCTL_OK) {
		status = pctl_request_encode(&q, NULL, &again, &m);
		same(status, again, m, data, n);
	}
	pctl_request_destroy(&q);
	if (pctl_response_decode(data, n, NULL, &r) == PCTL_OK) {
		status = pctl_response_encode(&r, NULL, &again, &m);
		same(status, again, m, data, n);
	}
	pctl_response_destroy(&r);
	return 0;
}
