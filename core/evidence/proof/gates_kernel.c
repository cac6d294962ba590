/* Elementwise kernels of a function op in three spellings, to see that a call costs nothing: by `//# use`, with a given
 * text, and with the function's statements written in place of the call. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "evidence/proof/gates.h"

static const char *wgsl_type(uint32_t dtype)
{
	return dtype == PCTL_DTYPE_U128 ? "vec4<u32>" : pctl_dtype_name(dtype);
}

static void wgsl_name(const pctl_op_function *f, char out[128])
{
	size_t n = 0;

	for (const char *at = f->op.desc->name; *at != '\0' && n < 100; at++)
		out[n++] = *at == '.' ? '_' : *at;
	out[n] = '\0';
	if (f->dtype != PCTL_SCALAR_U32)
		snprintf(out + n, 128 - n, "_%s", pctl_dtype_name(f->dtype));
}

/* ---- a function's text taken apart ------------------------------------------------------------ */

/* Pieces of a text: before `fn`, parameters between their parentheses, statements before the one return, what it
 * returns, and what comes after the function. */
typedef struct pieces {
	const char *begin, *fn, *params, *params_end, *body, *ret, *value, *value_end, *after;
} pieces;

static int is_word(const char *text, const char *at, const char *word)
{
	const size_t n = strlen(word);

	return strncmp(at, word, n) == 0 &&
	       (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
	       !(isalnum((unsigned char)at[n]) || at[n] == '_');
}

static const char *find_function(const char *text, const char *name)
{
	for (const char *at = text; (at = strstr(at, "fn")) != NULL; at++) {
		const char *word = at + 2 + strspn(at + 2, " \t\n");

		if (is_word(text, at, "fn") && strncmp(word, name, strlen(name)) == 0 &&
		    word[strlen(name) + strspn(word + strlen(name), " \t\n")] == '(')
			return at;
	}
	return NULL;
}

/* The brace that closes the one at `open`. */
static const char *closing(const char *open)
{
	int depth = 0;

	for (const char *at = open; *at != '\0'; at++) {
		depth += *at == '{';
		depth -= *at == '}';
		if (depth == 0)
			return at;
	}
	return NULL;
}

/* NULL, or why the function cannot be written in place. */
static const char *take_apart(const char *text, const char *name, pieces *out)
{
	const char *open, *close, *at;

	memset(out, 0, sizeof(*out));
	out->begin = text;
	out->fn = find_function(text, name);
	out->params = out->fn == NULL ? NULL : strchr(out->fn, '(') + 1;
	out->params_end = out->params == NULL ? NULL : strchr(out->params, ')');
	open = out->params_end == NULL ? NULL : strchr(out->params_end, '{');
	close = open == NULL ? NULL : closing(open);
	if (close == NULL)
		return "the WGSL lacks the function by its name";
	out->body = open + 1;
	out->after = close + 1;
	for (at = out->body; at < close; at++)
		if (is_word(out->body, at, "return")) {
			if (out->ret != NULL)
				return "the function returns in more than one place";
			out->ret = at;
		}
	if (out->ret == NULL)
		return "the function returns nothing";
	out->value = out->ret + strlen("return");
	out->value_end = strchr(out->value, ';');
	if (out->value_end == NULL || out->value_end > close)
		return "the function's return has no end";
	for (at = out->value_end + 1; at < close; at++)
		if (!isspace((unsigned char)*at))
			return "the function goes on after its return";
	return NULL;
}

/* "\t\tlet a = port_0[lane];" for each parameter. */
static void load_parameters(pctl_str_buf *s, const pieces *p)
{
	uint32_t i = 0;

	for (const char *at = p->params; at < p->params_end; i++) {
		const char *end;

		at += strspn(at, " \t\n,");
		end = at + strcspn(at, ": \t\n,)");
		if (end == at || end > p->params_end)
			break;
		pctl_str_add(s, "\t\tlet ");
		pctl_str_add_n(s, at, (size_t)(end - at));
		pctl_str_addf(s, " = port_%u[lane];\n", i);
		at = end + strcspn(end, ",)");
	}
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static void bindings(pctl_str_buf *s, const pctl_op_function *f)
{
	for (uint32_t i = 0; i < f->n_in; i++)
		pctl_str_addf(s, "@group(0) @binding(%u) var<storage, read> port_%u: array<%s>;\n",
			      i, i,
			      wgsl_type(pctl_dtype_vector(f->dtype,
							  pctl_port_lanes(&f->op.desc->in[i]))));
	pctl_str_addf(
		s,
		"@group(1) @binding(0) var<storage, read_write> result: array<%s>;\n"
		"@compute @workgroup_size(64)\n"
		"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
		"\tlet lane = id.x;\n"
		"\tif (lane < arrayLength(&result)) {\n",
		wgsl_type(pctl_dtype_vector(f->out_dtype, pctl_port_lanes(&f->op.desc->out[0]))));
}

static char *called(const pctl_op_function *f, const char *text, const char *name)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const int halves = f->dtype == PCTL_SCALAR_F16 || f->out_dtype == PCTL_SCALAR_F16;

	if (text == NULL)
		pctl_str_addf(&s, "//# use %s@%u\n%s", f->op.desc->name, f->op.desc->version,
			      halves ? "enable f16;\n" : "");
	else
		pctl_str_addf(&s, "%s\n", text);
	bindings(&s, f);
	pctl_str_addf(&s, "\t\tresult[lane] = %s(", name);
	for (uint32_t i = 0; i < f->n_in; i++)
		pctl_str_addf(&s, "%sport_%u[lane]", i == 0 ? "" : ", ", i);
	pctl_str_add(&s, ");\n\t}\n}\n");
	return pctl_str_finish(&s);
}

static char *in_place(const pctl_op_function *f, const pieces *p)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add_n(&s, p->begin, (size_t)(p->fn - p->begin));
	pctl_str_addf(&s, "%s\n", p->after);
	bindings(&s, f);
	load_parameters(&s, p);
	pctl_str_add_n(&s, p->body, (size_t)(p->ret - p->body));
	pctl_str_add(&s, "\t\tresult[lane] = ");
	pctl_str_add_n(&s, p->value, (size_t)(p->value_end - p->value));
	pctl_str_add(&s, ";\n\t}\n}\n");
	return pctl_str_finish(&s);
}

