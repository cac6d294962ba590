/* Refusals as clients see them: HTTP status and OpenAI's error document, whose code is ours (`pipectl explain CODE`). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/json.h"
#include "foundation/base/num.h"
#include "foundation/base/utf8.h"
#include "model/serve/request.h"

typedef struct row {
	uint32_t code, http;
	const char *type;
} row;

static const row rows[] = {
#define SERVE_REFUSAL(code, http, type) {code, http, type},
#include "model/serve/refusals.def"
#undef SERVE_REFUSAL
};

/* Codes of others: what is wrong with the request, or an internal failure here. */
static row row_of(uint32_t code)
{
	row found = {code, 500, "server_error"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return rows[i];
	switch (pctl_code_status(code)) {
	case PCTL_E_INVALID:
	case PCTL_E_UNSUPPORTED:
	case PCTL_E_LIMIT:
	case PCTL_E_NOT_FOUND:
		found = (row){code, 400, "invalid_request_error"};
		break;
	default:
		break;
	}
	return found;
}

uint32_t serve_refusal_http(uint32_t code)
{
	return row_of(code).http;
}

char *serve_refusal_document(const serve_refusal *r)
{
	char code[16];
	pctl_json j;

	snprintf(code, sizeof(code), "PC%04" PRIu32, r->code);
	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_json_key(&j, "error");
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "message", r->message);
	pctl_json_kv_string(&j, "type", row_of(r->code).type);
	pctl_json_kv_string(&j, "param", r->param[0] == '\0' ? NULL : r->param);
	pctl_json_kv_string(&j, "code", code);
	pctl_json_object_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

/* What a client sent may stand in it: cut at whole code points. */
static void keep(char *to, size_t room, const char *text)
{
	size_t n = strlen(text);

	n = n < room ? n : pctl_utf8_cut(text, room - 1);
	memcpy(to, text, n);
	to[n] = '\0';
}

int serve_refuse(serve_refusal *to, uint32_t code, const char *param, const char *fmt, ...)
{
	char words[1024];
	va_list args;

	if (to->code != 0)
		return 0;
	va_start(args, fmt);
	pctl_num_vprint(words, sizeof(words), fmt, args);
	va_end(args);
	to->code = code;
	keep(to->param, sizeof(to->param), param == NULL ? "" : param);
	keep(to->message, sizeof(to->message), words);
	return 0;
}
