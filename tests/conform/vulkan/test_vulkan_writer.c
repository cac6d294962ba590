/* The SPIR-V writer alone, without a device: no float instruction may be contracted, and the
 * execution modes asked for are those that are promised, used and allowed beside each other. */
#include "main.h"

#include <spirv-tools/libspirv.h>
#include <stdlib.h>

#include "devices.h"
#include "runtime/vk.h"

static uint32_t type_of(pctl_builder *b, uint8_t scalar, uint32_t width)
{
	return width > 1 ? pctl_build_vector(b, scalar, width) : pctl_build_scalar(b, scalar);
}

/* Every arithmetic and vendor operation of the scalar there is, once. */
static void all_operations(pctl_builder *b, uint8_t scalar, uint32_t width)
{
	const uint32_t type = type_of(b, scalar, width);
	const uint32_t flag = type_of(b, PCTL_SCALAR_BOOL, width);
	const uint32_t x = rig_inst(b, PCTL_OP_ZERO, type, 0);
	uint16_t op;

	for (op = PCTL_NATIVE_FIRST; op <= PCTL_OP_NCBRT; op++) {
		const char *name = pctl_op_get(op)->name;

		if (!name || op == PCTL_OP_NCONVERT ||
		    (scalar == PCTL_SCALAR_F64 && op >= PCTL_OP_NSIN))
			continue;
		rig_inst(b, op, op >= PCTL_OP_NEQ && op <= PCTL_OP_NGE ? flag : type,
			 (uint32_t)strlen(pctl_op_get(op)->args), x, x, x);
	}
}

static pctl_program *program(uint32_t widths, uint32_t lanes)
{
	pctl_builder *b = rig_builder();
	pctl_program *p = NULL;
	pctl_call call = {0};

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	if (widths & 1)
		all_operations(b, PCTL_SCALAR_F16, lanes);
	if (widths & 2)
		all_operations(b, PCTL_SCALAR_F32, lanes);
	if (widths & 4)
		all_operations(b, PCTL_SCALAR_F64, lanes);
	rig_entry(b, 1, 1, 1);
	assert_int_equal(pctl_builder_finish(b, &call, &p), PCTL_OK);
	pctl_builder_destroy(b);
	return p;
}

static int is_float_op(uint32_t op)
{
	switch (op) {
	case SpvOpFAdd:
	case SpvOpFSub:
	case SpvOpFMul:
	case SpvOpFDiv:
	case SpvOpFNegate:
		return 1;
	default:
		return op >= SpvOpFOrdEqual && op <= SpvOpFUnordGreaterThanEqual;
	}
}

/* What exp10, log10 and cbrt are composed of is the vendor's to do as it likes. */
static void test_vulkan__nothing_contracts(void **state)
{
	const pctl_spv_options opt = {.uniform_bytes = 65536};
	uint32_t lanes, widths, i, k, n_float, n_marked;
	pctl_spv_words w;

	(void)state;
	for (lanes = 1; lanes <= 4; lanes++)
		for (widths = 1; widths <= 7; widths++) {
			pctl_program *p = program(widths, lanes);
			uint8_t *marked;

			assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
			marked = calloc(w.at[3], 1);
			assert_non_null(marked);
			n_float = n_marked = 0;
			for (i = 5; i < w.n; i += w.at[i] >> 16)
				if ((w.at[i] & 0xffff) == SpvOpDecorate &&
				    w.at[i + 2] == SpvDecorationNoContraction)
					marked[w.at[i + 1]] = 1;
			for (i = 5; i < w.n; i += w.at[i] >> 16) {
				if (!is_float_op(w.at[i] & 0xffff))
					continue;
				n_float++;
				n_marked += marked[w.at[i + 2]];
			}
			for (i = 0, k = 0; i < p->n_insts; i++)
				k += p->insts[i].op >= PCTL_OP_NADD &&
				     p->insts[i].op <= PCTL_OP_NGE;
			/* fma, sqrt, abs, min, max are no operators of SPIR-V */
			k = k / 16 * 11;
			assert_int_equal(n_marked, k);
			assert_true(n_float >= k);
			free(marked);
			free(w.at);
			pctl_program_destroy(p);
		}
}

