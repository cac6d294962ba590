/* Any bytes as a pipeline: the reader and every check survive, a graph exists exactly when all passed, and
 * what is refused says why. The first line may be a type, which is parsed and printed again. */
#include <stdlib.h>
#include <string.h>

#include "unit/test_graph_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void one_type(const char *text, pctl_arena *arena)
{
	pctl_type_pattern p, again;

	if (pctl_type_parse(text, arena, NULL, NULL, &p) != PCTL_OK)
		return;
	if (pctl_type_parse(pctl_pattern_text(arena, &p), arena, NULL, NULL, &again) != PCTL_OK ||
	    again.n_dtypes != p.n_dtypes || again.rank != p.rank || again.any_shape != p.any_shape)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const pctl_setting set = {"t", "7"};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.sets = &set, .ops = &fake_source, .kernels = k};
	pctl_check_result results[PCTL_CHECKS_MAX];
	pctl_arena *arena = pctl_arena_create();
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	uint32_t n_results = 0, n_passed = 0;
	pctl_status status;
	char *text = malloc(n + 1), *line_end;

	(void)tests_skipped; /* of the test header, whose fake op library is used here */
	memcpy(text, data, n);
	text[n] = '\0';
	o.n_sets = strstr(text, "params") != NULL;
	/* Neither includes nor shader files: nothing outside is read. */
	if (memchr(text, '@', n) != NULL && strstr(text, "@include") != NULL)
		goto out;
	status = pctl_pipeline_read_text("p", text, n, pctl_diag_list_call(l), &p);
	if (status == PCTL_OK)
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), results, &n_results, &g);
	for (uint32_t i = 0; i < n_results; i++)
		n_passed += results[i].outcome == PCTL_CHECK_PASSED;
	if ((status == PCTL_OK) != (g != NULL) || (g != NULL && n_passed != n_results) ||
	    (status != PCTL_OK && pctl_diag_list_errors(l) == 0))
		abort();
	for (uint32_t i = 0; g != NULL && i < g->n_nodes; i++) {
		if (g->order[i] >= g->n_nodes || g->nodes[i].n_in > PCTL_PORTS_MAX ||
		    g->nodes[i].n_out > PCTL_PORTS_MAX)
			abort();
	}
	line_end = strchr(text, '\n');
	if (line_end != NULL)
		*line_end = '\0';
	one_type(text, arena);
out:
	free(text);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_kernels_destroy(k);
	pctl_arena_destroy(arena);
	pctl_diag_list_destroy(l);
	return 0;
}
