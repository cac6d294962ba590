/* The problems of device_tune.h: ops of models at sizes at which a device is busy, small enough for two cores where it is no discrete GPU. */
#include "device_tune_problems.h"

#define PIPELINE(inputs, op, in, attr)                                                          \
	"pipeline : {\n  name = \"tune\"; class = \"strict\";\n  inputs : { " inputs " };\n"    \
	"  jobs = ({ id = \"op\"; op = \"" op "\"; in : { " in " }; attr : { " attr " }; });\n" \
	"  outputs : { y = \"op.y\"; };\n};\n"
#define INPUT(name, type) name " : { type = \"" type "\"; };"
#define PRODUCT(a, b, order)                                                                \
	PIPELINE(INPUT("a", a) INPUT("b", b), "tensor.matmul@1", "a = \"$a\"; b = \"$b\";", \
		 "transpose_b = true; order = \"" order "\";")
#define ATTENTION(positions, heads)                                                             \
	PIPELINE(INPUT("q", "f32[1,1," heads ",64]") INPUT("k", "f32[1," positions ",4,64]")    \
			 INPUT("v", "f32[1," positions ",4,64]") INPUT("start", "u32[1]")       \
				 INPUT("count", "u32[1]") INPUT("pages", "u32[1,none]"),        \
		 "transformer.attention@1",                                                     \
		 "q = \"$q\"; k = \"$k\"; v = \"$v\"; start = \"$start\"; count = \"$count\"; " \
		 "pages = \"$pages\";",                                                         \
		 "causal = false;")
#define SOFTMAX(type) PIPELINE(INPUT("x", type), "tensor.softmax@1", "x = \"$x\";", "axis = 1;")

static const pctl_device_problem problems[] = {
	{PCTL_TUNABLE_THIN_LANES, PRODUCT("f32[1,1024]", "f32[1024,1024]", "exact"),
	 PRODUCT("f32[1,4096]", "f32[8192,4096]", "exact")},
	{PCTL_TUNABLE_THIN_SPLIT, PRODUCT("f32[1,1024]", "f32[1024,1024]", "exact"),
	 PRODUCT("f32[1,4096]", "f32[8192,4096]", "exact")},
	{PCTL_TUNABLE_THIN_COLUMNS, PRODUCT("f32[4,1024]", "f32[512,1024]", "exact"),
	 PRODUCT("f32[4,4096]", "f32[8192,4096]", "exact")},
	{PCTL_TUNABLE_MATMUL_TILES, PRODUCT("f32[128,256]", "f32[128,256]", "sequential"),
	 PRODUCT("f32[2048,2048]", "f32[2048,2048]", "sequential")},
	{PCTL_TUNABLE_MATMUL_SETTLE, PRODUCT("f32[128,256]", "f32[128,256]", "exact"),
	 PRODUCT("f32[2048,2048]", "f32[2048,2048]", "exact")},
	{PCTL_TUNABLE_ATTENTION_GROUPS, ATTENTION("2048", "32"), ATTENTION("65536", "32")},
	{PCTL_TUNABLE_ROWS_LANES, SOFTMAX("f32[64,1024]"), SOFTMAX("f32[2048,4096]")},
};

const pctl_device_problem *pctl_device_problems(uint32_t *n)
{
	*n = sizeof(problems) / sizeof(problems[0]);
	return problems;
}