/* Hidden constants (spirv/nofold.c): valid modules, in which no float operation has an operand that is
 * declared a constant, with 64-bit integers and without. */
static void no_constant_operands(const pctl_spv_words *w)
{
	uint8_t *constant = calloc(w->at[3], 1);
	uint32_t i, n;

	assert_non_null(constant);
	for (i = 5; i < w->n; i += w->at[i] >> 16) {
		const uint32_t op = w->at[i] & 0xffff;

		if (op == SpvOpConstant || op == SpvOpConstantNull || op == SpvOpConstantComposite)
			constant[w->at[i + 2]] = 1;
		for (n = 3; is_float_op(op) && n < w->at[i] >> 16; n++)
			assert_false(constant[w->at[i + n]]);
	}
	free(constant);
}

static pctl_program *arithmetic(uint8_t scalar, uint32_t width)
{
	pctl_builder *b = rig_builder();
	const uint32_t type = type_of(b, scalar, width), one = type_of(b, scalar, 1);
	pctl_program *p = NULL;
	pctl_call call = {0};
	uint32_t local, x;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	local = PCTL_PLACE_LOCAL | pctl_build_local(b, "x", type);
	x = rig_inst(b, PCTL_OP_LOAD, type, 1, local);
	x = rig_inst(b, PCTL_OP_NADD, type, 2, x, rig_inst(b, PCTL_OP_ZERO, type, 0));
	if (width == 1)
		x = rig_inst(b, PCTL_OP_NMUL, type, 2, x, pctl_build_const(b, one, 1));
	x = rig_inst(b, PCTL_OP_NADD, type, 2, x,
		     rig_inst(b, PCTL_OP_NCONVERT, type, 1,
			      rig_inst(b, PCTL_OP_ZERO, type_of(b, PCTL_SCALAR_U32, width), 0)));
	rig_inst(b, PCTL_OP_STORE, 0, 2, x, local);
	rig_entry(b, 1, 1, 1);
	assert_int_equal(pctl_builder_finish(b, &call, &p), PCTL_OK);
	pctl_builder_destroy(b);
	return p;
}

static void test_vulkan__constants_are_hidden(void **state)
{
	static const uint8_t scalars[] = {PCTL_SCALAR_F16, PCTL_SCALAR_F32, PCTL_SCALAR_F64};
	const spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
	uint32_t i, width, int64;
	pctl_spv_words w;

	(void)state;
	for (i = 0; i < 3; i++)
		for (width = 1; width <= 4; width++)
			for (int64 = 0; int64 < 2; int64++) {
				const pctl_spv_options opt = {
					.uniform_bytes = 65536, .opaque_floats = 7, .int64 = int64};
				pctl_program *p = arithmetic(scalars[i], width);
				spv_diagnostic what = NULL;

				assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
				no_constant_operands(&w);
				if (spvValidateBinary(context, w.at, w.n, &what) != SPV_SUCCESS)
					fail_msg("scalar %u, width %u, int64 %u: %s", i, width,
						 int64, what ? what->error : "");
				free(w.at);
				pctl_program_destroy(p);
			}
	spvContextDestroy(context);
}

/* The modes of a module as three sets of widths. */
static void modes_of(uint32_t widths, const pctl_spv_controls *c, uint32_t out[3])
{
	const pctl_spv_options opt = {.uniform_bytes = 65536, .controls = *c};
	pctl_program *p = program(widths, 1);
	pctl_spv_words w;
	uint32_t i;

	out[0] = out[1] = out[2] = 0;
	assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
	for (i = 5; i < w.n; i += w.at[i] >> 16) {
		if ((w.at[i] & 0xffff) != SpvOpExecutionMode)
			continue;
		if (w.at[i + 2] == SpvExecutionModeSignedZeroInfNanPreserve)
			out[0] |= w.at[i + 3] / 16;
		if (w.at[i + 2] == SpvExecutionModeDenormPreserve)
			out[1] |= w.at[i + 3] / 16;
		if (w.at[i + 2] == SpvExecutionModeRoundingModeRTE)
			out[2] |= w.at[i + 3] / 16;
	}
	free(w.at);
	pctl_program_destroy(p);
}

