/* Why an op does not take a type, by the table support_why.def: words of ours about ops of ours. Of an op that it does not know nothing is said. */
#include <fnmatch.h>
#include <string.h>

#include "foundation/dtype/dtype.h"
#include "host/support.h"

static const struct {
	const char *op, *port, *types, *why;
} rows[] = {
#define ROW(op, port, types, why) {op, port, types, why},
#include "host/support_why.def"
#undef ROW
};

static int matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, FNM_EXTMATCH) == 0;
}

/* One of the words between blanks. */
static int is_among(const char *words, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = words; (at = strstr(at, name)) != NULL; at += n)
		if (at != words && at[-1] == ' ' && at[n] == ' ')
			return 1;
	return 0;
}

const char *pctl_support_why(const pctl_op_ref *op, uint32_t port, uint32_t dtype)
{
	static const char *const libraries = " ieee int rank tensor transformer ";
	const pctl_dtype *t = pctl_dtype_of(dtype);

	if (t == NULL || port >= op->desc->n_in || op->plugin == NULL ||
	    !is_among(libraries, op->plugin))
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (matches(rows[i].op, op->desc->name) &&
		    matches(rows[i].port, op->desc->in[port].name) &&
		    is_among(rows[i].types, t->name))
			return rows[i].why;
	return NULL;
}
