/* The path of Wasmtime's library; see wasm.h. */
#include "chain/home/wasm.h"

#include <stdlib.h>

#include "foundation/base/arena.h"

const char *pctl_home_wasm(pctl_installation *in)
{
	const char *given = getenv("PIPECTL_WASMTIME");

	return given != NULL && given[0] != '\0'
		       ? pctl_arena_dup(in->arena, given)
		       : pctl_arena_printf(in->arena, "%s/wasm/libwasmtime.so", in->config->home);
}
