/* What was decided about a name, beside the jobs that made or took it: who uploaded a shader, what it implements, which
 * names pointed to it and by whose word, since when it is deprecated, links; of an account what it did. */
#include <inttypes.h>
#include <stdio.h>

#include "provenance.h"

typedef struct deciding {
	pctl_app *app;
	uint32_t n, most, left_out, reserved;
} deciding;

/* What jobs did is told by the steps of the history. */
static int is_decision(uint32_t kind)
{
	return kind == PCTL_EDGE_UPLOAD || kind == PCTL_EDGE_IMPLEMENTS ||
	       kind == PCTL_EDGE_ALIAS || kind == PCTL_EDGE_DEPRECATED || kind == PCTL_EDGE_LINK;
}

static int print_one(void *ctx, const pctl_edge *e)
{
	deciding *d = ctx;
	pctl_json *j = &d->app->document;

	if (!is_decision(e->kind))
		return 0;
	if (d->n++ >= d->most) {
		d->left_out++;
		return 0;
	}
	if (!d->app->json) {
		printf("%s %s -> %s%s%s, block %" PRIu64 ", clock %" PRIu64 "\n",
		       pctl_edge_name(e->kind), e->source, e->target,
		       e->via[0] == '\0' ? "" : " by ", e->via, e->height, e->clock);
		return 0;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kind", pctl_edge_name(e->kind));
	pctl_json_kv_string(j, "source", e->source);
	pctl_json_kv_string(j, "target", e->target);
	pctl_json_kv_string(j, "by", e->via[0] == '\0' ? NULL : e->via);
	pctl_json_kv_u64(j, "block", e->height);
	pctl_json_kv_u64(j, "clock", e->clock);
	pctl_json_object_end(j);
	return 0;
}

pctl_status pctl_app_print_decisions(pctl_app *app, pctl_chain_state *s, const char *name,
				     uint32_t most)
{
	deciding d = {.app = app, .most = most};
	pctl_status status;

	if (app->json) {
		pctl_json_key(&app->document, "decisions");
		pctl_json_array_begin(&app->document);
	}
	status = pctl_edges_to(s, name, 0, print_one, &d, app->call);
	if (status == PCTL_OK)
		status = pctl_edges_from(s, name, 0, print_one, &d, app->call);
	if (app->json) {
		pctl_json_array_end(&app->document);
		pctl_json_kv_u32(&app->document, "decisions_left_out", d.left_out);
	} else if (d.left_out != 0) {
		printf("%" PRIu32 " more decisions; --limit shows more\n", d.left_out);
	}
	return status;
}
