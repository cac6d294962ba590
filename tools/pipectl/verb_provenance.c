/* `pipectl provenance`: where a name comes from, or what came from it, and whether that is so. */
#include "provenance.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"

#define DEPTH 64u
#define LIMIT 1000u
#define LIMIT_MAX 10000000u

static pctl_status read_options(pctl_app *app, pctl_provenance_options *out)
{
	uint64_t depth, limit;
	pctl_status status = pctl_app_number(app, "--depth", DEPTH, &depth);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--limit", LIMIT, &limit);
	if (status != PCTL_OK)
		return status;
	if (depth == 0 || depth > LIMIT_MAX || limit == 0 || limit > LIMIT_MAX)
		return pctl_refuse(app->call, PC10_USAGE, "--depth and --limit take 1 to %u",
				   LIMIT_MAX);
	out->max_depth = (uint32_t)depth;
	out->max_steps = (uint32_t)limit;
	if (pctl_option_has(&app->line, "--forward"))
		out->flags |= PCTL_PROVENANCE_FORWARD;
	if (pctl_option_has(&app->line, "--all"))
		out->flags |= PCTL_PROVENANCE_ALL;
	return PCTL_OK;
}

static pctl_status verify(pctl_app *app, pctl_chain *c, const pctl_provenance *p, uint32_t **out)
{
	pctl_executor executor = {.run = NULL};
	pctl_status status;

	*out = calloc(p->n_steps + 1u, sizeof(**out));
	if (*out == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory to verify a history");
	/* Where jobs are run again: --backend, else the reference. */
	status = pctl_app_open_executor(
		app, pctl_option_has(&app->line, "--backend") ? NULL : PCTL_REFERENCE, &executor);
	if (status == PCTL_OK)
		status = pctl_provenance_verify(c, p, &executor, app->call, *out);
	if (executor.run != NULL)
		pctl_executor_close(&executor);
	return status;
}

static pctl_status print(pctl_app *app, const pctl_provenance *p, const uint32_t *verdicts)
{
	const char *picture = pctl_option_value(&app->line, "--svg");
	pctl_status status = picture == NULL ? PCTL_OK : pctl_app_history_svg(app, p, picture);

	if (status != PCTL_OK || (picture != NULL && pctl_app_is_standard_output(picture)))
		return status;
	if (app->json)
		return pctl_app_print_history_json(app, p, verdicts);
	if (!pctl_option_has(&app->line, "--dot"))
		return pctl_app_print_history(app, p, verdicts);
	pctl_app_print_history_dot(p);
	return PCTL_OK;
}

pctl_status pctl_verb_provenance(pctl_app *app)
{
	const char *name = app->line.arguments[0];
	pctl_provenance_options o;
	pctl_provenance p = {.n_steps = 0};
	pctl_chain *c = NULL;
	uint32_t *verdicts = NULL;
	const char *picture = pctl_option_value(&app->line, "--svg");
	pctl_status status = read_options(app, &o), printed;

	if (status == PCTL_OK && app->json && pctl_option_has(&app->line, "--dot"))
		status = pctl_refuse(app->call, PC10_USAGE, "give --dot or --json, not both");
	if (status == PCTL_OK && pctl_option_has(&app->line, "--svg") &&
	    pctl_option_has(&app->line, "--dot"))
		status = pctl_refuse(app->call, PC10_USAGE, "give --dot or --svg, not both");
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_provenance_read(pctl_cursor(c), name, &o, app->call, &p);
	if (status != PCTL_OK)
		goto out;
	if (pctl_option_has(&app->line, "--verify"))
		status = verify(app, c, &p, &verdicts);
	printed = print(app, &p, verdicts);
	/* Standard output that is a picture or a graph is nothing else. */
	if (printed == PCTL_OK && !pctl_option_has(&app->line, "--dot") &&
	    (picture == NULL || !pctl_app_is_standard_output(picture)))
		printed = pctl_app_print_decisions(app, pctl_cursor(c), name, o.max_steps);
	status = status == PCTL_OK ? printed : status;
out:
	free(verdicts);
	pctl_provenance_clear(&p);
	pctl_chain_close(c);
	return status;
}

/* ---- for archives ------------------------------------------------------------------------- */

static pctl_status append(pctl_app *app, const pctl_provenance *p, pctl_cid **cids, uint32_t *n)
{
	pctl_cid *more = NULL, *grown;
	uint32_t n_more = 0;
	pctl_status status = pctl_provenance_cids(p, app->call, &more, &n_more);

	if (status != PCTL_OK)
		return status;
	grown = realloc(*cids, ((size_t)*n + n_more + 1u) * sizeof(*grown));
	if (grown == NULL) {
		free(more);
		return pctl_no_memory(app->call, "a history");
	}
	memcpy(grown + *n, more, n_more * sizeof(*more));
	*cids = grown;
	*n += n_more;
	free(more);
	return PCTL_OK;
}

pctl_status pctl_app_history_cids(pctl_app *app, const pctl_cid *of, uint32_t n_of, pctl_cid **out,
				  uint32_t *n_out)
{
	const pctl_provenance_options o = {.max_depth = LIMIT_MAX, .max_steps = LIMIT_MAX};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	*out = NULL;
	*n_out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n_of; i++) {
		char name[PCTL_CID_TEXT_SIZE];
		pctl_provenance p = {.n_steps = 0};

		status = pctl_provenance_read(pctl_cursor(c), pctl_cid_format(&of[i], name), &o,
					      app->call, &p);
		if (status == PCTL_OK && (p.cut_depth != 0 || p.cut_steps != 0))
			status = pctl_refuse(app->call, PC5887_PROVENANCE_CUT,
					     "the history of %s has more than %u jobs", name,
					     LIMIT_MAX);
		if (status == PCTL_OK)
			status = append(app, &p, out, n_out);
		pctl_provenance_clear(&p);
	}
	pctl_chain_close(c);
	return status;
}
