/* Replaying: what was recorded in a worker is put into the host's sinks; see recording.h. */
#include "runtime/ipc/recording.h"

/* next: number of the next buffer or tensor. bad: what came is not what the sink made of it. */
typedef struct replay {
	const void *sink;
	uint32_t next;
	int bad;
} replay;

/* The numbers that the recorder gave away must be those the sink gives. */
static pctl_status numbered(replay *p, pctl_status s, uint32_t got, uint32_t n)
{
	p->bad |= !s && got != p->next;
	p->next += n;
	return s;
}

/* ---- plans -------------------------------------------------------------------------------- */

static pctl_status put_temp(replay *p, const pctl_ipc_temp *c)
{
	const pctl_plan_sink *sink = p->sink;
	uint32_t got = 0;
	const pctl_status s = sink->temp(sink->ctx, c->n_bytes, &got);

	return numbered(p, s, got, 1);
}

static pctl_status put_params(replay *p, const pctl_ipc_params *c)
{
	const pctl_plan_sink *sink = p->sink;
	uint32_t got = 0;
	const pctl_status s = sink->params(sink->ctx, c->bytes.data, c->bytes.n, &got);

	return numbered(p, s, got, 1);
}

static pctl_status put_kernel(replay *p, const pctl_plan_kernel *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->kernel(sink->ctx, c);
}

static pctl_status put_fill(replay *p, const pctl_ipc_plan_fill *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->fill(sink->ctx, c->buffer, c->offset, c->n_bytes, c->word);
}

static pctl_status put_copy(replay *p, const pctl_ipc_plan_copy *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->copy(sink->ctx, c->from, c->from_offset, c->to, c->to_offset, c->n_bytes);
}

static pctl_status put_op(replay *p, const pctl_ipc_plan_op *c)
{
	const pctl_plan_sink *sink = p->sink;
	pctl_attr attrs[PCTL_OPS_ATTRS_MAX];

	p->bad |= c->n_buffers != c->n_types;
	for (uint32_t i = 0; i < c->n_attrs; i++) {
		attrs[i] = c->attrs[i];
		if (!attrs[i].text)
			attrs[i].text = "";
	}
	return p->bad ? PCTL_OK
		      : sink->op(sink->ctx, c->name, c->version, c->buffers, c->types, c->n_buffers,
				 attrs, c->n_attrs);
}

static pctl_status put_assert(replay *p, const pctl_plan_assert *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->assert_equal(sink->ctx, c);
}

static pctl_status put_measure(replay *p, const pctl_ipc_plan_measure *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->measure(sink->ctx, c->buffer, c->offset, c->bytes, c->add);
}

static pctl_status put_repeat(replay *p, const pctl_plan_repeat *c)
{
	const pctl_plan_sink *sink = p->sink;

	return sink->repeat(sink->ctx, c);
}

static pctl_status put_repeat_end(replay *p, const pctl_ipc_nothing *c)
{
	const pctl_plan_sink *sink = p->sink;

	(void)c;
	return sink->repeat_end(sink->ctx);
}

static pctl_status put_constant(replay *p, const pctl_ipc_plan_constant *c)
{
	const pctl_plan_sink *sink = p->sink;
	uint32_t got = 0;
	const pctl_status s = sink->constant(sink->ctx, c->cid, c->bytes.data, c->bytes.n, &got);

	return numbered(p, s, got, 1);
}

/* ---- laws --------------------------------------------------------------------------------- */

static pctl_status put_tensor(replay *p, const pctl_ipc_law_tensor *c)
{
	const pctl_law_sink *sink = p->sink;
	uint32_t got = 0;
	const pctl_status s = sink->tensor(sink->ctx, &c->type, c->data.data, c->data.n, &got);

	return numbered(p, s, got, 1);
}

static pctl_status put_use(replay *p, const pctl_ipc_law_use *c)
{
	const pctl_law_sink *sink = p->sink;
	uint32_t first = 0;
	pctl_status s;

	for (uint32_t i = 0; i < c->n_attrs; i++)
		p->bad |= !c->attrs[i].text;
	if (p->bad)
		return PCTL_OK;
	s = sink->use(sink->ctx, c->op, c->version, c->inputs, c->n_inputs, c->attrs, c->n_attrs,
		      c->n_out, &first);
	return numbered(p, s, first, c->n_out);
}

