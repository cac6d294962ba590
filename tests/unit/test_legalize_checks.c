/* Which indices are still checked in the loops of a matrix product, as a device is given it: none of workgroup arrays and of
 * arrays of an invocation, each of which has a twin with one index that is not inside. Of arrays whose length only the dispatch
 * knows, one comparison for each 16 bytes. */
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"
#include "compiler/legalize/legal.h"
#include "main.h"
#include "test_legalize_run.h"

/* Workgroups of 64 x 64, 16 x 16 invocations of 4 x 4 sums, steps of 16; a and b in vectors of four, n a multiple of 64.
 * What differs between twins: an index of workgroup memory, one of the sums. */
#define PRODUCT(shared, own)                                                                      \
	"//# max u.n = 8192\nstruct Size { n : u32 }\n"                                           \
	"@group(0) @binding(0) var<storage, read> a : array<vec4<f32>>;\n"                        \
	"@group(0) @binding(1) var<storage, read> b : array<vec4<f32>>;\n"                        \
	"@group(0) @binding(2) var<storage, read_write> c : array<f32>;\n"                        \
	"@group(0) @binding(3) var<uniform> u : Size;\n"                                          \
	"var<workgroup> p : array<array<f32, 64>, 16>;\n"                                         \
	"var<workgroup> q : array<vec4<f32>, 256>;\n"                                             \
	"@compute @workgroup_size(16, 16)\n"                                                      \
	"fn main(@builtin(workgroup_id) tile : vec3u, @builtin(local_invocation_id) at : vec3u, " \
	"@builtin(local_invocation_index) l : u32) {\n"                                           \
	"  var sums : array<f32, 16>;\n"                                                          \
	"  for (var k = 0u; k < u.n; k += 16u) {\n"                                               \
	"    let x = a[((tile.y * 64u + l / 4u) * u.n + k) / 4u + l % 4u];\n"                     \
	"    let y = b[((k + l / 16u) * u.n + tile.x * 64u) / 4u + l % 16u];\n"                   \
	"    for (var i = 0u; i < 4u; i++) { p[l % 4u * 4u + i][l / 4u] = x[i]; }\n"              \
	"    q[l] = y;\n"                                                                         \
	"    workgroupBarrier();\n"                                                               \
	"    for (var t = 0u; t < 16u; t++) {\n"                                                  \
	"      let right = q[" shared "];\n"                                                      \
	"      for (var i = 0u; i < 4u; i++) {\n"                                                 \
	"        let left = p[t][at.y * 4u + i];\n"                                               \
	"        for (var j = 0u; j < 4u; j++) {\n"                                               \
	"          sums[" own "] = fma(left, right[j], sums[" own "]);\n"                         \
	"        }\n"                                                                             \
	"      }\n"                                                                               \
	"    }\n"                                                                                 \
	"    workgroupBarrier();\n"                                                               \
	"  }\n"                                                                                   \
	"  for (var i = 0u; i < 16u; i++) {\n"                                                    \
	"    c[(tile.y * 64u + at.y * 4u + i / 4u) * u.n + tile.x * 64u + at.x * 4u + i % 4u] = " \
	"sums[i];\n"                                                                              \
	"  }\n"                                                                                   \
	"}\n"

/* The same by matrix tiles: one subgroup, 16 x 8, steps of 16. */
#define TILES(offset)                                                                              \
	"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n"                       \
	"@group(0) @binding(0) var<storage, read> a : array<vec4<f32>>;\n"                         \
	"@group(0) @binding(1) var<storage, read> b : array<vec4<f32>>;\n"                         \
	"@group(0) @binding(2) var<storage, read_write> c : array<f64>;\n"                         \
	"var<workgroup> p : array<vec4<f32>, 80>;\n"                                               \
	"var<workgroup> q : array<vec4<f32>, 64>;\n"                                               \
	"@compute @workgroup_size(32)\n"                                                           \
	"fn main(@builtin(workgroup_id) tile : vec3u, @builtin(local_invocation_index) l : u32) "  \
	"{\n"                                                                                      \
	"  var s : subgroup_matrix_result<f64, 8, 16>;\n"                                          \
	"  for (var k = 0u; k < 1024u; k += 16u) {\n"                                              \
	"    p[l / 4u * 5u + l % 4u] = a[(tile.y * 16u + l / 4u) * 256u + k / 4u + l % 4u];\n"     \
	"    p[l / 4u * 5u + l % 4u + 40u] = a[(tile.y * 16u + l / 4u + 8u) * 256u + k / 4u + l "  \
	"% 4u];\n"                                                                                 \
	"    q[l / 2u * 4u + l % 2u] = b[(k + l / 2u) * 256u + tile.x * 2u + l % 2u];\n"           \
	"    workgroupBarrier();\n"                                                                \
	"    let x = subgroupMatrixLoad<subgroup_matrix_left<f32, 16, 16>, row_major>(&p, " offset \
	", 20u);\n"                                                                                \
	"    let y = subgroupMatrixLoad<subgroup_matrix_right<f32, 8, 16>, row_major>(&q, 0u, "    \
	"16u);\n"                                                                                  \
	"    s = subgroupMatrixMultiplyAccumulate(x, y, s);\n"                                     \
	"    workgroupBarrier();\n"                                                                \
	"  }\n"                                                                                    \
	"  subgroupMatrixStore<row_major>(&c, tile.y * 16384u + tile.x * 8u, s, 1024u);\n"         \
	"}\n"

