/* A term of calls as a function op: one WGSL function over `//# use`, and the chain of references. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/graph/type.h"
#include "evidence/proof/compose.h"
#include "evidence/proof/function.h"

const pctl_law_term *pctl_compose_var(pctl_arena *a, uint32_t var, uint32_t dtype)
{
	pctl_law_term *t = pctl_arena_alloc(a, sizeof(*t));

	if (t != NULL)
		*t = (pctl_law_term){.kind = PCTL_LAW_TERM_VAR, .var = var, .dtype = dtype};
	return t;
}

const pctl_law_term *pctl_compose_const(pctl_arena *a, uint64_t bits, uint32_t dtype)
{
	const uint32_t bytes = pctl_dtype_bytes(dtype);
	pctl_law_term *t = pctl_arena_alloc(a, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (pctl_law_term){.kind = PCTL_LAW_TERM_CONST, .dtype = dtype, .bits = {bits, 0}};
	if (bytes < 8)
		t->bits[0] &= (UINT64_C(1) << (8 * bytes)) - 1;
	if (bytes > 8 && bits >> 63)
		t->bits[1] = UINT64_MAX;
	return t;
}

const pctl_law_term *pctl_compose_call(pctl_arena *a, const pctl_op_function *f,
				       const pctl_law_term *x, const pctl_law_term *y,
				       const pctl_law_term *z)
{
	pctl_law_term *t = pctl_arena_alloc(a, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (pctl_law_term){
		.kind = PCTL_LAW_TERM_CALL, .dtype = f->out_dtype, .fn = *f, .args = {x, y, z}};
	for (uint32_t i = 0; i < 3; i++)
		if ((i < f->n_in) != (t->args[i] != NULL) ||
		    (t->args[i] != NULL && t->args[i]->dtype != f->dtype))
			return NULL;
	return t;
}

/* ---- the library of compositions -------------------------------------------------------------- */

static const pctl_composition *of(pctl_instance *inst)
{
	return (const pctl_composition *)(const void *)inst;
}

static uint32_t op_count(pctl_instance *inst)
{
	(void)inst;
	return 1;
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	return i == 0 ? &of(inst)->desc : NULL;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	const pctl_op_function *f = &of(inst)->f;

	if (q->n_in != f->n_in || q->in[0].dtype != f->dtype)
		return pctl_refuse(call, PC1_INTERNAL, "a composition is of one dtype");
	out->out[0] = q->in[0];
	out->out[0].dtype = f->out_dtype;
	return PCTL_OK;
}

static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	return op == 0 && dtype == of(inst)->f.dtype ? of(inst)->text : NULL;
}

static pctl_status evaluate(const pctl_law_term *t, const pctl_call *call, const pctl_span *vars,
			    uint64_t n, void *out)
{
	const uint64_t out_bytes = n * pctl_dtype_bytes(t->dtype);
	pctl_span in[4] = {{0}}, result = {out, out_bytes};
	pctl_status status = PCTL_OK;
	pctl_function_query ask;

	if (t->kind == PCTL_LAW_TERM_VAR) {
		memcpy(out, vars[t->var].data, out_bytes);
		return PCTL_OK;
	}
	for (uint32_t i = 0; i < t->fn.n_in && status == PCTL_OK; i++) {
		in[i].n_bytes = n * pctl_dtype_bytes(t->args[i]->dtype);
		in[i].data = malloc(in[i].n_bytes + 1);
		status = in[i].data == NULL ? pctl_no_memory(call, "a composition")
					    : evaluate(t->args[i], call, vars, n, in[i].data);
	}
	if (status == PCTL_OK && !pctl_function_ask(&t->fn.op, t->fn.dtype, n, &ask))
		status = pctl_refuse(call, PC1_INTERNAL, "a composition of what is no function");
	if (status == PCTL_OK)
		status = t->fn.op.lib->reference(t->fn.op.inst, call, &ask.q, in, &result);
	for (uint32_t i = 0; i < 4; i++)
		free(in[i].data);
	return status;
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	return evaluate(of(inst)->term, call, in, q->in[0].dim[0], out->data);
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	return op == 0 ? &of(inst)->rules : NULL;
}

/* A function op without attributes is never asked for a plan. */
static const pctl_oplib library = {.head = PCTL_HEAD(pctl_oplib),
				   .op_count = op_count,
				   .op_at = op_at,
				   .infer = infer,
				   .function = function,
				   .reference = reference,
				   .rules = rules};

/* ---- text ------------------------------------------------------------------------------------- */

static const char *wgsl_type(uint32_t dtype)
{
	return dtype == PCTL_DTYPE_U128 ? "vec4<u32>" : pctl_dtype_name(dtype);
}

/* A line of use for each op; the front end takes an op named twice once. */
static void uses(pctl_str_buf *s, const pctl_law_term *t)
{
	if (t->kind != PCTL_LAW_TERM_CALL)
		return;
	pctl_str_addf(s, "//# use %s@%u\n", t->fn.op.desc->name, t->fn.op.desc->version);
	for (uint32_t i = 0; i < t->fn.n_in; i++)
		uses(s, t->args[i]);
}

