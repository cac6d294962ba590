/* The life of a program: everything it owns is in one arena. */
#include "compiler/ir/tables.h"

void pctl_program_destroy(pctl_program *p)
{
	if (p)
		pctl_arena_destroy(p->arena);
}
