/* Blobs by the beginning of their CID, as a person writes it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cas/store.h"

#define PREFIX "bafkrei" /* what all CIDs here begin with: version, codec and hash */
#define SHOWN 6u

int pctl_cid_is_short(const char *text)
{
	size_t n = strlen(text);

	return n >= PCTL_CID_SHORT_LEAST && n + 1 < PCTL_CID_TEXT_SIZE &&
	       strncmp(text, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz234567")] == '\0';
}

typedef struct search {
	const char *text;
	pctl_cid first;
	uint64_t n;
	char list[SHOWN * PCTL_CID_TEXT_SIZE];
	size_t n_list;
} search;

/* The store lists in the order of texts, so that what is shown is the same every time. */
static int visit(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	char text[PCTL_CID_TEXT_SIZE];
	search *s = ctx;

	(void)n_bytes;
	pctl_cid_format(cid, text);
	if (strncmp(text, s->text, strlen(s->text)) != 0)
		return 0;
	if (s->n++ == 0)
		s->first = *cid;
	if (s->n <= SHOWN)
		s->n_list += (size_t)snprintf(s->list + s->n_list, sizeof(s->list) - s->n_list,
					      "%s%s", s->n == 1 ? "" : " ", text);
	return 0;
}

pctl_status pctl_store_find(pctl_store *store, const char *text, const pctl_call *call,
			    pctl_cid *out)
{
	search s = {.text = text};
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (!pctl_cid_is_short(text))
		return pctl_cid_read(text, call, out);
	status = pctl_store_list(store, call, visit, &s);
	if (status != PCTL_OK)
		return status;
	if (s.n == 0)
		return pctl_refuse(call, PC5004_CAS_ABSENT, "no blob in the store begins with %s",
				   text);
	if (s.n > 1)
		return pctl_refuse_at(call, PC5013_CAS_AMBIGUOUS, NULL,
				      "write more of the one that is meant",
				      "%" PRIu64 " blobs begin with %s: %s%s", s.n, text, s.list,
				      s.n > SHOWN ? " .." : "");
	*out = s.first;
	return PCTL_OK;
}
