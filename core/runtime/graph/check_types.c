/* The check of types without sizes: element types and shapes along every edge, named dimensions by
 * unification. What depends on the size of data is inferred by the op libraries when sizes are
 * known (plan). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/check.h"

/* A dimension while it is unified: a class of a union-find forest, with a value once one is known.
 */
struct symbol {
	uint32_t parent;
	uint32_t known;
	uint64_t value;
	const char *job; /* whose name it is, "" the pipeline */
	const char *name;
	const char *from; /* what declares it: "input \"d\"" */
	pctl_pos pos;	  /* where; a file of NULL: in an op library */
};

/* What declares a type. */
struct place {
	const char *from;
	pctl_pos pos;
};

/* The type of an edge: allowed element types, and dimensions as symbols. */
struct edge_type {
	uint32_t dtype[PCTL_DTYPES_MAX];
	uint32_t n_dtypes, rank, any_shape;
	uint32_t dim[PCTL_RANK_MAX];
};

struct typing {
	pctl_checking *c;
	PCTL_VEC(struct symbol) symbols;
	pctl_map *named; /* the pipeline's dimensions: the symbol's number and 1 */
	uint32_t
		first_own; /* the first symbol of the job that is typed: a job's names are its own */
	struct edge_type *inputs; /* of the pipeline */
	struct edge_type **outs;  /* of each node */
};

static uint32_t root_of(struct typing *t, uint32_t s)
{
	while (t->symbols.items[s].parent != s)
		s = t->symbols.items[s].parent =
			t->symbols.items[t->symbols.items[s].parent].parent;
	return s;
}

static uint32_t add_symbol(struct typing *t, const char *job, const pctl_dim_pattern *d,
			   const struct place *place)
{
	struct symbol s = {t->symbols.n, d->name == NULL, d->value,  job,
			   d->name,	 place->from,	  place->pos};
	const pctl_pipeline *p = t->c->graph->pipeline;

	if (d->name != NULL && *job == '\0' && pctl_map_has(t->named, d->name))
		return (uint32_t)(uintptr_t)pctl_map_get(t->named, d->name) - 1u;
	for (uint32_t i = t->first_own; d->name != NULL && *job != '\0' && i < t->symbols.n; i++) {
		const struct symbol *o = &t->symbols.items[i];

		if (o->name != NULL && strcmp(o->name, d->name) == 0 && strcmp(o->job, job) == 0)
			return i;
	}
	/* A parameter of that name is its value, until data say otherwise: then the run refuses it. */
	for (uint32_t i = 0; *job == '\0' && d->name != NULL && i < p->n_params; i++) {
		if (strcmp(p->params[i].name, d->name) != 0 ||
		    !pctl_graph_number(t->c->graph, d->name, &s.value))
			continue;
		s.known = 1;
		s.from = pctl_arena_printf(t->c->graph->arena, "parameter \"%s\"", d->name);
		s.pos = p->params[i].pos;
	}
	if (!PCTL_VEC_PUSH(&t->symbols, s) ||
	    (d->name != NULL && *job == '\0' &&
	     !pctl_map_put(t->named, d->name, (void *)(uintptr_t)(s.parent + 1u)))) {
		pctl_check_keep(t->c, pctl_no_memory(t->c->call, "a graph"));
		return 0;
	}
	return s.parent;
}

/* An extent that is not known yet, and nobody else's. */
static uint32_t add_open(struct typing *t, const pctl_dim_pattern *d)
{
	const struct symbol s = {t->symbols.n, 0, 0, "?", d->name, NULL, {NULL, 0, 0, 0, 0}};

	if (!PCTL_VEC_PUSH(&t->symbols, s)) {
		pctl_check_keep(t->c, pctl_no_memory(t->c->call, "a graph"));
		return 0;
	}
	return s.parent;
}

static struct edge_type from_pattern(struct typing *t, const char *job, const pctl_type_pattern *p,
				     const struct place *place)
{
	struct edge_type e = {.n_dtypes = p->n_dtypes, .rank = p->rank, .any_shape = p->any_shape};

	memcpy(e.dtype, p->dtype, sizeof(e.dtype));
	for (uint32_t i = 0; i < p->rank; i++)
		e.dim[i] = add_symbol(t, job, &p->dim[i], place);
	return e;
}

