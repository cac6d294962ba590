/* What each broken contract of the plugin is answered with, and programs that are over a limit. */
#include "main.h"
#include "step.h"

#include <stdlib.h>
#include <string.h>

static void list_refusals(rig *r)
{
	const uint64_t step = r->caps.binding_alignment;
	pctl_buffer *a = step_buffer(r, 4096), *b = step_buffer(r, 4096), *bare = NULL;
	pctl_kernel *k = step_kernel(r, 0);
	const pctl_binding good[2] = {{0, 0, a, 0, 4096}, {0, 1, b, 0, 4096}};
	const uint32_t groups[3] = {1, 1, 1}, many[3] = {1, (uint32_t)r->caps.max_groups[1] + 1, 0};
	pctl_completion done;
	pctl_list *l = NULL;
	uint64_t ticket;
	uint32_t i;
	const struct {
		uint32_t code;
		uint32_t n;
		pctl_binding at[3];
	} cases[] = {
		{PC3204_BINDING_MISSING, 1, {{0, 0, a, 0, 4096}}},
		{PC3205_BINDING_UNKNOWN, 3, {{0, 0, a, 0, 8}, {0, 1, b, 0, 8}, {1, 0, b, 0, 8}}},
		{PC3205_BINDING_UNKNOWN, 2, {{0, 0, a, 0, 8}, {0, 0, b, 0, 8}}},
		{PC3206_BINDING_OVERLAP, 2, {{0, 0, a, 0, 4096}, {0, 1, a, step, 8}}},
		{PC3202_BACKEND_RANGE, 2, {{0, 0, a, 0, 4097}, {0, 1, b, 0, 8}}},
		{PC3202_BACKEND_RANGE, 2, {{0, 0, a, UINT64_MAX, 8}, {0, 1, b, 0, 8}}},
		{PC3203_BACKEND_ALIGNMENT, 2, {{0, 0, a, 4, 8}, {0, 1, b, 0, 8}}},
		{PC3201_BACKEND_ARGUMENT, 2, {{0, 0, NULL, 0, 8}, {0, 1, b, 0, 8}}},
	};

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OK(r->api->list_begin(r->dev, &r->call, &l));
		REFUSED(cases[i].code,
			r->api->list_dispatch(l, &r->call, k, cases[i].at, cases[i].n, groups));
		REFUSED(PC3213_LIST_STATE, r->api->list_end(l, &r->call));
		REFUSED(PC3213_LIST_STATE, r->api->submit(r->dev, &r->call, l, 1, &ticket));
		r->api->list_destroy(r->dev, l);
	}
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3209_GROUPS_LIMIT, r->api->list_dispatch(l, &r->call, k, good, 2, many));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3203_BACKEND_ALIGNMENT, r->api->list_copy(l, &r->call, a, 2, b, 0, 4));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3202_BACKEND_RANGE, r->api->list_copy(l, &r->call, a, 0, a, 4, 8));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3202_BACKEND_RANGE, r->api->list_fill(l, &r->call, a, 4096, 4, 0));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3201_BACKEND_ARGUMENT, r->api->list_timestamp(l, &r->call, 64));
	r->api->list_destroy(r->dev, l);
	OK(r->api->buffer_create(r->dev, &r->call, 64, PCTL_BUFFER_TRANSFER, &bare));
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3207_BUFFER_USAGE,
		r->api->list_dispatch_indirect(l, &r->call, k, good, 2, bare, 0, groups));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3213_LIST_STATE, r->api->submit(r->dev, &r->call, l, 1, &ticket));
	OK(r->api->list_end(l, &r->call));
	REFUSED(PC3213_LIST_STATE, r->api->list_barrier(l, &r->call));
	OK(r->api->submit(r->dev, &r->call, l, 1, &ticket)); /* an empty list is a list */
	OK(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	r->api->list_destroy(r->dev, l);
	REFUSED(PC3214_TICKET_UNKNOWN, r->api->wait(r->dev, &r->call, 12345, 0, &done));
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, bare);
}

static rig_program shaped(uint8_t scalar, uint32_t size_x, uint32_t size_y, uint32_t group_words,
			  uint32_t n_bindings)
{
	pctl_builder *b = rig_builder();
	const uint32_t type = pctl_build_scalar(b, scalar);
	uint32_t i, v[80];

	for (i = 0; i < n_bindings; i++)
		v[i] = rig_storage(b, i, pctl_build_array(b, type, 0, 0), 1);
	if (group_words)
		v[70] = rig_group_var(b, pctl_build_array(b, type, group_words, 0));
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	for (i = 0; i < n_bindings; i++)
		rig_inst(b, PCTL_OP_STORE, 0, 3,
			 rig_inst(b, PCTL_OP_LOAD, type, 2, group_words ? v[70] : v[0],
				  rig_u32(b, 0)),
			 v[i], rig_u32(b, 1));
	rig_entry(b, size_x, size_y, 1);
	return rig_finish(b);
}

