/* Subgroup operations by the warps of NVIDIA's devices, which its OpenCL C has as PTX alone: `shfl.sync`, `vote.sync` and
 * (EMIT_REDUX) `redux.sync` over all 32 lanes. The host has proved that lanes are consecutive local indices and that everyone
 * of whole warps arrives. A program's subgroups may be a part of a warp: then sums go by shuffles in log2 of the size steps.
 * The assembly is volatile: what every lane takes part in may not be moved to where some are not. */
#include "clc/internal.h"

/* Of every program with subgroups; P_SIZE is theirs. No lane leaves p_read out: what is not wanted is dropped behind it. */
static const char basics[] =
	"static inline uint p_own(void)\n{\n\treturn p_lane() & (P_SIZE - 1u);\n}\n\n"
	"static inline uint p_read(uint x, uint lane)\n{\n\tuint d;\n\n"
	"\tasm volatile(\"shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;\" : \"=r\"(d) : \"r\"(x), "
	"\"r\"(lane));\n\treturn d;\n}\n\n"
	"static inline uint p_move(uint x, uint from)\n{\n"
	"\tuint y = p_read(x, (p_lane() & ~(P_SIZE - 1u)) | (from & (P_SIZE - 1u)));\n\n"
	"\treturn from < P_SIZE ? y : 0u;\n}\n\n"
	"static inline uint p_move_xor(uint x, uint by)\n{\n\treturn p_move(x, p_own() ^ "
	"by);\n}\n\n"
	"static inline uint p_move_up(uint x, uint by)\n{\n"
	"\treturn p_move(x, by <= p_own() ? p_own() - by : P_SIZE);\n}\n\n"
	"static inline uint p_move_down(uint x, uint by)\n{\n"
	"\treturn p_move(x, by < P_SIZE ? p_own() + by : P_SIZE);\n}\n\n"
	"static inline uint p_ballot(uint x)\n{\n\tuint d;\n\n"
	"\tasm volatile(\"{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, "
	"0xffffffff; }\" : \"=r\"(d) : \"r\"(x));\n"
	"\treturn (d >> (p_lane() & ~(P_SIZE - 1u))) & P_FULL;\n}\n\n"
	"#define P_SUM(name, combined) static inline uint name(uint x) { \\\n"
	"\tfor (uint by = 1u; by < P_SIZE; by <<= 1) { \\\n"
	"\t\tuint y = p_read(x, p_lane() ^ by); x = combined; } return x; }\n"
	"#define P_REDUX(name, how) static inline uint name(uint x) { uint d; \\\n"
	"\tasm volatile(\"redux.sync.\" how \" %0, %1, 0xffffffff;\" : \"=r\"(d) : \"r\"(x)); "
	"return d; "
	"}\n"
	"#define P_SCAN(name, start, combined) static inline uint name(uint x) { \\\n"
	"\tfor (uint by = 1u; by < P_SIZE; by <<= 1) { \\\n"
	"\t\tuint y = p_read(x, (p_lane() - by) & 31u); x = p_own() >= by ? combined : x; } return "
	"x; } \\\n"
	"static inline uint name##_below(uint x) { \\\n"
	"\tuint y = p_read(name(x), (p_lane() - 1u) & 31u); return p_own() ? y : start; }\n"
	"P_SUM(p_sum_mul, x * y)\n"
	"P_SCAN(p_scan_add, 0u, x + y)\nP_SCAN(p_scan_mul, 1u, x * y)\n";

static const char by_steps[] = "P_SUM(p_sum_add, x + y)\nP_SUM(p_sum_umin, min(x, y))\n"
			       "P_SUM(p_sum_smin, as_uint(min(as_int(x), as_int(y))))\n"
			       "P_SUM(p_sum_umax, max(x, y))\n"
			       "P_SUM(p_sum_smax, as_uint(max(as_int(x), as_int(y))))\n"
			       "P_SUM(p_sum_and, x & y)\nP_SUM(p_sum_or, x | y)\n"
			       "P_SUM(p_sum_xor, x ^ y)\n\n";
static const char by_redux[] =
	"P_REDUX(p_sum_add, \"add.u32\")\nP_REDUX(p_sum_umin, \"min.u32\")\n"
	"P_REDUX(p_sum_smin, \"min.s32\")\nP_REDUX(p_sum_umax, \"max.u32\")\n"
	"P_REDUX(p_sum_smax, \"max.s32\")\nP_REDUX(p_sum_and, \"and.b32\")\n"
	"P_REDUX(p_sum_or, \"or.b32\")\nP_REDUX(p_sum_xor, \"xor.b32\")\n\n";

