/* What verbs over shader files share. */
#ifndef PIPECTL_TOOLS_SHADER_TEXT_H
#define PIPECTL_TOOLS_SHADER_TEXT_H

#include "app.h"

#define PCTL_SHADER_TEXT_MAX (16u << 20)

/* Row of the option table. */
#define PCTL_OPTION_WITH                                                                          \
	{                                                                                         \
		"--with", "NAME", "put a helper of the installation behind the text: fixed", 0, 0 \
	}

/* The shader's whole text, released with free(): the file and what --with names behind it. PC6104. */
pctl_status pctl_app_shader_text(pctl_app *app, const char *path, char **out, uint64_t *n_out);

#endif
