/* `op support`: which op takes which element type, as the ops themselves answer (host/support.h). First the table of layers, then the ops
 * port by port. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "app.h"
#include "foundation/dtype/dtype.h"
#include "host/support.h"
#include "table.h"

/* Layers of neural networks, each by the op and the port of its weights, or of its data where it has none. */
static const struct layer {
	const char *layer, *op, *port;
} layers[] = {
	{"Dense", "tensor.matmul", "b"},       {"RMSNorm", "tensor.rms_norm", "weight"},
	{"CNN1", "tensor.conv1d", "w"},	       {"CNN2", "tensor.conv2d", "w"},
	{"CNN3", "tensor.conv3d", "w"},	       {"RNN", "tensor.rnn_cell", "w"},
	{"LSTM", "tensor.lstm_cell", "w"},     {"Embedding", "tensor.embedding", "table"},
	{"Softmax", "tensor.softmax", "x"},    {"MHA", "transformer.attention", "q"},
	{"SwiGLU", "transformer.swiglu", "a"}, {"Residual", "ieee.add", "b"},
};

#define LAYERS ((uint32_t)(sizeof(layers) / sizeof(layers[0])))

static const struct layer *layer_at(uint32_t i)
{
	return i < LAYERS ? &layers[i] : NULL;
}

/* An op that the arguments ask for: all of them where there are none. */
static int is_asked(const pctl_app *app, const pctl_op_desc *d)
{
	for (uint32_t i = 0; i < app->line.n_arguments; i++)
		if (fnmatch(app->line.arguments[i], d->name, 0) == 0)
			return 1;
	return app->line.n_arguments == 0;
}

/* Each pattern is of some op: PC4120. */
static pctl_status check_asked(const pctl_app *app, const pctl_op_source *ops)
{
	const uint32_t n = ops->count(ops->ctx);

	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		const char *pattern = app->line.arguments[i];
		pctl_op_ref op;
		uint32_t k = 0;

		for (; k < n; k++) {
			ops->at(ops->ctx, k, &op);
			if (fnmatch(pattern, op.desc->name, 0) == 0)
				break;
		}
		if (k == n)
			return pctl_refuse_at(app->call, PC4120_OP_UNKNOWN, NULL,
					      "`pipectl op list` shows all ops", "no op is \"%s\"",
					      pattern);
	}
	return PCTL_OK;
}

/* A format of weights: blocks, and what is narrower than f16 but for integers of a byte. */
static int is_packed(const pctl_dtype *t)
{
	return t->block > 1 || t->bits < 8 || (t->bits == 8 && t->kind == PCTL_DTYPE_KIND_FLOAT);
}

static int has_numbers(const pctl_dtype *t)
{
	return t->kind != PCTL_DTYPE_KIND_OPAQUE;
}

static void cell_json(pctl_app *app, const pctl_op_ref *op, const char *port, const pctl_dtype *t,
		      const pctl_support_cell *c)
{
	pctl_json *j = &app->document;

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "op", op->desc->name);
	pctl_json_kv_u32(j, "version", op->desc->version);
	pctl_json_kv_string(j, "port", port);
	pctl_json_kv_string(j, "type", t->name);
	pctl_json_kv_bool(j, "works", c->code == 0);
	pctl_json_kv_u32(j, "code", c->code);
	pctl_json_kv_string(j, "reason", c->reason);
	pctl_json_kv_string(j, "why", c->why);
	pctl_json_key(j, "in");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; c->code == 0 && i < c->n_in; i++)
		pctl_json_kv_string(j, op->desc->in[i].name, pctl_type_text(app->arena, &c->in[i]));
	pctl_json_object_end(j);
	pctl_json_key(j, "attr");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; c->code == 0 && i < c->n_attr; i++)
		pctl_json_kv_string(j, c->attr[i].name, c->attr[i].text);
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

