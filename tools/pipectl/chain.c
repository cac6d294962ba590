/* The options that verbs of the consensus VM share, handed to the functions that decide (core/chain/home). */
#include "chain.h"

#include "chain/state/amount.h"

pctl_status pctl_app_sender(pctl_app *app, const char **out)
{
	*out = pctl_option_value(&app->line, "--sender");
	if (*out == NULL)
		*out = pctl_option_value(&app->line, "--from");
	return *out != NULL ? PCTL_OK
			    : pctl_refuse(app->call, PC10_USAGE,
					  "--sender ACCOUNT says who sends the message");
}

pctl_status pctl_app_chain(pctl_app *app, const pctl_executor *executor, pctl_chain **out)
{
	return pctl_home_chain(&app->host, executor, app->call, out);
}

pctl_status pctl_app_peers(pctl_app *app, pctl_chain *c, pctl_peers *peers)
{
	const char **paths, *path;
	uint32_t n = 0;

	*peers = (pctl_peers){.paths = NULL};
	while (pctl_option_at(&app->line, "--peer", n) != NULL)
		n++;
	paths = pctl_arena_array(app->arena, n, sizeof(*paths));
	if (paths == NULL)
		return pctl_no_memory(app->call, "the names of nodes");
	for (uint32_t i = 0; (path = pctl_option_at(&app->line, "--peer", i)) != NULL; i++)
		paths[i] = path;
	*peers = (pctl_peers){.paths = paths, .n = n};
	if (n != 0)
		pctl_chain_set_fetch(c, pctl_peers_fetch, peers);
	return PCTL_OK;
}

pctl_status pctl_app_shader(pctl_app *app, pctl_chain *c, const char *word, const char **out)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_status status = pctl_home_shader(c, word, app->call, cid);

	*out = status == PCTL_OK ? pctl_arena_dup(app->arena, cid) : NULL;
	return status == PCTL_OK && *out == NULL ? pctl_no_memory(app->call, "a name") : status;
}

pctl_status pctl_app_number(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	*out = fallback;
	if (text != NULL && !pctl_amount_parse(text, out))
		return pctl_refuse(app->call, PC10_USAGE, "%s wants a number, not \"%s\"", option,
				   text);
	return PCTL_OK;
}

pctl_status pctl_app_open_executor(pctl_app *app, const char *selector, pctl_executor *out)
{
	pctl_run_options run;
	pctl_status status = pctl_app_run_options(app, &run);

	*out = (pctl_executor){.run = NULL};
	return status == PCTL_OK ? pctl_home_executor(&run, selector, app->call, out) : status;
}