/* The first diagnostic in words. */
typedef struct listener {
	char *why;
} listener;

static void hear(void *ctx, const pctl_diag *d)
{
	listener *l = ctx;

	if (d->severity == PCTL_SEVERITY_ERROR && *l->why == '\0')
		snprintf(l->why, 128, "PC%04u: %s", d->code, d->message);
}

pctl_status pctl_gate_kernel(pctl_kernels *kernels, const pctl_op_function *f, uint32_t form,
			     const char *text, const pctl_program **out, char why[128])
{
	listener l = {why};
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = &l, .diag = hear};
	const char *fault = NULL;
	const pctl_kernel_module *unit;
	pctl_kernel_source source = {.name = f->op.desc->name};
	pctl_status status;
	char name[128], *kernel;
	pieces p;

	*out = NULL;
	*why = '\0';
	wgsl_name(f, name);
	if (form == PCTL_GATE_IN_PLACE) {
		fault = take_apart(f->op.lib->function(f->op.inst, f->op.index, f->dtype), name,
				   &p);
		kernel = fault == NULL ? in_place(f, &p) : NULL;
	} else {
		kernel = called(f, form == PCTL_GATE_TEXT ? text : NULL, name);
	}
	if (kernel == NULL) {
		snprintf(why, 128, "%s", fault == NULL ? "no memory" : fault);
		return fault == NULL ? PCTL_E_NOMEM : PCTL_E_INVALID;
	}
	source.text = kernel;
	source.n_text = strlen(kernel);
	status = pctl_kernels_get(kernels, &source, &call, &unit);
	if (status == PCTL_OK)
		*out = unit->program;
	free(kernel);
	return status;
}

/* ---- programs --------------------------------------------------------------------------------- */

/* Instructions of a function written out: parameters are the arguments, the return is the value. 0 in *whole: it returns
 * before its end. Functions call only those before them, so this ends. */
static uint64_t cost_of(const pctl_program *p, uint32_t fn, int *whole)
{
	const pctl_function *f = &p->functions[fn];
	uint64_t cost = 0;

	for (uint32_t i = 0; i < f->n_insts; i++) {
		const pctl_inst *in = &p->insts[f->first_inst + i];

		if (in->op == PCTL_OP_CALL)
			cost += cost_of(p, pctl_arg(p, in, 0), whole);
		else if (in->op == PCTL_OP_RETURN)
			*whole = *whole && i + 1 == f->n_insts;
		else
			cost += in->op != PCTL_OP_PARAM;
	}
	return cost;
}

uint64_t pctl_gate_cost(const pctl_program *p)
{
	int whole = 1;
	const uint64_t cost = p->n_entries == 1 ? cost_of(p, p->entries[0].function, &whole) : 0;

	return whole ? cost : 0;
}

int pctl_gate_same(const pctl_program *a, const pctl_program *b)
{
	if (a->n_insts != b->n_insts || a->n_functions != b->n_functions ||
	    a->n_types != b->n_types)
		return 0;
	for (uint32_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].n_insts != b->functions[i].n_insts ||
		    a->functions[i].n_locals != b->functions[i].n_locals)
			return 0;
	for (uint32_t i = 0; i < a->n_insts; i++) {
		const pctl_inst *x = &a->insts[i], *y = &b->insts[i];

		if (x->op != y->op || x->type != y->type || x->n_args != y->n_args ||
		    memcmp(&a->words[x->first_arg], &b->words[y->first_arg],
			   x->n_args * sizeof(*a->words)) != 0)
			return 0;
	}
	return 1;
}