/* Where a number comes from that a dimension has. */
static void note_source(struct typing *t, uint32_t symbol, pctl_note *notes, uint32_t *n)
{
	const struct symbol *s = &t->symbols.items[root_of(t, symbol)];

	if (!s->known || s->from == NULL)
		return;
	notes[*n].pos = s->pos;
	notes[*n].message = pctl_arena_printf(t->c->graph->arena, "the %" PRIu64 " stands in %s",
					      s->value, s->from);
	*n += notes[*n].message != NULL;
}

/* Say what does not fit, with the port that asks and the place that gives. dims: the two dimensions that have different numbers, NULL
 * where it is not for these. */
static void mismatch(struct typing *t, const pctl_graph_node *n, const char *port,
		     const char *wants, const pctl_pipe_ref *ref, const char *why, uint32_t code,
		     const uint32_t *dims)
{
	pctl_arena *arena = t->c->graph->arena;
	pctl_note notes[3] = {{{NULL, 0, 0, 0, 0}, NULL}};
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = code,
		       .severity = PCTL_SEVERITY_ERROR,
		       .pos = ref->pos,
		       .subject = n->job->id,
		       .notes = notes,
		       .n_notes = 1};

	notes[0].message =
		n->job->kind == PCTL_JOB_OP
			? pctl_arena_printf(arena,
					    "port \"%s\" is declared by %s@%" PRIu32 " of %s", port,
					    n->op.desc->name, n->op.desc->version, n->op.plugin)
			: pctl_arena_printf(arena, "variable \"%s\" is declared by the shader",
					    port);
	d.message = pctl_arena_printf(arena, "job \"%s\" port \"%s\" wants %s, \"%s\" %s",
				      n->job->id, port, wants, ref->text, why);
	if (d.message == NULL)
		d.message = "types do not agree";
	for (uint32_t i = 0; dims != NULL && i < 2; i++)
		note_source(t, dims[i], notes, &d.n_notes);
	pctl_check_keep(t->c, pctl_emit(t->c->call, &d));
}

static int unify_dims(struct typing *t, uint32_t a, uint32_t b)
{
	struct symbol *x, *y;

	a = root_of(t, a);
	b = root_of(t, b);
	x = &t->symbols.items[a];
	y = &t->symbols.items[b];
	if (a == b)
		return 1;
	if (x->known && y->known)
		return x->value == y->value;
	if (x->known)
		y->parent = a;
	else
		x->parent = b;
	return 1;
}

static void unify(struct typing *t, const pctl_graph_node *n, const char *port, const char *wants,
		  struct edge_type *want, const struct edge_type *have, const pctl_pipe_ref *ref)
{
	pctl_arena *arena = t->c->graph->arena;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < want->n_dtypes; i++) {
		int allowed = 0;

		for (uint32_t k = 0; k < have->n_dtypes; k++)
			allowed |= want->dtype[i] == have->dtype[k];
		if (allowed)
			want->dtype[kept++] = want->dtype[i];
	}
	if (kept == 0) {
		mismatch(t, n, port, wants, ref,
			 pctl_arena_printf(arena, "is %s", pctl_dtype_name(have->dtype[0])),
			 PC4102_EDGE_TYPE, NULL);
		return;
	}
	want->n_dtypes = kept;
	if (want->any_shape || have->any_shape)
		return;
	if (want->rank != have->rank) {
		mismatch(t, n, port, wants, ref,
			 pctl_arena_printf(arena, "has %" PRIu32 " dimensions", have->rank),
			 PC4102_EDGE_TYPE, NULL);
		return;
	}
	for (uint32_t i = 0; i < want->rank; i++) {
		const uint32_t dims[2] = {have->dim[i], want->dim[i]};

		if (!unify_dims(t, want->dim[i], have->dim[i]))
			mismatch(t, n, port, wants, ref,
				 pctl_arena_printf(
					 arena,
					 "has %" PRIu64 " in dimension %" PRIu32 " where %" PRIu64
					 " is due",
					 t->symbols.items[root_of(t, have->dim[i])].value, i,
					 t->symbols.items[root_of(t, want->dim[i])].value),
				 PC4106_DIMENSION, dims);
	}
}

