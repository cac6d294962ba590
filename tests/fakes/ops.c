/* An op library that does, op by op, what no op library may: ends its process, crashes, hangs, and speaks to the host itself
 * on the descriptor of its worker. stranger.good is as it should be, and so is
 * stranger.old, which is superseded, and stranger.sized, which wants a size found in its data: that of a first element above 100 does not fit in 64 bits. All map u32[n] to x + 1. */
#include <signal.h>
#include <unistd.h>

#ifdef STRANGER_ID
#define OPLIB_ID STRANGER_ID
#else
#define OPLIB_ID "stranger"
#endif

#include "pipectl/oplib.h"

static const pctl_op_problems *problems(pctl_instance *inst, uint32_t op);
static pctl_status problem(pctl_instance *inst, const pctl_call *call, uint32_t op, uint32_t dtype,
			   uint64_t number, uint64_t seed, const pctl_problem_sink *sink);
static pctl_status law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
		       const pctl_law_sink *sink);

#define OPLIB_MORE , .problems = problems, .problem = problem, .law = law
#include "oplib.h"
#include "runtime/ipc/protocol.h"

enum {
	GOOD,
	EXIT_INFER,
	QUIT_PLAN,
	CRASH_REFERENCE,
	HANG_INFER,
	HANG_REFERENCE,
	SPIN_PLAN,
	BABBLE_INFER,
	FORGE_INFER,
	FORGE_PLAN,
	WORDLESS_INFER,
	SIZED,
	LAWFUL,
	CRASH_LAW,
	HANG_LAW,
	WILD_LAW,
	WILD_PROBLEM,
	OLD,
	N_OPS
};

static const char wgsl[] = "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
			   "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
			   "@compute @workgroup_size(64)\n"
			   "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
			   "\tif (id.x < arrayLength(&y)) {\n"
			   "\t\ty[id.x] = x[id.x] + 1u;\n"
			   "\t}\n"
			   "}\n";
static const pctl_port in_ports[] = {{"x", "u32[n]", "numbers", 0, 0}};
static const pctl_port out_ports[] = {{"y", "u32[n]", "the next ones", 0, 0}};
#define OP(NAME, ...)                                                                        \
	{                                                                                    \
		.head = PCTL_HEAD(pctl_op_desc), .name = NAME, .doc = "the next number",     \
		.spec = "y = x + 1 modulo 2^32", .version = 1, .kind = PCTL_OPDEF_PLAN,      \
		.category = 'A', .op_class = PCTL_CLASS_INTEGER, .convention = 1, .n_in = 1, \
		.n_out = 1, .in = in_ports, .out = out_ports, __VA_ARGS__                    \
	}
static const pctl_op_desc ops[N_OPS] = {
	OP("stranger.good", ),		 OP("stranger.exit_infer", ),
	OP("stranger.quit_plan", ),	 OP("stranger.crash_reference", ),
	OP("stranger.hang_infer", ),	 OP("stranger.hang_reference", ),
	OP("stranger.spin_plan", ),	 OP("stranger.babble_infer", ),
	OP("stranger.forge_infer", ),	 OP("stranger.forge_plan", ),
	OP("stranger.wordless_infer", ), OP("stranger.sized", ),
	OP("stranger.lawful", ),	 OP("stranger.crash_law", ),
	OP("stranger.hang_law", ),	 OP("stranger.wild_law", ),
	OP("stranger.wild_problem", ),	 OP("stranger.old", .deprecated = "use stranger.good@1"),
};

static uint32_t oplib_ops(const pctl_op_desc **out)
{
	*out = ops;
	return N_OPS;
}

static void hang(void)
{
	for (;;)
		pause();
}

static void say(const void *bytes, size_t n)
{
	if (write(PCTL_IPC_FD, bytes, n) != (ssize_t)n)
		abort();
}