/* Two cells stand in one line; with reasons only where these are the same. */
static int are_alike(const pctl_app *app, const pctl_support_cell *a, const pctl_support_cell *b)
{
	return a->code == b->code && (!app->verbose || a->why == b->why);
}

/* Types of one code together, with the reason of the first. */
static void print_port(pctl_app *app, const pctl_op_ref *op, uint32_t port,
		       const pctl_support_cell *cells)
{
	const pctl_dtype *t;
	uint64_t done = 0;

	printf("%s@%" PRIu32 " %s\n", op->desc->name, op->desc->version, op->desc->in[port].name);
	for (uint32_t i = 0; pctl_dtype_row(i) != NULL; i++) {
		if (!has_numbers(pctl_dtype_row(i)) || done >> i & 1)
			continue;
		printf(cells[i].code == 0 ? "  works         " : "  refused PC%04" PRIu32,
		       cells[i].code);
		for (uint32_t k = i; (t = pctl_dtype_row(k)) != NULL; k++) {
			if (!has_numbers(t) || !are_alike(app, &cells[k], &cells[i]))
				continue;
			done |= 1ull << k;
			printf(" %s", t->name);
		}
		if (cells[i].code != 0 && app->verbose)
			printf(": %s%s%s", cells[i].reason, cells[i].why == NULL ? "" : "; ",
			       cells[i].why == NULL ? "" : cells[i].why);
		printf("\n");
	}
}

static pctl_status ask_port(pctl_app *app, const pctl_op_ref *op, uint32_t port)
{
	pctl_support_cell *cells = pctl_arena_array(app->arena, 64, sizeof(*cells));
	pctl_status status = cells == NULL ? pctl_no_memory(app->call, "a table") : PCTL_OK;
	const pctl_dtype *t;

	for (uint32_t i = 0; status == PCTL_OK && i < 64 && (t = pctl_dtype_row(i)) != NULL; i++) {
		if (!has_numbers(t))
			continue;
		status = pctl_support_ask(op, port, t->id, app->arena, app->call, &cells[i]);
		if (status == PCTL_OK && app->json)
			cell_json(app, op, op->desc->in[port].name, t, &cells[i]);
	}
	if (status == PCTL_OK && !app->json)
		print_port(app, op, port, cells);
	return status;
}

/* The port of that name, or the last where another name was chosen for it. */
static uint32_t port_of(const pctl_op_desc *d, const char *name)
{
	for (uint32_t i = 0; i < d->n_in; i++)
		if (strcmp(d->in[i].name, name) == 0)
			return i;
	return d->n_in == 0 ? 0 : d->n_in - 1;
}

/* The layer's op for a type: a residual is added by the library of its numbers, what computes with f64 is an op of its own, and so is what reads rows of packed
 * weights. */
static const char *name_of(const struct layer *l, const pctl_dtype *t)
{
	const int adds = strcmp(l->op, "ieee.add") == 0;

	if (t->id == PCTL_SCALAR_F64 && adds)
		return "ieee.add64";
	if (t->id == PCTL_SCALAR_F64 && strcmp(l->op, "tensor.matmul") == 0)
		return "tensor.matmul64";
	if (strcmp(l->op, "tensor.embedding") == 0 && is_packed(t))
		return "transformer.embed";
	return adds && t->kind != PCTL_DTYPE_KIND_FLOAT ? "int.add" : l->op;
}

static pctl_status layer_cell(pctl_app *app, const pctl_op_source *ops, const struct layer *l,
			      const pctl_dtype *t, pctl_support_cell *c)
{
	pctl_op_ref op;

	memset(c, 0, sizeof(*c));
	c->code = PC4120_OP_UNKNOWN;
	return pctl_op_find(ops, name_of(l, t), 0, 0, NULL, NULL, &op) != PCTL_OK
		       ? PCTL_OK
		       : pctl_support_ask(&op, port_of(op.desc, l->port), t->id, app->arena,
					  app->call, c);
}

