/* Opening the model that the command line names; see model.h. */
#include "model.h"

#include "chain.h"

#define USUAL_CHUNK 64u
#define USUAL_SINGLES 16u /* where nobody asks for chunks */

pctl_status pctl_app_model_engine(pctl_app *app, uint64_t slots, pctl_model_engine **out)
{
	pctl_model_engine_options o = {.model = pctl_option_value(&app->line, "--model"),
				       .tokenizer = pctl_option_value(&app->line, "--tokenizer"),
				       .family = pctl_option_value(&app->line, "--family"),
				       .slots = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots};
	uint64_t chunk, context = 0;
	pctl_status status = pctl_app_number(app, "--chunk", USUAL_CHUNK, &chunk);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--context", 0, &context);
	if (status == PCTL_OK && o.model == NULL)
		status = pctl_refuse(app->call, PC10_USAGE, "--model FILE says which model");
	if (status == PCTL_OK)
		status = pctl_app_run_request(app, &o.request);
	o.singles = pctl_option_has(&app->line, "--chunk") ? 0 : USUAL_SINGLES;
	o.chunk = chunk > UINT32_MAX ? UINT32_MAX : (uint32_t)chunk;
	o.context = context > UINT32_MAX ? UINT32_MAX : (uint32_t)context;
	return status == PCTL_OK ? pctl_model_engine_open(&app->host, &o, app->call, out) : status;
}
