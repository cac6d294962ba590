/* What verbs that run blocks themselves share: an executor over the devices that --backend and the policy name. */
#ifndef PIPECTL_TOOLS_NODE_H
#define PIPECTL_TOOLS_NODE_H

#include "app.h"
#include "chain/executor.h"

/* Closed with pctl_executor_close, after the chain and before the app; also after an error. */
pctl_status pctl_app_executor(pctl_app *app, pctl_executor *out);

#endif
