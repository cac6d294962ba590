/* `certs`. */
#include "app.h"

pctl_status pctl_verb_certs_list(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}

pctl_status pctl_verb_certs_show(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}
