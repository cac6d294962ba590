/* The forms: functions written in WGSL under forms/, compiled once and copied into programs as
 * functions of their own. Two modules: int64.wgsl, which needs nothing, and all the others, which are
 * one text in the front end's native mode, so that any may call any. */
#include "compiler/legalize/legal_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "compiler/wgsl/wgsl.h"

/* The texts are longer than the length every compiler must take; all of ours do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "legal_softfloat.h"
#pragma GCC diagnostic pop

struct pctl_softfloat {
	pctl_program *int64, *floats;
};

static const struct {
	const char *file, *text;
} texts[] = {
#define LEGAL_TEXT(file, text) {file, text},
#include "legal_softfloat.def"
#undef LEGAL_TEXT
};
#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static int is_int64(size_t i)
{
	return strcmp(texts[i].file, "int64.wgsl") == 0;
}

pctl_status pctl_softfloat_create(const pctl_call *call, pctl_softfloat **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? PCTL_OK : pctl_refuse(call, PC2_NOMEM, "the forms of the legaliser");
}

void pctl_softfloat_destroy(pctl_softfloat *f)
{
	if (!f)
		return;
	pctl_program_destroy(f->int64);
	pctl_program_destroy(f->floats);
	free(f);
}

uint32_t legal_find_function(const pctl_program *p, const char *name)
{
	for (uint32_t f = 1; f < p->n_functions; f++)
		if (strcmp(pctl_str(p, p->functions[f].name), name) == 0)
			return f;
	return 0;
}

uint32_t legal_softfloat_have(const char *name)
{
	char needle[80];

	snprintf(needle, sizeof(needle), "\nfn %s(", name);
	for (size_t i = 0; i < N_TEXTS; i++)
		if (strstr(texts[i].text, needle))
			return 1;
	return 0;
}

/* ---- one text of many --------------------------------------------------------------------- */

/* The front end keeps only what an entry point reaches. So there is one that calls every function
 * of the text with zeros, and is never linked. `at` is behind "fn ". */
static void call_with_zeros(pctl_str_buf *b, const char *at)
{
	const char *open = strchr(at, '('), *close = open ? strchr(open, ')') : NULL;
	const char *type;

	if (!close || !strncmp(close + 1, " {", 2))
		return; /* returns nothing: no form */
	pctl_str_addf(b, "  _ = %.*s(", (int)(open - at), at);
	while ((type = memchr(open, ':', (size_t)(close - open)))) {
		int depth = 0;

		for (open = type + 1; open < close && (depth || *open != ','); open++)
			depth += (*open == '<') - (*open == '>');
		pctl_str_addf(b, "%.*s(), ", (int)(open - type - 1), type + 1);
	}
	pctl_str_addf(b, ");\n");
}

static char *joined(void)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;

	for (size_t i = 0; i < N_TEXTS; i++)
		if (!is_int64(i))
			pctl_str_addf(&b, "%s\n", texts[i].text);
	pctl_str_addf(&b, "@compute @workgroup_size(1)\nfn keep_forms() {\n");
	for (size_t i = 0; i < N_TEXTS; i++) {
		const char *at = is_int64(i) ? NULL : texts[i].text;

		while (at && (at = strstr(at, "\nfn "))) {
			at += 4;
			call_with_zeros(&b, at);
		}
	}
	pctl_str_addf(&b, "}\n");
	return pctl_str_finish(&b);
}

/* A line of the joined text is one of its file. */
typedef struct joined_call {
	pctl_call call;
	const pctl_call *outer;
} joined_call;

static void relay(void *ctx, const pctl_diag *d)
{
	const joined_call *j = ctx;
	uint32_t line = d->pos.line;
	pctl_diag there = *d;

	for (size_t i = 0; i < N_TEXTS && d->pos.line; i++) {
		uint32_t n = 1;

		if (is_int64(i))
			continue;
		for (const char *s = texts[i].text; *s; s++)
			n += *s == '\n';
		if (line <= n) {
			there.pos.file = texts[i].file;
			there.pos.line = line;
			break;
		}
		line -= n;
	}
	j->outer->diag(j->outer->ctx, &there);
}

static pctl_status compile_joined(const pctl_call *call, pctl_program **out)
{
	pctl_wgsl_options options = {.file = "forms"};
	joined_call j = {.call = {.head = PCTL_HEAD(pctl_call), .ctx = &j, .diag = relay},
			 .outer = call};
	char *text = joined();
	pctl_status status;

	if (!text)
		return pctl_refuse(call, PC2_NOMEM, "the forms of the legaliser");
#ifdef PCTL_WGSL_NATIVE
	options.flags |= PCTL_WGSL_NATIVE;
#endif
	status = pctl_wgsl_compile(text, strlen(text), &options,
				   call && call->diag ? &j.call : call, out);
	free(text);
	return status == PCTL_OK ? status
				 : pctl_refuse(call, PC2503_LEGAL_FORMS,
					       "the forms of floats do not compile");
}

pctl_status legal_softfloat_float(pctl_softfloat *f, const pctl_call *call,
				  const pctl_program **out)
{
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (!f->floats)
		status = compile_joined(call, &f->floats);
	*out = f->floats;
	return status;
}

pctl_status legal_softfloat_int64(pctl_softfloat *f, const pctl_call *call,
				  const pctl_program **out)
{
	const pctl_wgsl_options options = {.file = "int64.wgsl"};
	pctl_status status = PCTL_OK;

	*out = NULL;
	for (size_t i = 0; i < N_TEXTS && !f->int64 && status == PCTL_OK; i++)
		if (is_int64(i))
			status = pctl_wgsl_compile(texts[i].text, strlen(texts[i].text), &options,
						   call, &f->int64);
	if (!f->int64)
		return pctl_refuse(call, PC2503_LEGAL_FORMS, "int64.wgsl does not compile");
	*out = f->int64;
	return PCTL_OK;
}

/* ---- linking ------------------------------------------------------------------------------ */

/* A form may stand on what it replaces: what is being linked does not stand in for what it calls. */
uint32_t legal_callee(const legal *l, uint32_t f)
{
	const uint32_t better = l->chooser && !l->is_main ? legal_alias(l->chooser, f) : f;

	return l->is_linking[better] ? f : better;
}

uint32_t legal_link(legal *l, uint32_t f)
{
	const pctl_function *fn = &l->p->functions[f];

	if (l->functions[f] || l->status != PCTL_OK)
		return l->functions[f];
	l->is_linking[f] = 1;
	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &l->p->insts[fn->first_inst + i];

		if (in->op == PCTL_OP_CALL)
			legal_link(l, legal_callee(l, pctl_arg(l->p, in, 0)));
	}
	legal_function(l, f);
	l->is_linking[f] = 0;
	return l->functions[f];
}