typedef struct checks {
	uint32_t workgroup, own, storage;
	uint32_t votes, moves; /* of tiles */
} checks;

/* Indices without a proof, of what stands in a loop. */
static void count_place(const pctl_program *p, const pctl_inst *in, const pctl_place *place,
			checks *out)
{
	uint32_t type = place->root_type;

	for (uint32_t i = 0; i < place->n_chain; i++) {
		const int is_index = p->types[type].kind != PCTL_TYPE_STRUCT;

		if (is_index && !(in->flags & PCTL_INST_PROVEN(i))) {
			out->workgroup += place->space == PCTL_SPACE_WORKGROUP;
			out->storage += place->space == PCTL_SPACE_STORAGE;
			out->own += place->space == PCTL_SPACE_FUNCTION ||
				    place->space == PCTL_SPACE_PRIVATE;
		}
		type = pctl_type_step(p, type, p->words[place->chain + i]);
	}
}

static checks counted(const pctl_program *p)
{
	const pctl_function *fn = &p->functions[p->entries[0].function];
	uint32_t loops = 0;
	checks out = {0};

	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = &p->insts[fn->first_inst + v];
		pctl_place place;

		loops += in->op == PCTL_OP_LOOP;
		loops -= in->op == PCTL_OP_END_LOOP;
		out.votes += loops && in->op == PCTL_OP_SUBGROUP_ALL;
		out.moves += loops && pctl_tile_moved(p, fn, in);
		if (loops && (in->op == PCTL_OP_LOAD || in->op == PCTL_OP_STORE) &&
		    pctl_place_get(p, fn, in, &place))
			count_place(p, in, &place, &out);
	}
	return out;
}

/* By native floats, so that no form of strict ones is in it: what is looked for is the same. */
static checks of(const char *text)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_F32 | PCTL_CAP_F64 |
					       PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_TILES |
					       PCTL_CAP_SUBGROUPS};
	pctl_program *p = NULL, *made = NULL;
	pctl_analysis *a = NULL;
	legal_kernel k;
	checks out;

	kernel_open(&k, text);
	{
		const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
						    .forms = k.forms,
						    .flags = PCTL_LEGAL_NATIVE,
						    .subgroup_size = 32,
						    .subgroup_kinds = PCTL_SUBGROUP_KINDS,
						    .tile_products = PCTL_TILE_PRODUCTS};

		rig_must(&k.r, pctl_program_specialise(k.p, NULL, NULL, 0, &k.r.call, &p),
			 "specialising");
		rig_must(&k.r, pctl_program_analyse(p, NULL, &k.r.call, &a), "analysing");
		pctl_program_mark_proven(p, a);
		rig_must(&k.r, pctl_legalise(p, &caps, &options, &k.r.call, &made), "legalising");
	}
	out = counted(made);
	if (getenv("PCTL_TEST_PRINT"))
		puts(pctl_program_print(made));
	pctl_program_destroy(made);
	pctl_program_destroy(p);
	pctl_analysis_destroy(a);
	kernel_close(&k);
	return out;
}

static void same(const char *what, checks is, checks want)
{
	if (is.workgroup != want.workgroup || is.own != want.own || is.storage != want.storage ||
	    is.votes != want.votes || is.moves != want.moves)
		fail_msg("%s: %u checks of workgroup memory, %u of an invocation's, %u of storage, "
			 "%u votes, %u moves; not %u, %u, %u, %u, %u",
			 what, is.workgroup, is.own, is.storage, is.votes, is.moves, want.workgroup,
			 want.own, want.storage, want.votes, want.moves);
}

static void test_legalize_checks__of_a_product(void **state)
{
	(void)state;
	/* Two loads of 16 bytes, and the store behind. */
	same("the product", of(PRODUCT("t * 16u + at.x", "i * 4u + j")), (checks){0, 0, 3, 0, 0});
	same("workgroup memory", of(PRODUCT("t * 16u + at.x + 1u", "i * 4u + j")),
	     (checks){1, 0, 3, 0, 0});
	same("its own", of(PRODUCT("t * 16u + at.x", "i * 5u + j")), (checks){0, 2, 3, 0, 0});
}

static void test_legalize_checks__of_tiles(void **state)
{
	(void)state;
	same("tiles", of(TILES("0u")), (checks){0, 0, 3, 0, 2});
	/* The last row ends outside; lanes may differ, so that they ask each other: another way stands beside. */
	assert_int_equal(of(TILES("12u")).moves, 3);
	assert_int_equal(of(TILES("l % 2u * 4u")).votes, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_checks__of_a_product),
		PCTL_TEST(test_legalize_checks__of_tiles))
