/* `//# use int.popcount@1`: the function's texts, one for each element type that has one, become
 * further sources of the compile. */
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/wgsl/check.h"

#define MAX_NAMES 1024u
#define DTYPE_U128 32u /* vec4<u32>, as oplib.h numbers it */

struct used_op {
	struct used_op *next;
	const char *op;
	uint32_t version;
};

static void unknown(struct wgsl *c, const char *op, uint32_t pos, uint32_t end)
{
	const pctl_wgsl_library *lib = c->options->library;
	const char *names[MAX_NAMES] = {NULL}, *list = "";
	uint32_t n = lib->names ? lib->names(lib->ctx, MAX_NAMES, names) : 0, i;
	const char *hint;

	if (n > MAX_NAMES)
		n = MAX_NAMES;
	hint = pctl_wgsl_hint_nearest(c, op, names, n);
	for (i = 0; i < n && i < 32; i++)
		list = pctl_wgsl_format(c, "%s%s%s", list, i ? ", " : "", names[i]);
	if (n)
		hint = pctl_wgsl_format(c, "%s%savailable: %s%s", hint ? hint : "", hint ? " " : "",
					list, n > 32 ? ", .." : "");
	pctl_wgsl_error(c, PC2116_WGSL_USE, pos, end, hint, "there is no function op \"%s\"", op);
}

static void add_text(struct wgsl *c, const char *name, const char *text, struct source **made,
		     uint32_t *n_made)
{
	struct source *src;
	uint32_t i;

	for (i = 0; i < *n_made; i++)
		if (!strcmp(made[i]->text, text))
			return;
	src = pctl_wgsl_source_add(c, name, text, strlen(text));
	if (src)
		made[(*n_made)++] = src;
}

void pctl_wgsl_use(struct wgsl *c, const char *text, size_t n, uint32_t pos, uint32_t end)
{
	static const uint32_t dtypes[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32,  PCTL_SCALAR_U64,
					  PCTL_SCALAR_I64, PCTL_SCALAR_BOOL, DTYPE_U128,
					  PCTL_SCALAR_F32, PCTL_SCALAR_F16,  PCTL_SCALAR_BF16,
					  PCTL_SCALAR_F64};
	const pctl_wgsl_library *lib = c->options->library;
	const char *at = memchr(text, '@', n), *op, *body;
	struct source *made[sizeof(dtypes) / sizeof(dtypes[0])];
	struct used_op *u;
	uint64_t version;
	uint32_t i, n_made = 0;

	if (!at || !pctl_num_parse_u64(at + 1, n - (size_t)(at + 1 - text), &version) || !version ||
	    version > UINT32_MAX) {
		pctl_wgsl_error(c, PC2114_WGSL_META, pos, end,
				"the form is `//# use int.popcount@1`",
				"an op is named with its version");
		return;
	}
	op = pctl_wgsl_format(c, "%.*s", (int)(at - text), text);
	for (u = c->used; u; u = u->next)
		if (!strcmp(u->op, op)) {
			if (u->version != version)
				pctl_wgsl_error(c, PC2116_WGSL_USE, pos, end, NULL,
						"%s is used in version %u already", op, u->version);
			return;
		}
	if (!lib || !lib->find) {
		pctl_wgsl_error(c, PC2116_WGSL_USE, pos, end, NULL,
				"\"%s\" cannot be used: no op library is loaded", op);
		return;
	}
	u = WGSL_NEW(c, struct used_op);
	u->op = op;
	u->version = (uint32_t)version;
	u->next = c->used;
	c->used = u;
	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		body = NULL;
		if (lib->find(lib->ctx, op, u->version, dtypes[i], &body) && body)
			add_text(c, pctl_wgsl_format(c, "%.*s", (int)n, text), body, made, &n_made);
	}
	if (!n_made) {
		unknown(c, op, pos, end);
		return;
	}
	for (i = 0; i < n_made; i++) {
		pctl_wgsl_meta(c, made[i]); /* which may use further ops */
		pctl_wgsl_parse(c, made[i]);
	}
}
