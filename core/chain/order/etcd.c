/* Requests to an etcd cluster over HTTP; see etcd.h. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "chain/order/etcd_private.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"

#define SCHEME "etcd://"
#define CONNECT_MS 1000L
#define URL_SIZE 512u

struct pctl_etcd {
	CURL *curl;
	char *members[PCTL_ETCD_MEMBERS_MAX];
	uint32_t n, at; /* the member that answered last */
};

/* ---- members ------------------------------------------------------------------------------- */

static pctl_status no_address(const char *url, const pctl_call *call)
{
	return pctl_refuse(call, PC6180_ORDER_ADDRESS,
			   "\"%s\": wanted etcd://HOST:PORT, and further HOST:PORT behind commas",
			   url);
}

/* Letters, digits, dots and hyphens, or an address in brackets; a colon and a port. */
static int is_member(const char *text, size_t n)
{
	size_t host = n;
	uint64_t port;

	while (host > 0 && text[host - 1] != ':')
		host--;
	if (host < 2 || n >= URL_SIZE - 64u || !pctl_num_parse_u64(text + host, n - host, &port) ||
	    port == 0 || port > 65535)
		return 0;
	for (size_t i = 0; i + 1 < host; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-[]:",
			   text[i]) == NULL)
			return 0;
	return 1;
}

static pctl_status read_members(pctl_etcd *e, const char *url, const pctl_call *call)
{
	const char *at = url + strlen(SCHEME);

	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
		return no_address(url, call);
	for (;;) {
		const size_t n = strcspn(at, ",");

		if (e->n == PCTL_ETCD_MEMBERS_MAX || !is_member(at, n))
			return no_address(url, call);
		e->members[e->n] = strndup(at, n);
		if (e->members[e->n++] == NULL)
			return pctl_no_memory(call, "an address");
		if (at[n] == '\0')
			return PCTL_OK;
		at += n + 1;
	}
}

pctl_status pctl_etcd_open(const char *url, const pctl_call *call, pctl_etcd **out)
{
	pctl_etcd *e = calloc(1, sizeof(*e));
	pctl_status status;

	*out = NULL;
	if (e == NULL)
		return pctl_no_memory(call, "an ordering service");
	status = read_members(e, url, call);
	if (status == PCTL_OK) {
		e->curl = curl_easy_init();
		if (e->curl == NULL)
			status = pctl_no_memory(call, "an ordering service");
	}
	if (status == PCTL_OK)
		*out = e;
	else
		pctl_etcd_close(e);
	return status;
}

void pctl_etcd_close(pctl_etcd *e)
{
	if (e == NULL)
		return;
	if (e->curl != NULL)
		curl_easy_cleanup(e->curl);
	for (uint32_t i = 0; i < e->n; i++)
		free(e->members[i]);
	free(e);
}

/* ---- one request --------------------------------------------------------------------------- */

static size_t keep(char *bytes, size_t size, size_t n, void *to)
{
	pctl_str_buf *b = to;

	if (n * size > PCTL_ETCD_ANSWER_MAX - b->n)
		return 0;
	pctl_str_add_n(b, bytes, n * size);
	return b->failed ? 0 : n * size;
}

static int ask_whether(void *call, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return (int)pctl_is_cancelled(call);
}

/* The HTTP status, 0: there was no answer; why in `why`. */
static long post(pctl_etcd *e, const char *member, const char *path, const char *body,
		 const pctl_call *call, pctl_str_buf *answer, char why[CURL_ERROR_SIZE])
{
	char url[URL_SIZE];
	long code = 0;
	CURLcode done;

	snprintf(url, sizeof(url), "http://%s%s", member, path);
	why[0] = '\0';
	curl_easy_reset(e->curl);
	curl_easy_setopt(e->curl, CURLOPT_URL, url);
	curl_easy_setopt(e->curl, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(e->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(e->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e->curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(e->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
	curl_easy_setopt(e->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(e->curl, CURLOPT_TIMEOUT_MS, (long)PCTL_ETCD_TIMEOUT_MS);
	curl_easy_setopt(e->curl, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(e->curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(e->curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(e->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(e->curl, CURLOPT_XFERINFOFUNCTION, ask_whether);
	curl_easy_setopt(e->curl, CURLOPT_XFERINFODATA, (void *)(uintptr_t)call);
	done = curl_easy_perform(e->curl);
	if (done == CURLE_OK)
		curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &code);
	else if (why[0] == '\0')
		snprintf(why, CURL_ERROR_SIZE, "%s", curl_easy_strerror(done));
	return code;
}

pctl_status pctl_etcd_strange(const pctl_call *call)
{
	return pctl_refuse(call, PC6181_ORDER_SERVICE, "an answer is not as etcd's are");
}

#define NO_ROOM 8 /* gRPC's RESOURCE_EXHAUSTED */

/* What etcd says of a request that it did not do. 1: it has no room. */
static int words_of(const pctl_str_buf *answer, long code, char why[CURL_ERROR_SIZE])
{
	cJSON *said = answer->data == NULL ? NULL : cJSON_ParseWithLength(answer->data, answer->n);
	const cJSON *message = cJSON_GetObjectItemCaseSensitive(said, "message");
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(said, "code");
	const char *words = cJSON_IsString(message) ? message->valuestring : "";
	const int full = cJSON_IsNumber(number) && number->valueint == NO_ROOM &&
			 strstr(words, "space exceeded") != NULL;

	snprintf(why, CURL_ERROR_SIZE, "HTTP status %ld: %.200s", code, words);
	cJSON_Delete(said);
	return full;
}

pctl_status pctl_etcd_ask(pctl_etcd *e, const char *path, cJSON *question, const pctl_call *call,
			  cJSON **out)
{
	char *body = question == NULL ? NULL : cJSON_PrintUnformatted(question);
	char why[CURL_ERROR_SIZE] = "";
	pctl_status status = PCTL_OK;
	int full = 0;

	*out = NULL;
	cJSON_Delete(question);
	if (body == NULL)
		return pctl_no_memory(call, "a request");
	for (uint32_t i = 0; *out == NULL && i < e->n && !pctl_is_cancelled(call); i++) {
		pctl_str_buf answer = PCTL_STR_BUF_INIT;
		const uint32_t member = (e->at + i) % e->n;
		const long code = post(e, e->members[member], path, body, call, &answer, why);

		if (code == 200 && answer.data != NULL) {
			*out = cJSON_ParseWithLength(answer.data, answer.n);
			e->at = member;
		} else if (code != 0) {
			full = words_of(&answer, code, why);
		}
		pctl_str_drop(&answer);
		if (code == 200 && *out == NULL) {
			status = pctl_etcd_strange(call);
			break;
		}
	}
	free(body);
	if (*out != NULL || status != PCTL_OK)
		return status;
	if (pctl_is_cancelled(call))
		return PCTL_E_CANCELLED;
	return pctl_refuse(call, full ? PC6188_ORDER_SPACE : PC6181_ORDER_SERVICE, "%s", why);
}