/* A well-formed answer to request `op`, the third that the host makes, with words that lie. */
static void forge(uint16_t op, const uint32_t *words, uint32_t n)
{
	const pctl_ipc_header h = {4 * (n + 2), op, 0, 3, 0};
	const uint32_t ok[2] = {PCTL_OK, 0};

	say(&h, sizeof(h));
	say(ok, sizeof(ok));
	say(words, 4 * (size_t)n);
	hang();
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	/* No measure, then one tensor, of a thousand dimensions. */
	static const uint32_t wild[2 + 18] = {0, 1, PCTL_SCALAR_U32, 1000};

	(void)inst;
	(void)call;
	switch (q->op) {
	case EXIT_INFER:
		exit(0);
	case HANG_INFER:
		hang();
		break;
	case BABBLE_INFER:
		say("this is no frame, and long enough to be taken for one", 54);
		hang();
		break;
	case FORGE_INFER:
		forge(PCTL_IPC_OPS_INFER, wild, 20);
		break;
	case WORDLESS_INFER:
		return PCTL_E_INVALID;
	case SIZED:
		if (q->n_measured != 0)
			break;
		*out = (pctl_op_result){.head = PCTL_HEAD(pctl_op_result), .measure = "first"};
		return PCTL_OK;
	default:
		break;
	}
	return oplib_infer_same(q, out);
}

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	/* Twelve bytes of commands, of which there is one: a kernel whose name is as long as everything. */
	static const uint32_t wild[] = {12, 0, PCTL_OPS_KERNEL, 0xffffffff, 0xffffffff};
	const pctl_plan_binding bindings[2] = {{.binding = 0}, {.binding = 1, .buffer = 1}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "stranger/next.wgsl",
				    .wgsl = wgsl,
				    .bindings = bindings,
				    .n_bindings = 2,
				    .groups = {oplib_groups(q), 1, 1}};
	uint32_t number;

	(void)inst;
	(void)call;
	(void)caps;
	if (q->op == SIZED && flags & PCTL_PLAN_MEASURE)
		return sink->measure(sink->ctx, 0, 0, 4, UINT64_MAX - 100);
	if (q->op == QUIT_PLAN)
		_exit(0);
	if (q->op == FORGE_PLAN)
		forge(PCTL_IPC_OPS_PLAN, wild, 5);
	while (q->op == SPIN_PLAN)
		sink->temp(sink->ctx, 4, &number);
	return sink->kernel(sink->ctx, &k);
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	const uint32_t *from = in[0].data;
	uint32_t *to = out[0].data;

	(void)inst;
	(void)call;
	if (q->op == CRASH_REFERENCE)
		raise(SIGSEGV);
	if (q->op == HANG_REFERENCE)
		hang();
	for (uint64_t i = 0; i < in[0].n_bytes / 4; i++)
		to[i] = from[i] + 1;
	return PCTL_OK;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	static const pctl_law laws[] = {{.law = PCTL_LAW_CUSTOM, .custom = "y - x = 1"}};
	static const pctl_example classes[] = {{"small", {3}}}, boundaries[] = {{"least", {0}}};
	static const pctl_op_rules all = {
		PCTL_HEAD(pctl_op_rules), laws, classes, boundaries, NULL, 1, 1, 1, 0};
	static const pctl_law judged[] = {
		{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "next", NULL, "y - x = 1, always"}};
	static const pctl_op_rules lawful = {
		PCTL_HEAD(pctl_op_rules), judged, classes, boundaries, NULL, 1, 1, 1, 0};

	(void)inst;
	return op < LAWFUL ? &all : op < N_OPS ? &lawful : NULL;
}

static const pctl_op_problems *problems(pctl_instance *inst, uint32_t op)
{
	static const pctl_op_problems few = {PCTL_HEAD(pctl_op_problems), "rows of numbers", 4};

	(void)inst;
	return op == LAWFUL || op == WILD_PROBLEM ? &few : NULL;
}

/* Rows of `number` numbers; of one there is none. */
static pctl_status problem(pctl_instance *inst, const pctl_call *call, uint32_t op, uint32_t dtype,
			   uint64_t number, uint64_t seed, const pctl_problem_sink *sink)
{
	const pctl_tensor_type t = {dtype, 1, {number}};
	const uint32_t x[4] = {(uint32_t)seed, 1, 2, 3};

	(void)inst;
	(void)call;
	if (number == 1)
		return PCTL_E_UNSUPPORTED;
	return sink->input(sink->ctx, op == WILD_PROBLEM ? 7 : 0, &t, x, 4 * number);
}

/* What y must be, for the host to compare, and y of the same once more, judged here. */
static pctl_status lawful(const pctl_law_case *c, const pctl_law_sink *sink)
{
	const uint64_t n = c->tensors[0].n_bytes;
	const uint32_t *x = c->tensors[0].data, zero = 0;
	uint32_t want[16], number;
	pctl_status s;

	if (c->round != 0)
		return sink->judged(sink->ctx,
				    memcmp(c->tensors[1].data, c->tensors[2].data, n) == 0,
				    "another y the second time", "the same");
	for (uint64_t i = 0; i < n / 4 && i < 16; i++)
		want[i] = x[i] + 1;
	s = sink->use(sink->ctx, "stranger.lawful", 1, &zero, 1, NULL, 0, 1, &number);
	if (s == PCTL_OK)
		s = sink->tensor(sink->ctx, &c->types[0], want, n, &number);
	if (s == PCTL_OK)
		s = sink->equal(sink->ctx, 1, number);
	return s == PCTL_OK ? sink->again(sink->ctx) : s;
}

static pctl_status law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
		       const pctl_law_sink *sink)
{
	(void)inst;
	(void)call;
	switch (c->op->op) {
	case CRASH_LAW:
		raise(SIGSEGV);
		break;
	case HANG_LAW:
		hang();
		break;
	case WILD_LAW:
		return sink->equal(sink->ctx, 1, 99);
	default:
		break;
	}
	return lawful(c, sink);
}
