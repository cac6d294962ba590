/* Any bytes as what an engine sends, cut at the first byte's place: frames are whole, missing or wrong whatever comes behind them, and
 * what they hold is a request that can be packed again, or refused. */
#include <stdlib.h>
#include <string.h>

#include "chain/engine/abci/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look_at(const uint8_t *body, size_t n)
{
	Abci__Request *r = NULL, *again = NULL;
	uint8_t *bytes;
	size_t size;

	if (pctl_abci_decode(body, n, NULL, &r) != PCTL_OK) {
		if (r != NULL)
			abort();
		return;
	}
	size = abci__request__get_packed_size(r);
	bytes = malloc(size + 1);
	if (bytes == NULL || abci__request__pack(r, bytes) != size ||
	    pctl_abci_decode(bytes, size, NULL, &again) != PCTL_OK ||
	    again->value_case != r->value_case)
		abort();
	pctl_abci_release(again);
	pctl_abci_release(r);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint32_t head, body, head_again, body_again;

	while (n > 0) {
		const int whole = pctl_abci_frame(data, n, &head, &body);
		const int cut = pctl_abci_frame(data, n - 1, &head_again, &body_again);
		uint8_t spelled[PCTL_ABCI_HEAD_MAX];

		/* Fewer bytes are never more of a frame, and the length has one spelling. */
		if ((whole == 0 && cut != 0) || (whole < 0 && cut > 0))
			abort();
		if (whole <= 0)
			return 0;
		if (body > PCTL_ABCI_FRAME_MAX || (size_t)head + body > n ||
		    pctl_abci_head(body, spelled) != head || memcmp(spelled, data, head) != 0)
			abort();
		look_at(data + head, body);
		data += head + body;
		n -= head + body;
	}
	return 0;
}