static const struct edge_type *edge_of(const struct typing *t, pctl_source s)
{
	return s.job == PCTL_FROM_INPUT ? &t->inputs[s.port] : &t->outs[s.job][s.port];
}

/* What feeds input `input` of an op: of a list, the one at its place. */
static const pctl_pipe_ref *ref_of(const pctl_graph_node *n, uint32_t input)
{
	const pctl_op_desc *d = n->op.desc;
	uint32_t earlier = input < d->n_in ? 0 : input + 1 - d->n_in;

	for (uint32_t i = 0; i < n->job->n_in; i++) {
		if (strcmp(n->job->in[i].port, pctl_op_input(d, input)->name) == 0 &&
		    earlier-- == 0)
			return &n->job->in[i].from;
	}
	return NULL;
}

/* An alternative of the inputs decides the outputs that have the very same list: int.add's u32|u64
 * in is u32|u64 out. */
static void narrow_like(struct edge_type *out, const pctl_type_pattern *out_pattern,
			const pctl_type_pattern *in_pattern, const struct edge_type *in)
{
	if (out_pattern->n_dtypes != in_pattern->n_dtypes || out_pattern->n_dtypes == 1 ||
	    memcmp(out_pattern->dtype, in_pattern->dtype,
		   sizeof(uint32_t) * in_pattern->n_dtypes) != 0)
		return;
	memcpy(out->dtype, in->dtype, sizeof(out->dtype));
	out->n_dtypes = in->n_dtypes;
}

/* "f32[4,n]", "f32[...]": what is known of an edge. */
static const char *edge_text(struct typing *t, const struct edge_type *e)
{
	pctl_type_pattern p = {.n_dtypes = 1, .rank = e->rank, .any_shape = e->any_shape};

	p.dtype[0] = e->dtype[0];
	for (uint32_t i = 0; i < e->rank && !e->any_shape; i++) {
		const struct symbol *s = &t->symbols.items[root_of(t, e->dim[i])];

		p.dim[i] = (pctl_dim_pattern){s->known		? NULL
					      : s->name == NULL ? "?"
								: s->name,
					      s->value};
	}
	return pctl_pattern_text(t->c->graph->arena, &p);
}

/* The extent of two along one dimension; 0: they do not go together. One that is open gives way to a number that is not 1:
 * it is that or 1, which the run finds out. */
static int stretch_dims(struct typing *t, uint32_t a, uint32_t b, uint32_t *out)
{
	const struct symbol x = t->symbols.items[root_of(t, a)],
			    y = t->symbols.items[root_of(t, b)];
	const pctl_dim_pattern open = {"?", 0};
	uint64_t extent;

	*out = x.known && x.value == 1 ? b : a;
	if (root_of(t, a) == root_of(t, b) || (x.known && x.value == 1) ||
	    (y.known && y.value == 1))
		return 1;
	if (x.known && y.known)
		return pctl_broadcast_extent(x.value, y.value, &extent);
	*out = x.known ? a : b;
	if (!x.known && !y.known)
		*out = add_open(t, &open);
	return 1;
}

/* Of a port that takes vectors: what feeds it ends with so many elements. */
static void hold_lanes(struct typing *t, const pctl_graph_node *n, const pctl_port *port,
		       const struct place *place, const struct edge_type *have,
		       const pctl_pipe_ref *ref)
{
	const pctl_dim_pattern last = {NULL, pctl_port_lanes(port)};
	uint32_t dims[2];

	if (last.value == 1 || have->any_shape)
		return;
	if (have->rank == 0) {
		mismatch(t, n, port->name, port->type, ref, "has no dimension", PC4102_EDGE_TYPE,
			 NULL);
		return;
	}
	dims[0] = have->dim[have->rank - 1];
	dims[1] = add_symbol(t, n->job->id, &last, place);
	if (!unify_dims(t, dims[1], dims[0]))
		mismatch(t, n, port->name, port->type, ref,
			 pctl_arena_printf(t->c->graph->arena, "is %s", edge_text(t, have)),
			 PC4106_DIMENSION, dims);
}

