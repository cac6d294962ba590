/* How far work is, as people see it: one line that is redrawn on a terminal, or a line now and then where --progress plain
 * asks for it. On standard error only. */
#ifndef PIPECTL_TOOLS_PROGRESS_H
#define PIPECTL_TOOLS_PROGRESS_H

#include "foundation/base/progress.h"

/* The line for what the core told, in at most `columns` columns (0: no limit): what fits least is left out first, names are
 * cut last. Control characters of names are shown as '?'. Returns `out`. */
#define PCTL_PROGRESS_TEXT 512u
const char *pctl_progress_text(const pctl_progress *p, uint32_t columns,
			       char out[PCTL_PROGRESS_TEXT]);

#endif