static void expression(pctl_str_buf *s, const pctl_law_term *t)
{
	if (t->kind == PCTL_LAW_TERM_VAR) {
		pctl_str_addf(s, "%c", (int)('a' + t->var));
		return;
	}
	for (const char *at = t->fn.op.desc->name; *at != '\0'; at++)
		pctl_str_add_n(s, *at == '.' ? "_" : at, 1);
	if (t->fn.dtype != PCTL_SCALAR_U32)
		pctl_str_addf(s, "_%s", pctl_dtype_name(t->fn.dtype));
	for (uint32_t i = 0; i < t->fn.n_in; i++) {
		pctl_str_add(s, i == 0 ? "(" : ", ");
		expression(s, t->args[i]);
	}
	pctl_str_add(s, ")");
}

/* "int.neg@1(int.add@1)": variables alone are not spelled out. */
static void subject(pctl_str_buf *s, const pctl_law_term *t)
{
	int any = 0;

	pctl_str_addf(s, "%s@%u", t->fn.op.desc->name, t->fn.op.desc->version);
	for (uint32_t i = 0; i < t->fn.n_in; i++)
		any |= t->args[i]->kind == PCTL_LAW_TERM_CALL;
	for (uint32_t i = 0; any && i < t->fn.n_in; i++) {
		pctl_str_add(s, i == 0 ? "(" : ", ");
		if (t->args[i]->kind == PCTL_LAW_TERM_CALL)
			subject(s, t->args[i]);
		else
			pctl_str_addf(s, "%c", (int)('a' + t->args[i]->var));
	}
	if (any)
		pctl_str_add(s, ")");
}

static void measure(const pctl_law_term *t, pctl_op_function *f, int *halves)
{
	*halves |= t->dtype == PCTL_SCALAR_F16;
	if (t->kind == PCTL_LAW_TERM_VAR) {
		f->dtype = t->dtype;
		if (t->var >= f->n_in)
			f->n_in = t->var + 1;
		return;
	}
	for (uint32_t i = 0; i < t->fn.n_in; i++)
		measure(t->args[i], f, halves);
}

static char *in_arena(pctl_str_buf *s, pctl_arena *arena)
{
	char *text = pctl_str_finish(s), *kept = text == NULL ? NULL : pctl_arena_dup(arena, text);

	free(text);
	return kept;
}

static void write_text(pctl_composition *c, pctl_arena *arena, int halves)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	uses(&s, c->term);
	pctl_str_addf(&s, "%sfn composed_f", halves ? "enable f16;\n" : "");
	if (c->f.dtype != PCTL_SCALAR_U32)
		pctl_str_addf(&s, "_%s", pctl_dtype_name(c->f.dtype));
	for (uint32_t i = 0; i < c->f.n_in; i++)
		pctl_str_addf(&s, "%s%c: %s", i == 0 ? "(" : ", ", (int)('a' + i),
			      wgsl_type(c->f.dtype));
	pctl_str_addf(&s, ") -> %s {\n\treturn ", wgsl_type(c->f.out_dtype));
	expression(&s, c->term);
	pctl_str_add(&s, ";\n}\n");
	c->text = in_arena(&s, arena);
	subject(&s, c->term);
	pctl_str_addf(&s, " %s", pctl_dtype_name(c->f.dtype));
	c->subject = in_arena(&s, arena);
}

static const char *pattern(pctl_arena *arena, uint32_t dtype)
{
	return pctl_arena_printf(arena, "%s[...]", pctl_dtype_name(dtype));
}

pctl_status pctl_compose(const pctl_law_term *term, pctl_arena *arena, const pctl_call *call,
			 pctl_composition **out)
{
	static const char *const names[4] = {"a", "b", "c", "d"};
	pctl_composition *c = pctl_arena_alloc(arena, sizeof(*c));
	int halves = 0;

	*out = NULL;
	if (c == NULL || term == NULL || term->kind != PCTL_LAW_TERM_CALL)
		return pctl_no_memory(call, "a composition");
	c->term = term;
	measure(term, &c->f, &halves);
	c->f.out_dtype = term->dtype;
	for (uint32_t i = 0; i < c->f.n_in; i++)
		c->in[i] = (pctl_port){names[i], pattern(arena, c->f.dtype), "an operand", 0, 0};
	c->out[0] = (pctl_port){"y", pattern(arena, c->f.out_dtype), "the result", 0, 0};
	c->rules.head = (pctl_head)PCTL_HEAD(pctl_op_rules);
	c->desc = (pctl_op_desc){.head = PCTL_HEAD(pctl_op_desc),
				 .name = "composed.f",
				 .version = 1,
				 .kind = PCTL_OPDEF_FUNCTION,
				 .category = 'A',
				 .op_class = term->fn.op.desc->op_class,
				 .convention = 1,
				 .n_in = c->f.n_in,
				 .n_out = 1,
				 .in = c->in,
				 .out = c->out};
	c->f.op = (pctl_op_ref){.lib = &library,
				.inst = (pctl_instance *)(void *)c,
				.desc = &c->desc,
				.plugin = "composition",
				.digest = "composition"};
	write_text(c, arena, halves);
	if (c->text == NULL || c->subject == NULL)
		return pctl_no_memory(call, "a composition");
	*out = c;
	return PCTL_OK;
}
