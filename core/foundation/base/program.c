/* The file this code came from; see program.h. */
#include "foundation/base/program.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "foundation/base/file.h"

char *pctl_program_file(void)
{
	Dl_info own, main_program;
	const void *headers = (const void *)getauxval(AT_PHDR);

	/* The program's own name is what its caller made of it; a library's is the path it was found at. */
	if (headers == NULL || dladdr((const void *)(uintptr_t)&pctl_program_file, &own) == 0 ||
	    dladdr(headers, &main_program) == 0 || own.dli_fbase == main_program.dli_fbase)
		return realpath("/proc/self/exe", NULL);
	return realpath(own.dli_fname, NULL);
}

char *pctl_program_dir(void)
{
	char *file = pctl_program_file(), *slash = file == NULL ? NULL : strrchr(file, '/');
	char *program = realpath("/proc/self/exe", NULL);
	const int is_library = file != NULL && program != NULL && strcmp(file, program) != 0;
	char *dir = NULL;

	if (slash != NULL) {
		*slash = '\0';
		dir = is_library ? pctl_path_join(file, PIPECTL_BINDIR_FROM_LIB) : strdup(file);
	}
	free(program);
	free(file);
	return dir;
}