/* What feeds input i of a function op, without the dimension that its vectors lie along. */
static struct edge_type places_of(const struct typing *t, const pctl_graph_node *n, uint32_t i)
{
	struct edge_type e = *edge_of(t, n->in[i]);

	e.rank -= pctl_port_lanes(&n->op.desc->in[i]) != 1 && e.rank != 0;
	return e;
}

/* Operands of a function op that are stretched, and the shape that they are stretched to: the output's (semantics 14.2). */
static void stretch(struct typing *t, pctl_graph_node *n, uint32_t index)
{
	const pctl_dim_pattern lanes = {NULL, pctl_port_lanes(&n->op.desc->out[0])};
	const struct place nowhere = {NULL, {NULL, 0, 0, 0, 0}};
	struct edge_type shape = places_of(t, n, 0);

	for (uint32_t i = 1; i < n->n_in; i++) {
		const struct edge_type places = places_of(t, n, i), *have = &places;
		struct edge_type next = {.rank = shape.rank > have->rank ? shape.rank : have->rank};
		const uint32_t a = next.rank - shape.rank, b = next.rank - have->rank;

		next.any_shape = shape.any_shape || have->any_shape;
		for (uint32_t d = 0; !next.any_shape && d < next.rank; d++) {
			if (d < a || d < b) {
				next.dim[d] = d < a ? have->dim[d - b] : shape.dim[d - a];
				continue;
			}
			if (stretch_dims(t, shape.dim[d - a], have->dim[d - b], &next.dim[d]))
				continue;
			pctl_check_keep(t->c,
					pctl_broadcast_refuse(
						n->op.desc, n->job->id, &ref_of(n, i)->pos, 0,
						edge_text(t, edge_of(t, n->in[0])), i,
						edge_text(t, edge_of(t, n->in[i])), t->c->call));
			return;
		}
		shape.any_shape = next.any_shape;
		shape.rank = next.rank;
		memcpy(shape.dim, next.dim, sizeof(shape.dim));
	}
	if (shape.any_shape)
		return;
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct edge_type places = places_of(t, n, i), *have = &places;
		int fits = have->rank == shape.rank;

		if (pctl_port_stretches(n->op.desc, i))
			continue;
		for (uint32_t d = 0; fits && d < shape.rank; d++) {
			const struct symbol x = t->symbols.items[root_of(t, have->dim[d])];
			const struct symbol y = t->symbols.items[root_of(t, shape.dim[d])];

			fits = !x.known || !y.known || x.value == y.value;
		}
		if (!fits)
			pctl_check_keep(t->c,
					pctl_broadcast_refuse(
						n->op.desc, n->job->id, &ref_of(n, i)->pos,
						i == 0 ? 1 : 0,
						edge_text(t, edge_of(t, n->in[i == 0 ? 1 : 0])), i,
						edge_text(t, edge_of(t, n->in[i])), t->c->call));
	}
	if (lanes.value != 1 && shape.rank < PCTL_RANK_MAX)
		shape.dim[shape.rank++] = add_symbol(t, n->job->id, &lanes, &nowhere);
	if (t->outs[index][0].any_shape) {
		t->outs[index][0].any_shape = 0;
		t->outs[index][0].rank = shape.rank;
		memcpy(t->outs[index][0].dim, shape.dim, sizeof(shape.dim));
	}
}

static struct place port_place(struct typing *t, const pctl_graph_node *n, const char *port)
{
	return (struct place){pctl_arena_printf(t->c->graph->arena, "port \"%s\" of job \"%s\"",
						port, n->job->id),
			      n->job->op_pos};
}

