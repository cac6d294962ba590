/* The layout of a text, looked at before it is handed out: what it says is what the text said. */
#include "foundation/conf/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/conf/conf.h"
#include "foundation/conf/layout.h"

/* A text that includes other files, of which nothing is read. */
struct own_text {
	const char *name;
	const char *text;
	size_t n;
};

static char *same_name(void *ctx, const char *from, const char *path)
{
	char *name = NULL;

	(void)ctx;
	(void)from;
	return asprintf(&name, "@include %s", path) < 0 ? NULL
							: name; /* never the text's own name */
}

static int is_there(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return 1;
}

/* The text itself; of what it includes nothing. */
static pctl_status read_nothing(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
				char **out, uint64_t *n_out)
{
	const struct own_text *r = ctx;
	const int own = strcmp(name, r->name) == 0;

	(void)limit;
	*n_out = own ? r->n : 0;
	*out = malloc(*n_out + 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a text");
	memcpy(*out, own ? r->text : "", *n_out);
	(*out)[*n_out] = '\0';
	return PCTL_OK;
}

static pctl_status read_tree(const char *name, const char *text, size_t n, const pctl_call *call,
			     pctl_conf **out)
{
	struct own_text r = {name, text, n};
	const pctl_vfs vfs = {&r, same_name, is_there, read_nothing, NULL};

	return pctl_conf_read_vfs(&vfs, name, call, out);
}

static int same_value(const pctl_conf_value *a, const pctl_conf_value *b)
{
	if (a->kind != b->kind || a->n_items != b->n_items ||
	    (a->key == NULL) != (b->key == NULL) || (a->text == NULL) != (b->text == NULL) ||
	    (a->key != NULL && strcmp(a->key, b->key) != 0) ||
	    (a->text != NULL && strcmp(a->text, b->text) != 0))
		return 0;
	for (uint32_t i = 0; i < a->n_items; i++) {
		if (!same_value(a->items[i], b->items[i]))
			return 0;
	}
	return 1;
}

pctl_status pctl_conf_format(const char *name, const char *text, size_t n, const pctl_call *call,
			     char **out, size_t *n_out)
{
	pctl_conf_layout l = {.name = name};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_conf *before = NULL, *after = NULL;
	pctl_status status = read_tree(name, text, n, call, &before);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK)
		status = pctl_conf_layout_read(name, text, n, call, &l);
	if (status != PCTL_OK)
		goto out;
	pctl_str_add(&s, "");
	pctl_conf_layout_write(&l, &s);
	*n_out = s.n;
	*out = pctl_str_finish(&s);
	if (*out == NULL) {
		status = pctl_no_memory(call, "a layout");
		goto out;
	}
	status = read_tree(name, *out, *n_out, call, &after);
	if (status == PCTL_E_NOMEM)
		goto out;
	if (status != PCTL_OK || !same_value(pctl_conf_root(before), pctl_conf_root(after)))
		status = pctl_refuse(call, PC1_INTERNAL, "%s: the layout would change what it says",
				     name);
out:
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
		*n_out = 0;
	}
	pctl_str_drop(&s);
	pctl_conf_layout_drop(&l);
	pctl_conf_destroy(before);
	pctl_conf_destroy(after);
	return status;
}
