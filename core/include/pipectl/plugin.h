/* The one symbol a plugin exports, and how the host takes it into use. The host reads the manifest
 * (pipectl-plugin(5)) before any code of the plugin runs, probes the library in a child process,
 * and only then opens it. What a backend is for (`roles`) its manifest says, not its code.
 *
 * States: loaded -> (open) -> opened -> (close) -> loaded. Interfaces are asked for while opened
 * and die with close; whatever an interface handed out (devices, buffers, ..) is destroyed before
 * close. The library itself stays loaded until the process ends.
 */
#ifndef PIPECTL_PLUGIN_H
#define PIPECTL_PLUGIN_H

#include "pipectl/host.h"

PCTL_C_BEGIN

/* A live instance; its contents belong to the plugin. */
typedef struct pctl_instance pctl_instance;

/* Build facts that strict determinism depends on. */
#define PCTL_BUILD_FLAG_FAST_MATH 1u /* set when compiled with -ffast-math: refused under strict */

#if defined(__FAST_MATH__)
#define PCTL_BUILD_FLAGS PCTL_BUILD_FLAG_FAST_MATH
#else
#define PCTL_BUILD_FLAGS 0u
#endif

/*
 * id       as in the manifest: [a-z][a-z0-9-]*, at most 32 bytes
 * version  of the plugin, free text without spaces
 * open     make an instance. `host` stays valid until close returns. *out is NULL on any error.
 *          [main thread; may block; no device work yet]
 * close    destroy the instance; everything it handed out is gone already. [same thread as open]
 * interface  the table named `name` ("pctl.backend/1", "pctl.oplib/1"), or NULL when the plugin has
 *          no such interface. The table is const and lives as long as the library. [any thread]
 */
typedef struct pctl_plugin {
	pctl_head head;
	const char *id;
	const char *version;
	uint32_t build_flags;
	uint32_t reserved;
	pctl_status (*open)(const pctl_host *host, const pctl_call *call, pctl_instance **out);
	void (*close)(pctl_instance *inst);
	const void *(*interface)(pctl_instance *inst, const char *name);
} pctl_plugin;

/* The exported symbol; the major version of the ABI is in its name. Define it in exactly one
 * file as `PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = { PCTL_HEAD(pctl_plugin), ... };` */
#define PCTL_PLUGIN_SYMBOL "pctl_plugin_v1"
extern PCTL_EXPORT const pctl_plugin pctl_plugin_v1;

PCTL_C_END

#endif
