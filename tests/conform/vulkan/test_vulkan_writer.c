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

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__a_fault_is_seen), PCTL_TEST(test_vulkan__nothing_contracts),
		PCTL_TEST(test_vulkan__constants_are_hidden),
		PCTL_TEST(test_vulkan__modes_are_promised))
