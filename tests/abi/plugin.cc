// A plugin written in C++ finds the SDK's functions under their C names and exports its symbol under its own.
#include "pipectl/backend.h"
#include "pipectl/oplib.h"

static pctl_status open(const pctl_host *, const pctl_call *call, pctl_instance **out)
{
	*out = nullptr;
	return pctl_refuse(call, PC3020_PLUGIN_OPEN, "this plugin only shows that it links");
}

static void close(pctl_instance *)
{
}

static const void *find(pctl_instance *, const char *)
{
	return nullptr;
}

const pctl_plugin pctl_plugin_v1 = { PCTL_HEAD(pctl_plugin), "cxx", "1.0", PCTL_BUILD_FLAGS, 0,
				     open, close, find };

int main()
{
	pctl_instance *inst;

	return pctl_plugin_v1.open(nullptr, nullptr, &inst) == PCTL_E_PLUGIN ? 0 : 1;
}