static void write_helpers(emitter *e, uint32_t size)
{
	const uint32_t *local = e->p->entries[0].workgroup_size;

	if (e->subgroup_have)
		return;
	e->subgroup_have = 1;
	text_printf(&e->helpers,
		    "#define P_SIZE %uu\n#define P_FULL 0x%xu\n"
		    "static inline uint p_lane(void)\n{\n"
		    "\treturn ((uint)get_local_id(0) + (uint)get_local_id(1) * %uu + "
		    "(uint)get_local_id(2) * %uu) & 31u;\n}\n\n",
		    size, size == 32 ? 0xffffffffu : (1u << size) - 1u, local[0],
		    local[0] * local[1]);
	text_add(&e->helpers, basics);
	text_add(&e->helpers, size == 32 && (e->flags & EMIT_REDUX) ? by_redux : by_steps);
}

/* The function of one word, or of a word and another. */
static const char *function_of(uint16_t op, int is_signed)
{
	switch (op) {
	case PCTL_OP_SUBGROUP_ADD:
		return "p_sum_add";
	case PCTL_OP_SUBGROUP_MUL:
		return "p_sum_mul";
	case PCTL_OP_SUBGROUP_MIN:
		return is_signed ? "p_sum_smin" : "p_sum_umin";
	case PCTL_OP_SUBGROUP_MAX:
		return is_signed ? "p_sum_smax" : "p_sum_umax";
	case PCTL_OP_SUBGROUP_AND:
		return "p_sum_and";
	case PCTL_OP_SUBGROUP_OR:
		return "p_sum_or";
	case PCTL_OP_SUBGROUP_XOR:
		return "p_sum_xor";
	case PCTL_OP_SUBGROUP_INCLUSIVE_ADD:
		return "p_scan_add";
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
		return "p_scan_mul";
	case PCTL_OP_SUBGROUP_EXCLUSIVE_ADD:
		return "p_scan_add_below";
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return "p_scan_mul_below";
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
		return "p_move_xor";
	case PCTL_OP_SUBGROUP_SHUFFLE_UP:
		return "p_move_up";
	case PCTL_OP_SUBGROUP_SHUFFLE_DOWN:
		return "p_move_down";
	default: /* BROADCAST, SHUFFLE */
		return "p_move";
	}
}

/* One component of the result; -1: of a scalar. */
static void component(emitter *e, const pctl_inst *in, int part)
{
	const pctl_type *t = &e->p->types[in->type];

	text_printf(&e->code, "%s((", function_of(in->op, t->scalar == PCTL_SCALAR_I32));
	emit_arg(e, in, 0);
	text_add(&e->code, ")");
	if (part >= 0)
		text_printf(&e->code, ".s%d", part);
	if (in->op == PCTL_OP_SUBGROUP_BROADCAST) {
		text_printf(&e->code, ", %uu", pctl_arg(e->p, in, 1));
	} else if (in->n_args == 3) {
		text_add(&e->code, ", ");
		emit_arg(e, in, 1);
	}
	text_add(&e->code, ")");
}

void emit_subgroup(emitter *e, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[in->type];

	write_helpers(e, pctl_arg(e->p, in, in->n_args - 1));
	switch (in->op) {
	case PCTL_OP_SUBGROUP_ELECT:
		text_add(&e->code, "(uint)(p_own() == 0u)");
		return;
	case PCTL_OP_SUBGROUP_ALL:
	case PCTL_OP_SUBGROUP_ANY:
	case PCTL_OP_SUBGROUP_BALLOT:
		text_add(&e->code, in->op == PCTL_OP_SUBGROUP_BALLOT ? "(uint4)(" : "(uint)(");
		text_add(&e->code, "p_ballot(");
		emit_arg(e, in, 0);
		text_add(&e->code, in->op == PCTL_OP_SUBGROUP_BALLOT ? "), 0u, 0u, 0u)"
				   : in->op == PCTL_OP_SUBGROUP_ALL  ? ") == P_FULL)"
								     : ") != 0u)");
		return;
	default:
		break;
	}
	if (t->kind != PCTL_TYPE_VECTOR) {
		component(e, in, -1);
		return;
	}
	text_printf(&e->code, "(uint%u)(", t->width);
	for (uint32_t i = 0; i < t->width; i++) {
		text_add(&e->code, i ? ", " : "");
		component(e, in, (int)i);
	}
	text_add(&e->code, ")");
}
