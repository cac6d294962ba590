/* The backend under the mock: the library that the host names, opened in this very process, or the synthetic one. */
#include "runtime/mock.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const char *mock_setting(const pctl_host *host, const char *name, uint32_t *in_host)
{
	const size_t n = strlen(name);
	const char *const *set = host->get_service(host->ctx, PCTL_SERVICE_ENVIRONMENT);

	*in_host = set != NULL;
	for (; set && *set; set++)
		if (strncmp(*set, name, n) == 0 && (*set)[n] == '=')
			return *set + n + 1;
	return *in_host ? NULL : getenv(name);
}

static pctl_status load(mock_inner *in, const char *library, const char *id, const pctl_host *host,
			const pctl_call *call)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const pctl_plugin *p;
	pctl_status s;

	if (!handle)
		return pctl_refuse(call, PC3281_MOCK_WRAP, "\"%s\" does not load: %s", id,
				   dlerror());
	/* It stays loaded, as every plugin does. The host has examined it as a plugin of its own. */
	p = dlsym(handle, PCTL_PLUGIN_SYMBOL);
	if (!p || p->head.major != PCTL_ABI_MAJOR ||
	    p->head.size < PCTL_SIZE_WITH(pctl_plugin, interface) || strcmp(p->id, id) != 0)
		return pctl_refuse(call, PC3281_MOCK_WRAP, "%s is not the plugin \"%s\"", library,
				   id);
	s = p->open(host, call, &in->inst);
	if (s != PCTL_OK)
		return s;
	in->plugin = p;
	in->table = p->interface(in->inst, PCTL_BACKEND_INTERFACE);
	if (!in->table || in->table->head.size < PCTL_SIZE_WITH(pctl_backend, counts))
		return pctl_refuse(call, PC3281_MOCK_WRAP, "plugin \"%s\" is no backend", id);
	return PCTL_OK;
}

pctl_status mock_inner_open(pctl_instance *inst, const pctl_call *call)
{
	const char *library = mock_setting(inst->host, "PIPECTL_WRAP_LIBRARY", &inst->in_host);
	const char *id = mock_setting(inst->host, "PIPECTL_WRAP_ID", &inst->in_host);
	const char *index = mock_setting(inst->host, "PIPECTL_WRAP_INDEX", &inst->in_host);
	/* The host names what it resolved; a script alone, as a test may give it, names nothing. */
	const int wants = inst->text && strstr(inst->text, "wrap=") != NULL;

	inst->inner.table = &mock_synthetic;
	if (!wants)
		return PCTL_OK;
	if (!library || !id)
		return pctl_refuse(call, PC3281_MOCK_WRAP,
				   "nobody said which library is to be wrapped: "
				   "PIPECTL_WRAP_LIBRARY and PIPECTL_WRAP_ID are not set");
	inst->inner.index = index ? (uint32_t)strtoul(index, NULL, 10) : 0;
	return load(&inst->inner, library, id, inst->host, call);
}

void mock_inner_close(mock_inner *in)
{
	if (in->plugin)
		in->plugin->close(in->inst);
	memset(in, 0, sizeof(*in));
}
