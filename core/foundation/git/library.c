/* libgit2 itself: begun once, with the settings that all of pipectl wants. */
#include "foundation/git/git.h"

#include <pthread.h>

#define OPEN_FILES_MOST 64u /* of packs; a log of blocks has one pack a block */

static pthread_once_t begun = PTHREAD_ONCE_INIT;

static void begin(void)
{
	static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
				     GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};

	git_libgit2_init();
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	/* A cache would hide what lies on the disk. */
	git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_FILE_LIMIT, (size_t)OPEN_FILES_MOST);
}

void pctl_git_library(void)
{
	pthread_once(&begun, begin);
}
