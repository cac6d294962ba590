/* Any bytes as the uniform document of a struct with every kind of member; what is accepted gives a block that gives the
 * same bytes again. */
#include <stdlib.h>
#include <string.h>

#include "chain/messages/uniform.h"
#include "compiler/wgsl/wgsl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char text[] =
	"enable f16;\n"
	"struct Item { at: vec3<u32>, w: i32 }\n"
	"struct U { n: u32, big: u64, delta: i64, x: f32, h: f16, m: mat2x2<f32>,\n"
	"           items: array<Item, 2> }\n"
	"@group(0) @binding(1) var<uniform> u: U;\n"
	"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
	"@compute @workgroup_size(1) fn main() { result[0] = u.n; }\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static pctl_program *p;
	const pctl_wgsl_options options = {.file = "fuzz.wgsl"};
	uint8_t *block, *again;
	uint64_t n_block, n_again;

	if (p == NULL && pctl_wgsl_compile(text, sizeof(text) - 1, &options, NULL, &p) != PCTL_OK)
		abort();
	if (pctl_uniform_decode(p, data, n, NULL, &block, &n_block) == PCTL_OK) {
		if (pctl_uniform_encode(p, block, n_block, NULL, &again, &n_again) != PCTL_OK ||
		    n_again != n || memcmp(again, data, n) != 0)
			abort();
		free(again);
		free(block);
	}
	/* The same bytes as a block: what has a document is what the document gives. */
	if (pctl_uniform_encode(p, data, n, NULL, &again, &n_again) == PCTL_OK) {
		if (pctl_uniform_decode(p, again, n_again, NULL, &block, &n_block) != PCTL_OK ||
		    n_block != n || memcmp(block, data, n) != 0)
			abort();
		free(block);
		free(again);
	}
	return 0;
}
