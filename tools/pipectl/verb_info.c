/* Verbs that speak of the program itself: explain and version. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/num.h"

static void print_code(pctl_app *app, uint32_t code)
{
	if (app->json) {
		pctl_json *j = &app->document;
		char text[16];

		snprintf(text, sizeof(text), "PC%04" PRIu32, code);
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "code", text);
		pctl_json_kv_string(j, "slug", pctl_code_slug(code));
		pctl_json_kv_string(j, "summary", pctl_code_summary(code));
		pctl_json_kv_string(j, "explanation", pctl_code_explanation(code));
		pctl_json_kv_u32(j, "exit", (uint32_t)pctl_status_exit(pctl_code_status(code)));
		pctl_json_object_end(j);
		return;
	}
	printf("PC%04" PRIu32 " [%s]: %s (exit %d)\n", code, pctl_code_slug(code),
	       pctl_code_summary(code), pctl_status_exit(pctl_code_status(code)));
}

pctl_status pctl_verb_explain(pctl_app *app)
{
	const char *text = app->line.n_arguments == 0 ? NULL : app->line.arguments[0];
	uint64_t code = 0;

	if (app->json)
		pctl_json_key(&app->document, "codes");
	if (app->json)
		pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; text == NULL && i < pctl_code_count(); i++)
		print_code(app, pctl_code_at(i));
	if (text != NULL) {
		const char *digits =
			(text[0] == 'P' || text[0] == 'p') && (text[1] == 'C' || text[1] == 'c')
				? text + 2
				: text;

		while (digits[0] == '0' && digits[1] != '\0')
			digits++;
		if (!pctl_num_parse_u64(digits, strlen(digits), &code) || code > UINT32_MAX ||
		    pctl_code_slug((uint32_t)code) == NULL) {
			code = 0;
			for (uint32_t i = 0; i < pctl_code_count(); i++) {
				if (strcmp(pctl_code_slug(pctl_code_at(i)), text) == 0)
					code = pctl_code_at(i);
			}
		}
		if (code != 0)
			print_code(app, (uint32_t)code);
		if (code != 0 && !app->json)
			printf("\n%s\n", pctl_code_explanation((uint32_t)code));
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	if (text != NULL && code == 0)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL,
				      "`pipectl explain` lists all codes", "no code \"%s\"", text);
	return PCTL_OK;
}

pctl_status pctl_verb_version(pctl_app *app)
{
	if (app->json) {
		pctl_json_kv_string(&app->document, "version", PIPECTL_VERSION);
		pctl_json_kv_string(&app->document, "semantics", "1");
		pctl_json_kv_u32(&app->document, "abi_major", PCTL_ABI_MAJOR);
		pctl_json_kv_u32(&app->document, "abi_minor", PCTL_ABI_MINOR);
	} else {
		printf("pipectl %s (semantics 1, plugin ABI %d.%d, program %d.%d)\n",
		       PIPECTL_VERSION, PCTL_ABI_MAJOR, PCTL_ABI_MINOR, PCTL_PROGRAM_MAJOR,
		       PCTL_PROGRAM_MINOR);
	}
	return PCTL_OK;
}
