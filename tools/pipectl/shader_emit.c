/* `shader run --emit`: a kernel as its device gets it. */
#include <string.h>

#include "host/emit.h"
#include "shader.h"

/* Of options that speak of a run, nothing would come. */
static pctl_status refuse_others(pctl_app *app)
{
	static const char *const others[] = {"--bind",	  "--read",	 "--trace",    "--verify",
					     "--no-memo", "--gas-limit", "--sanitize", "--gas"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (pctl_option_has(&app->line, others[i]))
			return pctl_refuse(app->call, PC10_USAGE,
					   "--emit runs nothing, so %s has nothing to say",
					   others[i]);
	return PCTL_OK;
}

pctl_status pctl_shader_emit(pctl_app *app, const char *path, const pctl_kernel_module *unit)
{
	const char *language = pctl_option_value(&app->line, "--emit");
	pctl_emitted_kernel e = {.text = NULL};
	pctl_run_options how;
	pctl_status status = refuse_others(app);

	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &how);
	if (status == PCTL_OK)
		status = pctl_emit_kernel(unit, language, &how, app->call, &e);
	if (status == PCTL_OK && app->json) {
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_string(&app->document, "device", e.device);
		pctl_json_kv_string(&app->document, "language", language);
		pctl_json_kv_string(&app->document, "text", e.text);
		pctl_json_kv_string(&app->document, "note", e.note);
	} else if (status == PCTL_OK) {
		fprintf(stderr, "%s: %s for %s\n", path, language, e.device);
		if (e.note[0] != '\0')
			fprintf(stderr, "%s: %s\n", path, e.note);
		fwrite(e.text, 1, e.n, stdout);
	}
	pctl_emitted_kernel_close(&e);
	return status;
}
