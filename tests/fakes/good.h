/* The plugin around memory.h. A fault file defines one of the FAULT_ macros first:
 *   FAULT_ID, FAULT_HEAD, FAULT_FLAGS  another value in pctl_plugin_v1
 *   FAULT_SLOTS  designated initialisers that come last in the table and so win
 *   FAULT_OPEN   statements at the start of open */
#ifndef PIPECTL_TESTS_FAKES_GOOD_H
#define PIPECTL_TESTS_FAKES_GOOD_H

#include "memory.h"

#ifndef FAULT_ID
#define FAULT_ID "fake"
#endif
#ifndef FAULT_HEAD
#define FAULT_HEAD PCTL_HEAD(pctl_plugin)
#endif
#ifndef FAULT_FLAGS
#define FAULT_FLAGS PCTL_BUILD_FLAGS
#endif
#ifndef FAULT_SLOTS
#define FAULT_SLOTS .counts = fake_counts
#endif
#ifndef FAULT_OPEN
#define FAULT_OPEN
#endif

#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-function"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif

static const pctl_backend fake_table = {FAKE_TABLE, FAULT_SLOTS};

static pctl_status fake_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	(void)call;
	FAULT_OPEN;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return PCTL_E_NOMEM;
	(*out)->host = host;
	return PCTL_OK;
}

static void fake_close(pctl_instance *inst)
{
	free(inst);
}

static const void *fake_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) ? NULL : &fake_table;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	FAULT_HEAD, FAULT_ID, "1.0", FAULT_FLAGS, 0, fake_open, fake_close, fake_interface,
};

#endif
