/* `certify`. */
#include "app.h"

pctl_status pctl_verb_certify(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}

pctl_status pctl_verb_certify_merge(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}

pctl_status pctl_verb_certify_verify(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}

pctl_status pctl_verb_certify_replay(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}