static void type_op(struct typing *t, uint32_t index)
{
	pctl_graph_node *n = pctl_check_node(t->c, index);
	const pctl_op_desc *desc = n->op.desc;
	pctl_arena *arena = t->c->graph->arena;
	pctl_type_pattern in[PCTL_PORTS_MAX], pattern;
	struct edge_type want[PCTL_PORTS_MAX];
	struct place place;

	t->first_own = t->symbols.n;
	for (uint32_t i = 0; i < n->n_in; i++) {
		const pctl_pipe_ref *ref = ref_of(n, i);
		const pctl_port *port = pctl_op_input(desc, i);

		if (pctl_port_parse(port->type, arena, NULL, t->c->call, &in[i]) != PCTL_OK ||
		    ref == NULL) {
			pctl_check_keep(t->c, PCTL_E_PLUGIN);
			return;
		}
		place = port_place(t, n, port->name);
		want[i] = from_pattern(t, n->job->id, &in[i], &place);
		unify(t, n, port->name, port->type, &want[i], edge_of(t, n->in[i]), ref);
		hold_lanes(t, n, port, &place, edge_of(t, n->in[i]), ref);
	}
	for (uint32_t i = 0; i < n->n_out; i++) {
		if (pctl_port_parse(desc->out[i].type, arena, NULL, t->c->call, &pattern) !=
		    PCTL_OK) {
			pctl_check_keep(t->c, PCTL_E_PLUGIN);
			return;
		}
		place = port_place(t, n, desc->out[i].name);
		t->outs[index][i] = from_pattern(t, n->job->id, &pattern, &place);
		for (uint32_t k = 0; k < n->n_in; k++)
			narrow_like(&t->outs[index][i], &pattern, &in[k], &want[k]);
	}
	if (desc->kind == PCTL_OPDEF_FUNCTION && n->n_in != 0 && n->n_out == 1 &&
	    t->c->status == PCTL_OK)
		stretch(t, n, index);
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->carry[i] != 0)
			unify(t, n, desc->in[i].name, desc->in[i].type, &want[i],
			      &t->outs[index][n->carry[i] - 1], ref_of(n, i));
	}
}

/* ---- shader jobs ---------------------------------------------------------------------------- */

static void refuse_shader(struct typing *t, const pctl_graph_node *n, const pctl_shader_var *v,
			  const pctl_pos *pos, const char *what, uint32_t dtype)
{
	pctl_check_keep(
		t->c,
		pctl_refuse_at(t->c->call, PC4102_EDGE_TYPE, pos,
			       "give both the same element type, or bytes[n] where the "
			       "shader takes the bytes apart itself",
			       "job \"%s\": variable \"%s\" of the shader is made of %s, %s is %s",
			       n->job->id, v->name, pctl_check_var_text(t->c->graph->arena, v),
			       what, pctl_dtype_name(dtype)));
}

/* What is known of an edge's extents. */
static pctl_check_shape shape_of(struct typing *t, const struct edge_type *e)
{
	pctl_check_shape out = {e->dtype[0], e->rank, e->any_shape, 0, {0}};

	for (uint32_t i = 0; i < e->rank && !e->any_shape; i++) {
		const struct symbol *s = &t->symbols.items[root_of(t, e->dim[i])];

		out.dim[i] = s->known ? s->value : 0;
	}
	return out;
}

static void type_in(struct typing *t, const pctl_graph_node *n, const pctl_shader_var *v)
{
	const struct edge_type *have = edge_of(t, n->in[v->in]);
	const pctl_pipe_ref *ref = &n->job->in[v->in].from;
	const char *what = pctl_arena_printf(t->c->graph->arena, "\"%s\"", ref->text);
	pctl_check_shape shape;
	int same = have->n_dtypes == 0;

	for (uint32_t k = 0; k < have->n_dtypes; k++)
		same |= pctl_check_same_scalar(v, have->dtype[k]);
	if (what == NULL)
		what = "it";
	if (!same) {
		refuse_shader(t, n, v, &ref->pos, what, have->dtype[0]);
	} else if (have->n_dtypes == 1) {
		shape = shape_of(t, have);
		pctl_check_layout(t->c, n, v, &shape, &ref->pos, what);
	}
}

