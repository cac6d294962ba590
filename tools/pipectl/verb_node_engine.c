/* `pipectl node` behind a consensus engine or an ordering service. */
#include <stdio.h>
#include <string.h>

#include "chain/engine/abci/server.h"
#include "chain/engine/abci/snapshots.h"
#include "chain/home/adopt.h"
#include "chain/order/order.h"
#include "node.h"

static pctl_status open_home(pctl_node_home *h)
{
	pctl_app *app = h->app;
	const char *dir = pctl_arena_printf(app->arena, "%s/chain/decided", app->host.config->home);
	pctl_status status = dir == NULL ? pctl_no_memory(app->call, "a path") : PCTL_OK;

	if (status == PCTL_OK)
		status = pctl_app_chain(app, &h->executor, &h->chain);
	if (status == PCTL_OK)
		status = pctl_chain_set_contracts(h->chain, app->call);
	if (status == PCTL_OK)
		status = pctl_chain_reader(h->chain, app->call, &h->reader);
	if (status == PCTL_OK)
		status = pctl_decider_open(h->chain, dir, app->call, &h->decider);
	if (status != PCTL_OK)
		return status;
	h->signing = (pctl_home_signing){
		.in = &app->host, .executor = &h->executor, .call = app->call, .chain = h->chain};
	pctl_home_sign_blocks(&h->signing);
	return PCTL_OK;
}

static void close_home(pctl_node_home *h)
{
	pctl_decider_close(h->decider);
	pctl_chain_close(h->chain);
	h->decider = NULL;
	h->reader = h->chain = NULL;
}

/* A home whose blocks are signed here, for as long as `serve` runs. */
static pctl_status with_home(pctl_app *app, pctl_status (*serve)(pctl_node_home *h))
{
	pctl_node_home h = {.app = app};
	pctl_status status = pctl_app_open_executor(app, NULL, &h.executor);

	if (status == PCTL_OK)
		status = open_home(&h);
	if (status == PCTL_OK)
		status = serve(&h);
	close_home(&h);
	pctl_executor_close(&h.executor);
	return status;
}

/* ---- ABCI ---------------------------------------------------------------------------------- */

typedef struct abci_node {
	pctl_node_home *home;
	pctl_abci what;
	const char *dir;
} abci_node;

/* The chain that came in by snapshot is that of the home from here on. */
static pctl_status adopt(void *ctx, const pctl_call *call)
{
	abci_node *n = ctx;
	pctl_status status;

	n->what.decider = NULL;
	n->what.chain = n->what.reader = NULL;
	close_home(n->home);
	status = pctl_home_adopt(n->dir, call);
	if (status == PCTL_OK)
		status = open_home(n->home);
	if (status != PCTL_OK)
		return status;
	n->what.decider = n->home->decider;
	n->what.chain = n->home->chain;
	n->what.reader = n->home->reader;
	return PCTL_OK;
}

static pctl_status open_join(abci_node *n)
{
	pctl_app *app = n->home->app;
	pctl_abci_join_options o = {.store = app->host.store,
				    .kernels = app->host.kernels,
				    .adopt = adopt,
				    .adopt_ctx = n};
	pctl_status status = pctl_app_number(app, "--snapshot-blocks", PCTL_ABCI_SNAPSHOT_BLOCKS,
					     &n->what.snapshot_blocks);

	n->dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	n->what.snapshots =
		pctl_arena_printf(app->arena, "%s/chain/snapshots", app->host.config->home);
	if (status == PCTL_OK && (n->dir == NULL || n->what.snapshots == NULL))
		status = pctl_no_memory(app->call, "a path");
	o.dir = n->dir;
	memcpy(o.id, pctl_decider_chain(n->home->decider), sizeof(o.id));
	return status == PCTL_OK ? pctl_abci_join_open(&o, app->call, &n->what.join) : status;
}

static pctl_status run_abci(abci_node *n, pctl_abci_server *server)
{
	const pctl_abci_counts *counts = pctl_abci_server_counts(server);
	pctl_app *app = n->home->app;
	const char *address = pctl_option_value(&app->line, "--listen");
	char chain[PCTL_ABCI_CHAIN_SIZE];
	pctl_status status;

	pctl_abci_chain(pctl_decider_chain(n->home->decider), chain);
	if (!app->quiet)
		fprintf(stderr, "listening on %s for the engine of chain %s\n", address, chain);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "listens for an engine",
		       (const pctl_log_field[]){{"address", address}, {"chain", chain}}, 2);
	status = pctl_node_ended(app, pctl_abci_server_run(server, app->call));
	pctl_node_print(
		app,
		(const pctl_node_count[]){
			{"clients", counts->clients},
			{"requests", counts->requests},
			{"exceptions", counts->exceptions},
			{"blocks", n->what.decider == NULL
					   ? 0
					   : pctl_decider_last_of(n->what.decider)->height}},
		4);
	return status;
}

static pctl_status serve_abci(pctl_node_home *h)
{
	pctl_app *app = h->app;
	abci_node n = {.home = h,
		       .what = {.decider = h->decider,
				.chain = h->chain,
				.reader = h->reader,
				.told = pctl_node_report,
				.told_ctx = app}};
	const pctl_abci_server_options o = {.address = pctl_option_value(&app->line, "--listen"),
					    .report = pctl_node_report,
					    .report_ctx = app};
	pctl_abci_server *server = NULL;
	pctl_status status = open_join(&n);

	if (status == PCTL_OK)
		status = pctl_checker_open(app->call, &n.what.checker);

	if (status == PCTL_OK)
		status = pctl_abci_server_open(&o, &n.what, app->call, &server);
	if (status == PCTL_OK)
		status = run_abci(&n, server);
	pctl_abci_server_close(server);
	pctl_checker_close(n.what.checker);
	pctl_abci_join_close(n.what.join);
	return status;
}

pctl_status pctl_node_abci(pctl_app *app)
{
	const char *engine = pctl_option_value(&app->line, "--engine");

	if (engine == NULL)
		return pctl_refuse(app->call, PC10_USAGE, "--listen is of --engine abci");
	if (strcmp(engine, "abci") != 0)
		return pctl_refuse(app->call, PC10_USAGE, "--engine takes abci, not \"%s\"",
				   engine);
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

static pctl_status serve_order(pctl_node_home *h)
{
	pctl_app *app = h->app;
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
		status = pctl_app_number(app, "--retain", PCTL_ORDER_RETAIN, &o.retain);
	if (status == PCTL_OK)
		status = pctl_order_open(&o, h->decider, app->call, &order);
	if (status != PCTL_OK)
		return status;
	if (!app->quiet)
		fprintf(stderr, "following %s\n", o.service);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "follows an order",
		       (const pctl_log_field[]){{"service", o.service}}, 1);
	status = pctl_node_ended(app, pctl_order_run(order, app->call));
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
