/* Not a plugin: a library that somebody wants in every process (LD_PRELOAD). It changes a result: whoever asks for the
 * page size gets 3. */
#include <unistd.h>

__attribute__((visibility("default"))) int getpagesize(void)
{
	return 3;
}
