/* `audit`. */
#include "app.h"

pctl_status pctl_verb_audit(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}

pctl_status pctl_verb_audit_verify(pctl_app *app)
{
	return pctl_refuse(app->call, PC10_USAGE, "not built yet");
}