static void test_vulkan__modes_are_promised(void **state)
{
	static const struct {
		uint32_t used, zero, denormals, nearest, tied, want_denormals, want_nearest;
	} cases[] = {
		{2, 7, 0, 7, PCTL_SPV_TIED_NONE, 0, 2},	 {7, 7, 5, 7, PCTL_SPV_TIED_NONE, 5, 7},
		{7, 2, 2, 6, PCTL_SPV_TIED_16_64, 2, 2}, {6, 2, 2, 6, PCTL_SPV_TIED_16_64, 2, 6},
		{7, 0, 7, 5, PCTL_SPV_TIED_16_64, 7, 5}, {2, 2, 2, 2, PCTL_SPV_TIED_ALL, 2, 2},
		{6, 2, 2, 6, PCTL_SPV_TIED_ALL, 0, 6},	 {7, 7, 7, 6, PCTL_SPV_TIED_ALL, 7, 0},
		{0, 7, 7, 7, PCTL_SPV_TIED_NONE, 0, 0},
	};
	uint32_t i, got[3];

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const pctl_spv_controls c = {cases[i].zero, cases[i].denormals, cases[i].nearest,
					     cases[i].tied, cases[i].tied};

		modes_of(cases[i].used, &c, got);
		assert_int_equal(got[0], cases[i].used & cases[i].zero);
		assert_int_equal(got[1], cases[i].want_denormals);
		assert_int_equal(got[2], cases[i].want_nearest);
	}
}

static uint32_t last_code;

static void hear(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

/* In debug mode a module with a fault never reaches a driver. */
static void test_vulkan__a_fault_is_seen(void **state)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = hear};
	pctl_device dev = {.props.apiVersion = VK_API_VERSION_1_3};
	const pctl_spv_options opt = {.uniform_bytes = 65536};
	pctl_program *p = program(2, 1);
	pctl_spv_words w;
	uint32_t at;

	(void)state;
	assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
	assert_int_equal(pctl_vk_validate(&dev, &call, &w), PCTL_OK);
	/* Behind the header, the first OpTypeFloat gets a width that no float has. */
	for (at = 5; at < w.n && (w.at[at] & 0xffff) != SpvOpTypeFloat; at += w.at[at] >> 16)
		;
	assert_true(at < w.n);
	w.at[at + 2] = 33;
	assert_int_equal(pctl_vk_validate(&dev, &call, &w), PCTL_E_INTERNAL);
	assert_int_equal(last_code, PC3245_SPIRV_INVALID);
	free(w.at);
	pctl_program_destroy(p);
}

/* ---- matrix tiles, whose words SPIRV-Tools of 2022 do not know ---- */

