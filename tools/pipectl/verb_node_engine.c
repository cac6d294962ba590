/* `pipectl node` behind a consensus engine or an ordering service. */
#include <stdio.h>
#include <string.h>

#include "chain/engine/abci/server.h"
#include "chain/home/signing.h"
#include "chain/order/order.h"
#include "node.h"

pctl_status pctl_node_home_open(pctl_app *app, pctl_node_home *out)
{
	const char *dir;
	pctl_status status = pctl_app_open_executor(app, NULL, &out->executor);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, &out->executor, &out->chain);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &out->reader);
	if (status != PCTL_OK)
		return status;
	dir = pctl_arena_printf(app->arena, "%s/chain/decided", app->host.config->home);
	return dir == NULL ? pctl_no_memory(app->call, "a path")
			   : pctl_decider_open(out->chain, dir, app->call, &out->decider);
}

void pctl_node_home_close(pctl_node_home *h)
{
	pctl_decider_close(h->decider);
	pctl_chain_close(h->reader);
	pctl_chain_close(h->chain);
	pctl_executor_close(&h->executor);
}

static pctl_status serve_abci(pctl_app *app, const pctl_node_home *h)
{
	const char *address = pctl_option_value(&app->line, "--listen");
	const pctl_abci what = {.decider = h->decider,
				.reader = h->reader,
				.told = pctl_node_report,
				.told_ctx = app};
	const pctl_abci_server_options o = {
		.address = address, .report = pctl_node_report, .report_ctx = app};
	char chain[PCTL_ABCI_CHAIN_SIZE];
	pctl_abci_server *server;
	const pctl_abci_counts *n;
	pctl_status status = pctl_abci_server_open(&o, &what, app->call, &server);

	if (status != PCTL_OK)
		return status;
	pctl_abci_chain(pctl_decider_chain(h->decider), chain);
	if (!app->quiet)
		fprintf(stderr, "listening on %s for the engine of chain %s\n", address, chain);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "listens for an engine",
		       (const pctl_log_field[]){{"address", address}, {"chain", chain}}, 2);
	status = pctl_abci_server_run(server, app->call);
	n = pctl_abci_server_counts(server);
	pctl_node_print(
		app,
		(const pctl_node_count[]){{"clients", n->clients},
					  {"requests", n->requests},
					  {"exceptions", n->exceptions},
					  {"blocks", pctl_decider_last_of(h->decider)->height}},
		4);
	pctl_abci_server_close(server);
	return status;
}

/* A home whose blocks are signed here, for as long as `serve` runs. */
static pctl_status with_home(pctl_app *app,
			     pctl_status (*serve)(pctl_app *app, const pctl_node_home *h))
{
	pctl_node_home h = {.chain = NULL};
	pctl_home_signing signing = {.in = &app->host, .executor = &h.executor, .call = app->call};
	pctl_status status = pctl_node_home_open(app, &h);

	if (status == PCTL_OK) {
		signing.chain = h.chain;
		pctl_home_sign_blocks(&signing);
		status = serve(app, &h);
	}
	pctl_node_home_close(&h);
	return status;
}

pctl_status pctl_node_abci(pctl_app *app)
{
	const char *engine = pctl_option_value(&app->line, "--engine");

	if (engine == NULL || strcmp(engine, "abci") != 0)
		return pctl_refuse(app->call, PC10_USAGE, "--listen is of --engine abci");
	if (pctl_option_value(&app->line, "--listen") == NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--listen unix:PATH or tcp:HOST:PORT says where");
	return with_home(app, serve_abci);
}

/* ---- an ordering service ------------------------------------------------------------------- */

static void tell(void *ctx, uint32_t code, const char *text)
{
	if (code != 0)
		pctl_node_report(ctx, code, text);
	else
		fprintf(stderr, "pipectl node: %s\n", text);
}

static pctl_status serve_order(pctl_app *app, const pctl_node_home *h)
{
	pctl_order_options o = {.service = pctl_option_value(&app->line, "--order"),
				.prefix = pctl_option_value(&app->line, "--prefix"),
				.report = tell,
				.report_ctx = app};
	const pctl_order_counts *n;
	pctl_order *order = NULL;
	uint64_t block_ms;
	pctl_status status = pctl_app_number(app, "--block-ms", PCTL_ORDER_BLOCK_MS, &block_ms);

	if (status == PCTL_OK && (block_ms == 0 || block_ms > 3600000))
		status = pctl_refuse(app->call, PC10_USAGE, "--block-ms takes 1 to 3600000");
	o.block_ms = (uint32_t)block_ms;
	if (status == PCTL_OK)
		status = pctl_order_open(&o, h->decider, app->call, &order);
	if (status != PCTL_OK)
		return status;
	if (!app->quiet)
		fprintf(stderr, "following %s\n", o.service);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "follows an order",
		       (const pctl_log_field[]){{"service", o.service}}, 1);
	status = pctl_order_run(order, app->call);
	n = pctl_order_counts_of(order);
	pctl_node_print(app,
			(const pctl_node_count[]){
				{"blocks", n->blocks}, {"cut", n->cut}, {"terms", n->terms}},
			3);
	pctl_order_close(order, NULL);
	return status;
}

pctl_status pctl_node_order(pctl_app *app)
{
	return with_home(app, serve_order);
}
