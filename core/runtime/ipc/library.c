/* Loading and checking plugin libraries; see library.h. */
#include "runtime/ipc/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pctl_status refuse(const char *path, const char *shown, const char *text,
			  const pctl_call *call)
{
	uint32_t code = PC3013_PLUGIN_LOAD;

	if (!text)
		text = "the dynamic linker gave no reason";
	if (strstr(text, "undefined symbol"))
		code = PC3014_PLUGIN_UNDEFINED_SYMBOL;
	else if (strstr(text, "cannot open shared object file") &&
		 strncmp(text, path, strlen(path)) != 0)
		code = PC3012_PLUGIN_DEPENDENCY;
	if (!strncmp(text, path, strlen(path)))
		return pctl_refuse(call, code, "%s%s", shown, text + strlen(path));
	return pctl_refuse(call, code, "%s: %s", shown, text);
}

pctl_status pctl_library_load(const char *path, const char *shown, const pctl_call *call,
			      void **out)
{
	*out = NULL;
	if (path[0] != '/')
		return pctl_refuse(call, PC3013_PLUGIN_LOAD, "%s: is not an absolute path", path);
	*out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*out)
		return refuse(path, shown, dlerror(), call);
	return PCTL_OK;
}

static pctl_status check_head(const pctl_head *h, size_t need, const char *what, const char *path,
			      const pctl_call *call)
{
	if (h->major != PCTL_ABI_MAJOR)
		return pctl_refuse(call, PC3016_PLUGIN_ABI,
				   "%s: %s is of ABI %u.%u, this host speaks %u.%u", path, what,
				   h->major, h->minor, PCTL_ABI_MAJOR, PCTL_ABI_MINOR);
	if (h->size < need)
		return pctl_refuse(call, PC3017_PLUGIN_SHORT,
				   "%s: %s says it has %u bytes, version 1.0 has %zu", path, what,
				   h->size, need);
	return PCTL_OK;
}

pctl_status pctl_library_plugin(void *handle, const char *path, const char *id,
				const pctl_call *call, const pctl_plugin **out)
{
	const pctl_plugin *p = dlsym(handle, PCTL_PLUGIN_SYMBOL);
	pctl_status s;

	*out = NULL;
	if (!p)
		return pctl_refuse(call, PC3015_PLUGIN_SYMBOL, "%s: has no symbol %s", path,
				   PCTL_PLUGIN_SYMBOL);
	s = check_head(&p->head, PCTL_SIZE_WITH(pctl_plugin, interface), PCTL_PLUGIN_SYMBOL, path,
		       call);
	if (s)
		return s;
	if (!p->id || !p->version || !p->open || !p->close || !p->interface)
		return pctl_refuse(call, PC3022_PLUGIN_SLOT, "%s: member %s of %s is empty", path,
				   !p->id	 ? "id"
				   : !p->version ? "version"
				   : !p->open	 ? "open"
				   : !p->close	 ? "close"
						 : "interface",
				   PCTL_PLUGIN_SYMBOL);
	if (id && strcmp(p->id, id))
		return pctl_refuse(call, PC3018_PLUGIN_ID,
				   "%s: calls itself \"%.64s\", its manifest says \"%s\"", path,
				   p->id, id);
	if (p->build_flags & PCTL_BUILD_FLAG_FAST_MATH)
		return pctl_refuse(call, PC3019_PLUGIN_FAST_MATH,
				   "%s: was compiled with -ffast-math", path);
	if (p->reserved || p->build_flags)
		return pctl_refuse(call, PC3016_PLUGIN_ABI,
				   "%s: uses reserved members or unknown build flags (0x%x, 0x%x)",
				   path, p->build_flags, p->reserved);
	*out = p;
	return PCTL_OK;
}

typedef struct slot {
	const char *name;
	int present;
} slot;

static pctl_status check_slots(const slot *slots, size_t n, const char *what, const char *path,
			       const pctl_call *call)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!slots[i].present)
			return pctl_refuse(call, PC3022_PLUGIN_SLOT,
					   "%s: mandatory slot %s of %s is empty", path,
					   slots[i].name, what);
	return PCTL_OK;
}

#define SLOT(member)                       \
	{                                  \
#member, t->member != NULL \
	}