/* A left tile of 16 x 32 by rows and a right one of 32 x 8 by columns out of workgroup memory, their product, stored by rows. */
static pctl_program *tiles(uint8_t byte, uint8_t word)
{
	pctl_builder *b = rig_builder();
	const uint32_t elem = pctl_build_scalar(b, word);
	const uint32_t left = pctl_build_tile(b, byte, PCTL_TILE_LEFT, 32, 16);
	const uint32_t right = pctl_build_tile(b, byte, PCTL_TILE_RIGHT, 8, 32);
	const uint32_t result = pctl_build_tile(b, word, PCTL_TILE_RESULT, 8, 16);
	const pctl_var shared = {.type = pctl_build_array(b, elem, 1024, 0),
				 .space = PCTL_SPACE_WORKGROUP,
				 .access = PCTL_ACCESS_READ_WRITE};
	const uint32_t to = rig_storage(b, 0, pctl_build_array(b, elem, 0, 0), 1);
	const uint32_t memory = pctl_build_var(b, &shared, "t");
	pctl_program *p = NULL;
	pctl_call call = {0};
	uint32_t x, y, local, i;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	local = PCTL_PLACE_LOCAL | pctl_build_local(b, "sum", result);
	rig_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_SUBGROUP);
	x = rig_inst(b, PCTL_OP_TILE_LOAD_ROWS, left, 3, rig_u32(b, 64), rig_u32(b, 48), memory);
	y = rig_inst(b, PCTL_OP_TILE_LOAD_COLUMNS, right, 3, rig_u32(b, 0), rig_u32(b, 32), memory);
	x = rig_inst(b, PCTL_OP_TILE_MULTIPLY_ADD, result, 3, x, y,
		     rig_inst(b, PCTL_OP_ZERO, result, 0));
	rig_inst(b, PCTL_OP_STORE, 0, 2, x, local);
	x = rig_inst(b, PCTL_OP_LOAD, result, 1, local);
	rig_inst(b, PCTL_OP_TILE_STORE_ROWS, 0, 4, x, rig_u32(b, 4), rig_u32(b, 20), to);
	rig_entry(b, 64, 1, 1);
	assert_int_equal(pctl_builder_finish(b, &call, &p), PCTL_OK);
	pctl_builder_destroy(b);
	for (i = 0; i < p->n_insts; i++)
		if (pctl_op_get(p->insts[i].op)->kind == PCTL_OPKIND_tile &&
		    p->insts[i].op != PCTL_OP_TILE_MULTIPLY_ADD)
			p->insts[i].flags = PCTL_INST_WHOLE;
	return p;
}

/* The n-th instruction of an opcode; NULL: there are fewer. */
static const uint32_t *nth(const pctl_spv_words *w, uint32_t op, uint32_t n)
{
	for (uint32_t i = 5; i < w->n; i += w->at[i] >> 16)
		if ((w->at[i] & 0xffff) == op && n-- == 0)
			return w->at + i;
	return NULL;
}

static uint32_t constant_of(const pctl_spv_words *w, uint32_t id)
{
	const uint32_t *c = NULL;

	for (uint32_t i = 0; (c = nth(w, SpvOpConstant, i)) != NULL; i++)
		if (c[2] == id)
			return c[3];
	fail_msg("%u is no constant", id);
	return 0;
}

static int has_capability(const pctl_spv_words *w, uint32_t capability)
{
	const uint32_t *c = NULL;

	for (uint32_t i = 0; (c = nth(w, SpvOpCapability, i)) != NULL; i++)
		if (c[1] == capability)
			return 1;
	return 0;
}

/* The numbers here are the registry's, written down again. */
static void check_tiles(const pctl_spv_words *w, uint32_t signs)
{
	static const uint32_t shapes[3][3] = {{16, 32, 0}, {32, 8, 1}, {16, 8, 2}};
	const uint32_t *t, *load, *product, *store, *barrier;
	uint32_t i, types[3];

	assert_true(has_capability(w, 6022) && has_capability(w, 39) && has_capability(w, 5345));
	t = nth(w, SpvOpMemoryModel, 0);
	assert_int_equal(t[2], SpvMemoryModelVulkan);
	for (i = 0, t = NULL; (t = nth(w, SpvOpExtension, i)) != NULL; i++)
		if (strcmp((const char *)(t + 1), "SPV_KHR_cooperative_matrix") == 0)
			break;
	assert_non_null(t);
	for (i = 0; i < 3; i++) {
		t = nth(w, 4456, i);
		assert_non_null(t);
		assert_int_equal(t[0] >> 16, 7);
		types[i] = t[1];
		assert_int_equal(constant_of(w, t[3]), 3); /* Subgroup */
		assert_int_equal(constant_of(w, t[4]), shapes[i][0]);
		assert_int_equal(constant_of(w, t[5]), shapes[i][1]);
		assert_int_equal(constant_of(w, t[6]), shapes[i][2]);
	}
	assert_null(nth(w, 4456, 3));
	load = nth(w, 4457, 0);
	assert_int_equal(load[0] >> 16, 7);
	assert_int_equal(load[1], types[0]);
	assert_int_equal(constant_of(w, load[4]), 0); /* RowMajor */
	assert_int_equal(load[6], 0x20);	      /* NonPrivatePointer */
	load = nth(w, 4457, 1);
	assert_int_equal(load[1], types[1]);
	assert_int_equal(constant_of(w, load[4]), 1); /* ColumnMajor */
	product = nth(w, 4459, 0);
	assert_int_equal(product[0] >> 16, 7);
	assert_int_equal(product[1], types[2]);
	assert_int_equal(product[3], nth(w, 4457, 0)[2]);
	assert_int_equal(product[4], load[2]);
	assert_int_equal(product[6], signs);
	store = nth(w, 4458, 0);
	assert_int_equal(store[0] >> 16, 6);
	assert_int_equal(constant_of(w, store[3]), 0);
	assert_int_equal(constant_of(w, store[4]), 20);
	assert_int_equal(store[5], 0x20);
	barrier = nth(w, SpvOpControlBarrier, 1); /* behind the one that ends the clearing */
	assert_int_equal(constant_of(w, barrier[1]), SpvScopeSubgroup);
	assert_int_equal(constant_of(w, barrier[2]), SpvScopeSubgroup);
	/* No variable of them starts with a constant, and no null is made. */
	for (i = 0; (t = nth(w, SpvOpConstantNull, i)) != NULL; i++)
		assert_true(t[1] != types[0] && t[1] != types[1] && t[1] != types[2]);
}