/* Below the table: the types that a layer refuses, those of one reason together. */
static void print_whys(const pctl_support_cell *cells)
{
	const struct layer *l;
	const pctl_dtype *t;

	for (uint32_t i = 0; (l = layer_at(i)) != NULL; i++) {
		uint64_t done = 0;

		for (uint32_t k = 0; (t = pctl_dtype_row(k)) != NULL; k++) {
			const char *why = cells[k * LAYERS + i].why;

			if (why == NULL || done >> k & 1)
				continue;
			printf("%s of", l->layer);
			for (uint32_t m = k; (t = pctl_dtype_row(m)) != NULL; m++) {
				if (cells[m * LAYERS + i].why != why)
					continue;
				done |= 1ull << m;
				printf(" %s", t->name);
			}
			printf(": %s\n", why);
		}
	}
}

static void layer_json(pctl_app *app, const struct layer *l, const pctl_dtype *t,
		       const pctl_support_cell *c)
{
	pctl_json *j = &app->document;

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "layer", l->layer);
	pctl_json_kv_string(j, "op", name_of(l, t));
	pctl_json_kv_string(j, "type", t->name);
	pctl_json_kv_u32(j, "code", c->code);
	pctl_json_kv_string(j, "why", c->why);
	pctl_json_object_end(j);
}

/* Works: Y; else the code's number. */
static pctl_status print_layers(pctl_app *app, const pctl_op_source *ops)
{
	pctl_support_cell *cells = pctl_arena_array(app->arena, 64 * LAYERS, sizeof(*cells));
	pctl_column columns[1 + LAYERS] = {{"", "", 9}};
	const struct layer *l;
	const pctl_dtype *t;
	pctl_table *table = NULL;
	pctl_status status = cells == NULL ? pctl_no_memory(app->call, "a table") : PCTL_OK;

	for (uint32_t i = 0; (l = layer_at(i)) != NULL; i++)
		columns[1 + i] = (pctl_column){l->layer, " ", 9};
	if (app->json) {
		pctl_json_key(&app->document, "layers");
		pctl_json_array_begin(&app->document);
	} else {
		table = pctl_table_begin(columns, PCTL_COLUMNS(columns), PCTL_TABLE_HEADS);
	}
	for (uint32_t k = 0; status == PCTL_OK && k < 64 && (t = pctl_dtype_row(k)) != NULL; k++) {
		if (!has_numbers(t))
			continue;
		if (!app->json)
			pctl_table_cell(table, "%s", t->name);
		for (uint32_t i = 0; status == PCTL_OK && (l = layer_at(i)) != NULL; i++) {
			pctl_support_cell *c = &cells[k * LAYERS + i];

			status = layer_cell(app, ops, l, t, c);
			if (status == PCTL_OK && app->json)
				layer_json(app, l, t, c);
			else if (status == PCTL_OK && c->code == 0)
				pctl_table_cell(table, "Y");
			else if (!app->json)
				pctl_table_cell(table, "PC%04" PRIu32, c->code);
		}
	}
	if (app->json) {
		pctl_json_array_end(&app->document);
	} else {
		const pctl_status printed = pctl_table_end(table, app->call);

		status = status == PCTL_OK ? printed : status;
	}
	if (!app->json && status == PCTL_OK) {
		print_whys(cells);
		printf("\n");
	}
	return status;
}

pctl_status pctl_verb_op_support(pctl_app *app)
{
	pctl_status status = pctl_installation_ops(&app->host, app->call);
	const pctl_op_source *ops;

	if (status != PCTL_OK)
		return status;
	ops = pctl_op_library_source(app->host.library);
	status = check_asked(app, ops);
	if (status != PCTL_OK)
		return status;
	status = print_layers(app, ops);
	if (app->json) {
		pctl_json_key(&app->document, "cells");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (!is_asked(app, op.desc))
			continue;
		for (uint32_t p = 0; status == PCTL_OK && p < op.desc->n_in; p++)
			status = ask_port(app, &op, p);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}