pctl_status pctl_library_check_backend(const pctl_backend *t, const char *path,
				       const pctl_call *call)
{
	pctl_status s = check_head(&t->head, PCTL_SIZE_WITH(pctl_backend, counts),
				   PCTL_BACKEND_INTERFACE, path, call);

	if (s)
		return s;
	{
		const slot slots[] = {
			SLOT(devices),	       SLOT(device_open),    SLOT(device_close),
			SLOT(device_identity), SLOT(device_caps),    SLOT(supports),
			SLOT(buffer_create),   SLOT(buffer_destroy), SLOT(buffer_write),
			SLOT(buffer_read),     SLOT(kernel_build),   SLOT(kernel_destroy),
			SLOT(list_begin),      SLOT(list_dispatch),  SLOT(list_dispatch_indirect),
			SLOT(list_copy),       SLOT(list_fill),	     SLOT(list_barrier),
			SLOT(list_timestamp),  SLOT(list_end),	     SLOT(list_destroy),
			SLOT(submit),	       SLOT(wait),	     SLOT(cancel),
		};

		return check_slots(slots, sizeof(slots) / sizeof(slots[0]), PCTL_BACKEND_INTERFACE,
				   path, call);
	}
}

pctl_status pctl_library_check_oplib(const pctl_oplib *t, const char *path, const pctl_call *call)
{
	pctl_status s = check_head(&t->head, PCTL_SIZE_WITH(pctl_oplib, rules),
				   PCTL_OPLIB_INTERFACE, path, call);

	if (s)
		return s;
	{
		const slot slots[] = {SLOT(op_count), SLOT(op_at),     SLOT(infer), SLOT(plan),
				      SLOT(function), SLOT(reference), SLOT(rules)};

		return check_slots(slots, sizeof(slots) / sizeof(slots[0]), PCTL_OPLIB_INTERFACE,
				   path, call);
	}
}

pctl_status pctl_library_open(const pctl_plugin *plugin, const char *path, const char *name,
			      const pctl_host *host, const pctl_call *call,
			      pctl_library_instance *out)
{
	pctl_status s;

	memset(out, 0, sizeof(*out));
	s = plugin->open(host, call, &out->inst);
	if (s)
		return pctl_refuse(call, PC3020_PLUGIN_OPEN, "%s: open answered \"%s\"", path,
				   pctl_status_name(s));
	out->plugin = plugin;
	out->table = plugin->interface(out->inst, name);
	if (!out->table)
		s = pctl_refuse(call, PC3021_PLUGIN_INTERFACE, "%s: has no interface %s", path,
				name);
	else if (!strcmp(name, PCTL_BACKEND_INTERFACE))
		s = pctl_library_check_backend(out->table, path, call);
	else
		s = pctl_library_check_oplib(out->table, path, call);
	if (s)
		pctl_library_close(out);
	return s;
}

void pctl_library_close(pctl_library_instance *li)
{
	if (li->plugin)
		li->plugin->close(li->inst);
	memset(li, 0, sizeof(*li));
}

static void *host_alloc(void *ctx, uint64_t n_bytes)
{
	(void)ctx;
	if (n_bytes > SIZE_MAX)
		return NULL;
	return malloc(n_bytes ? (size_t)n_bytes : 1);
}

static void host_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void host_log(void *ctx, uint32_t level, const char *text)
{
	const pctl_library_host *h = ctx;

	if (h->log && (level > 0 || h->debug))
		fprintf(stderr, "%s\n", text);
}

static const void *host_service(void *ctx, const char *name)
{
	const pctl_library_host *h = ctx;

	if (!strcmp(name, PCTL_SERVICE_CACHE_DIR))
		return h->cache_dir;
	if (!strcmp(name, PCTL_SERVICE_DEBUG))
		return &h->debug;
	if (!strcmp(name, PCTL_SERVICE_ENVIRONMENT))
		return h->environment;
	return NULL;
}

void pctl_library_host_init(pctl_library_host *h, const char *cache_dir, uint32_t debug,
			    uint32_t log)
{
	const pctl_host host = {PCTL_HEAD(pctl_host), h,	host_alloc,
				host_release,	      host_log, host_service};

	h->host = host;
	h->cache_dir = cache_dir;
	h->debug = debug;
	h->log = log;
	h->environment = NULL;
}