static struct edge_type shader_output(struct typing *t, const pctl_graph_node *n, uint32_t i)
{
	const pctl_pipe_result *out = &n->job->out[i];
	const struct place place = {pctl_arena_printf(t->c->graph->arena,
						      "output \"%s\" of job \"%s\"", out->name,
						      n->job->id),
				    out->type_pos};

	return from_pattern(t, "", &out->type, &place);
}

static void type_out(struct typing *t, const pctl_graph_node *n, const pctl_shader_var *v)
{
	const pctl_pipe_result *out = &n->job->out[v->out];
	const struct edge_type declared = shader_output(t, n, v->out);
	const pctl_check_shape shape = shape_of(t, &declared);

	if (!pctl_check_same_scalar(v, shape.dtype))
		refuse_shader(t, n, v, &out->type_pos, "the output", shape.dtype);
	else
		pctl_check_layout(t->c, n, v, &shape, &out->type_pos, "the output");
}

/* What goes in and what is said to come out is what the shader declares. */
static void type_shader(struct typing *t, const pctl_graph_node *n)
{
	for (uint32_t i = 0; i < n->n_vars; i++) {
		const pctl_shader_var *v = &n->vars[i];

		if (v->in != UINT32_MAX && v->in < n->n_in)
			type_in(t, n, v);
		if (v->out != UINT32_MAX)
			type_out(t, n, v);
	}
}

/* What a state is after a run has the type that it has before. Where a number is not known yet, the run says the same. */
static void type_states(struct typing *t)
{
	const pctl_graph *g = t->c->graph;

	for (uint32_t i = 0; i < g->pipeline->n_states; i++) {
		const pctl_pipe_state *s = &g->pipeline->states[i];
		const struct edge_type *is = &t->inputs[s->input];
		const struct edge_type *next = edge_of(t, g->outputs[s->output]);
		int fits = next->any_shape || next->rank == is->rank, same = 0;

		pctl_pipe_once_of(t->c->once, strchr(s->name, '/') == NULL ? NULL : s->name);
		for (uint32_t k = 0; k < next->n_dtypes; k++)
			same |= next->dtype[k] == is->dtype[0];
		for (uint32_t d = 0; fits && !next->any_shape && d < is->rank; d++)
			fits = unify_dims(t, is->dim[d], next->dim[d]);
		if (!fits || !same)
			pctl_check_keep(t->c, pctl_state_refuse(g->pipeline, i, edge_text(t, is),
								edge_text(t, next), t->c->call));
	}
}

void pctl_check_types(pctl_checking *c)
{
	pctl_graph *g = c->graph;
	struct typing t = {.c = c, .named = pctl_map_create()};

	t.inputs = pctl_arena_array(g->arena, g->pipeline->n_inputs, sizeof(*t.inputs));
	t.outs = pctl_arena_array(g->arena, g->n_nodes, sizeof(*t.outs));
	if (t.inputs == NULL || t.outs == NULL || t.named == NULL) {
		pctl_map_destroy(t.named);
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	for (uint32_t i = 0; i < g->pipeline->n_inputs; i++) {
		const pctl_pipe_input *in = &g->pipeline->inputs[i];
		const struct place place = {pctl_arena_printf(g->arena, "input \"%s\"", in->name),
					    in->pos};

		t.inputs[i] = from_pattern(&t, "", &in->type, &place);
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint32_t index = g->order[i];
		const pctl_graph_node *n = pctl_check_node(c, index);

		t.outs[index] = pctl_arena_array(g->arena, n->n_out, sizeof(**t.outs));
		if (t.outs[index] == NULL) {
			pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
			break;
		}
		if (n->job->kind == PCTL_JOB_OP) {
			type_op(&t, index);
			continue;
		}
		/* A shader's outputs are typed by the job, its inputs by what it declares in WGSL. */
		type_shader(&t, n);
		for (uint32_t k = 0; k < n->n_out; k++)
			t.outs[index][k] = shader_output(&t, n, k);
	}
	if (c->status == PCTL_OK)
		type_states(&t);
	pctl_map_destroy(t.named);
	free(t.symbols.items);
}