static void test_vulkan__tiles_are_cooperative_matrices(void **state)
{
	const pctl_spv_options opt = {.uniform_bytes = 65536, .memory_model = 1, .subgroup = 32};
	pctl_program *p = tiles(PCTL_SCALAR_I8, PCTL_SCALAR_I32);
	pctl_spv_words w;

	(void)state;
	assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
	check_tiles(&w, 15); /* all of A, B, C and the result are signed */
	free(w.at);
	pctl_program_destroy(p);
	p = tiles(PCTL_SCALAR_U8, PCTL_SCALAR_U32);
	assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
	check_tiles(&w, 0);
	free(w.at);
	pctl_program_destroy(p);
}

/* The mode under which lanes meet again is declared where the device has it, the stronger of two, and its extension with it; nowhere
 * else. */
static void test_vulkan__lanes_meet_again_where_it_is_promised(void **state)
{
	pctl_program *p = tiles(PCTL_SCALAR_I8, PCTL_SCALAR_I32);

	(void)state;
	for (uint32_t has = 0; has < 4; has++) {
		const pctl_spv_options opt = {.uniform_bytes = 65536,
					      .memory_model = 1,
					      .subgroup = 32,
					      .uniform_flow = has & 1,
					      .reconverges = has >> 1};
		const uint32_t want =
			has & 2 ? 6023 : SpvExecutionModeSubgroupUniformControlFlowKHR;
		const char *name = has & 2 ? "SPV_KHR_maximal_reconvergence"
					   : "SPV_KHR_subgroup_uniform_control_flow";
		uint32_t modes = 0, extensions = 0, others = 0;
		const uint32_t *t;
		pctl_spv_words w;

		assert_int_equal(pctl_spv_write(p, &opt, &w), PCTL_OK);
		for (uint32_t i = 0; (t = nth(&w, SpvOpExecutionMode, i)) != NULL; i++)
			if (t[2] == want)
				modes++;
			else if (t[2] != SpvExecutionModeLocalSize)
				others++;
		for (uint32_t i = 0; (t = nth(&w, SpvOpExtension, i)) != NULL; i++)
			extensions += strcmp((const char *)(t + 1), name) == 0;
		assert_int_equal(modes, has != 0);
		assert_int_equal(extensions, has != 0);
		assert_int_equal(others, 0);
		free(w.at);
	}
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__a_fault_is_seen),
		PCTL_TEST(test_vulkan__lanes_meet_again_where_it_is_promised),
		PCTL_TEST(test_vulkan__nothing_contracts),
		PCTL_TEST(test_vulkan__constants_are_hidden),
		PCTL_TEST(test_vulkan__modes_are_promised),
		PCTL_TEST(test_vulkan__tiles_are_cooperative_matrices))