static void programs(rig *r)
{
	const struct {
		uint32_t code; /* 0: supported */
		uint8_t scalar;
		uint32_t x, y, words, bindings;
	} cases[] = {
		{0, PCTL_SCALAR_U32, 64, 1, 16, 1},
		{0, PCTL_SCALAR_U32, 64, 1, 0, 20},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, r->caps.max_local[0] + 1, 1, 0, 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, r->caps.max_invocations, 2, 0, 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, 64, 1, r->caps.max_workgroup_bytes / 4 + 1,
		 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, 64, 1, 0, r->caps.max_bindings + 1},
		{r->caps.caps & PCTL_CAP_I64 ? 0 : PC3210_KERNEL_CAPABILITY, PCTL_SCALAR_U64, 64, 1,
		 0, 1},
		{0, PCTL_SCALAR_F32, 64, 1, 0, 1},
		{PC3210_KERNEL_CAPABILITY, PCTL_SCALAR_BF16, 64, 1, 0, 1},
	};
	pctl_support answer;
	pctl_kernel *k = NULL;
	uint32_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_program p = shaped(cases[i].scalar, cases[i].x, cases[i].y, cases[i].words,
				       cases[i].bindings);

		OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
		assert_int_equal(answer.code, cases[i].code);
		assert_int_equal(answer.supported, cases[i].code == 0);
		if (cases[i].code) {
			assert_true(answer.reason[0]);
			REFUSED(cases[i].code, r->api->kernel_build(r->dev, &r->call, p.wire, p.n,
								    0, NULL, 0, &k));
			assert_null(k);
		} else {
			OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
			r->api->kernel_destroy(r->dev, k);
			k = NULL;
			REFUSED(PC3201_BACKEND_ARGUMENT,
				r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 1, NULL, 0,
						     &k));
		}
		p.wire[p.n / 2] ^= 0x40;
		assert_int_not_equal(
			r->api->kernel_build(r->dev, &r->call, p.wire, p.n / 2, 0, NULL, 0, &k),
			PCTL_OK);
		free(p.wire);
	}
}

/* A device takes parts of its own subgroups, in workgroups of whole ones, and no others. */
static void subgroups(rig *r)
{
	const uint32_t own = r->caps.subgroup_size;
	const struct {
		uint32_t size, x, y;
		int taken;
	} cases[] = {{own, own, 3, 1},	     {4, own, 1, 1},	       {own, own / 2, 1, 0},
		     {4, 3 * own / 2, 1, 0}, {own * 2, 4 * own, 1, 0}, {own, 1, own, 1}};

	assert_true(r->caps.caps & PCTL_CAP_SUBGROUPS); /* as all drivers of this machine do */
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_builder *b = rig_builder();
		const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
		const uint32_t to = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 1);
		pctl_support answer;
		rig_program p;
		uint32_t x;

		pctl_build_function_begin(b, "main", NULL, 0, 0);
		x = rig_inst(b, PCTL_OP_SUBGROUP_ADD, u32, 2, rig_u32(b, 7), cases[i].size);
		rig_inst(b, PCTL_OP_STORE, 0, 3, x, to, rig_u32(b, 0));
		rig_entry(b, cases[i].x, cases[i].y, 1);
		p = rig_finish(b);
		OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
		assert_int_equal(answer.code, cases[i].taken ? 0 : PC3210_KERNEL_CAPABILITY);
		assert_true(cases[i].taken || strstr(answer.reason, "subgroups of "));
		free(p.wire);
	}
}

/* Matrix tiles: no driver of this machine has them; one that has takes moves that are whole and shapes that it names alone. */
static void tile_moves(rig *r)
{
	pctl_builder *b = rig_builder();
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t left = pctl_build_tile(b, PCTL_SCALAR_U8, PCTL_TILE_LEFT, 16, 8);
	const uint32_t from = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 0);
	pctl_support answer;
	rig_program p;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	rig_inst(b, PCTL_OP_TILE_LOAD_ROWS, left, 3, rig_u32(b, 0), rig_u32(b, 16), from);
	rig_entry(b, 32, 1, 1);
	p = rig_finish(b);
	OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
	assert_int_equal(answer.code, PC3210_KERNEL_CAPABILITY);
	assert_non_null(strstr(answer.reason, r->caps.caps & PCTL_CAP_TILES
						      ? "need not be whole"
						      : "has no cooperative matrices"));
	free(p.wire);
}

/* Structs of structs of structs: moving one whole would take 8^levels instructions. */
static void large_values(rig *r)
{
	uint32_t levels;

	for (levels = 3; levels <= 5; levels += 2) {
		pctl_builder *b = rig_builder();
		uint32_t type = pctl_build_scalar(b, PCTL_SCALAR_U32), level, i, from, to;
		pctl_member_spec members[8];
		pctl_support answer;
		rig_program p;

		for (level = 0; level < levels; level++) {
			for (i = 0; i < 8; i++)
				members[i] = (pctl_member_spec){
					(const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[i],
					type, 0, 0, PCTL_OFFSET_AUTO};
			type = pctl_build_struct(b, members, 8);
		}
		from = rig_storage(b, 0, type, 0);
		to = rig_storage(b, 1, type, 1);
		pctl_build_function_begin(b, "main", NULL, 0, 0);
		rig_inst(b, PCTL_OP_STORE, 0, 2, rig_inst(b, PCTL_OP_LOAD, type, 1, from), to);
		rig_entry(b, 1, 1, 1);
		p = rig_finish(b);
		OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
		assert_int_equal(answer.code, levels == 3 ? 0 : PC3211_KERNEL_LIMIT);
		free(p.wire);
	}
}

DEVICE_TEST(list_refusals, list_refusals)
DEVICE_TEST(program_refusals, programs)
DEVICE_TEST(values_too_large_to_move, large_values)
DEVICE_TEST(subgroup_refusals, subgroups)
DEVICE_TEST(tile_refusals, tile_moves)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__list_refusals), PCTL_TEST(test_vulkan__program_refusals),
		PCTL_TEST(test_vulkan__values_too_large_to_move),
		PCTL_TEST(test_vulkan__subgroup_refusals), PCTL_TEST(test_vulkan__tile_refusals))
