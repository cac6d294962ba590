/* An end of the process that the host did not order is never a success: a plugin inside it, or a library of one, may call
 * exit(0) in the middle of a run, and the caller would take the silence for a result. */
#include <stdlib.h>
#include <unistd.h>

#include "app.h"

#define EXIT_UNORDERED 70

static int ordered;

/* Nothing but system calls: nobody knows in what state the process was left, or in which thread. */
static void guard(void)
{
	static const char text[] =
		"pipectl: something inside this process called exit; nothing that was printed or "
		"written is a result\n";
	ssize_t n;

	if (ordered)
		return;
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(EXIT_UNORDERED);
}

int pctl_exit_guard(void)
{
	return atexit(guard) == 0;
}

void pctl_exit_ordered(void)
{
	ordered = 1;
}