static pctl_status put_equal(replay *p, const pctl_ipc_law_equal *c)
{
	const pctl_law_sink *sink = p->sink;

	return sink->equal(sink->ctx, c->got, c->want);
}

static pctl_status put_judged(replay *p, const pctl_ipc_law_judged *c)
{
	const pctl_law_sink *sink = p->sink;

	return sink->judged(sink->ctx, c->holds, c->got, c->want);
}

static pctl_status put_again(replay *p, const pctl_ipc_nothing *c)
{
	const pctl_law_sink *sink = p->sink;

	(void)c;
	return sink->again(sink->ctx);
}

/* ---- problems ----------------------------------------------------------------------------- */

static pctl_status put_input(replay *p, const pctl_ipc_problem_input *c)
{
	const pctl_problem_sink *sink = p->sink;

	return sink->input(sink->ctx, c->port, &c->type, c->data.data, c->data.n);
}

static pctl_status put_attr(replay *p, const pctl_ipc_problem_attr *c)
{
	const pctl_problem_sink *sink = p->sink;

	return sink->attr(sink->ctx, c->index, c->text);
}

static pctl_status put_measured(replay *p, const pctl_ipc_problem_measured *c)
{
	const pctl_problem_sink *sink = p->sink;

	return sink->measured(sink->ctx, c->value);
}

static pctl_status put_rigid(replay *p, const pctl_ipc_nothing *c)
{
	const pctl_problem_sink *sink = p->sink;

	(void)c;
	return sink->rigid(sink->ctx);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Room for any command. */
typedef union any {
#define PCTL_COMMAND(number, NAME, name, shape, whose, means) pctl_ipc_##shape name;
#include "runtime/ipc/protocol.def"
} any;

static pctl_status put(replay *p, uint32_t number, const any *c)
{
	switch (number) {
#define PCTL_COMMAND(number, NAME, name, shape, whose, means) \
	case PCTL_OPS_##NAME:                                 \
		return put_##name(p, &c->name);
#include "runtime/ipc/protocol.def"
	default:
		p->bad = 1;
		return PCTL_OK;
	}
}

static int run(replay *p, uint32_t whose, const uint8_t *record, size_t n, pctl_status *status)
{
	pctl_ipc_in in = {record, n, 0, 0};
	pctl_arena *arena = pctl_arena_create();
	const pctl_ipc_scope scope = {arena, NULL, NULL};

	*status = PCTL_OK;
	p->bad = !arena;
	while (!p->bad && !*status && in.pos < in.n) {
		const uint32_t number = pctl_ipc_get_u32(&in);
		const uint32_t shape = pctl_ipc_command_shape(number, whose);
		any command;

		p->bad = in.failed || shape == UINT32_MAX ||
			 !pctl_ipc_unpack(&in, shape, &scope, &command);
		if (!p->bad)
			*status = put(p, number, &command);
		pctl_arena_clear(arena);
	}
	pctl_arena_destroy(arena);
	return !p->bad;
}

int pctl_ops_replay_plan(const uint8_t *record, size_t n, const pctl_plan_sink *sink, uint32_t next,
			 pctl_status *status)
{
	replay p = {sink, next, 0};

	return run(&p, PCTL_IPC_IN_PLAN, record, n, status);
}

int pctl_ops_replay_law(const uint8_t *record, size_t n, const pctl_law_sink *sink, uint32_t next,
			pctl_status *status)
{
	replay p = {sink, next, 0};

	return run(&p, PCTL_IPC_IN_LAW, record, n, status);
}

int pctl_ops_replay_problem(const uint8_t *record, size_t n, const pctl_problem_sink *sink,
			    pctl_status *status)
{
	replay p = {sink, 0, 0};

	return run(&p, PCTL_IPC_IN_PROBLEM, record, n, status);
}
