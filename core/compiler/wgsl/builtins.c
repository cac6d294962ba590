/* The table of predeclared names, from builtins.def. */
#include "compiler/wgsl/builtins.h"
#include "pipectl/program.h"

static const struct builtin table[] = {
#define TYPE(name, kind, arg) {name, BUILTIN_##kind, 0, 0, 0, arg, ""},
#define FUNCTION(name, kind, n_args, flags, arg, text) \
	{name, BUILTIN_##kind, n_args, flags, 0, arg, text},
#define REFUSED(code, name) {name, BUILTIN_REFUSED, 0, 0, 0, code, ""},
#include "compiler/wgsl/builtins.def"
#undef TYPE
#undef FUNCTION
#undef REFUSED
};

uint32_t pctl_wgsl_builtin_count(void)
{
	return (uint32_t)(sizeof(table) / sizeof(table[0]));
}

const struct builtin *pctl_wgsl_builtin_at(uint32_t i)
{
	return &table[i];
}
