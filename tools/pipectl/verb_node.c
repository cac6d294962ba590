/* `pipectl node`: the chain of this home behind a socket. */
#include <inttypes.h>
#include <stdio.h>

#include "node.h"
#include "chain/node/node_chain.h"
#include "chain/home/signing.h"

/* An internal failure is told when it happens: the diagnostics of this process come at its end. */
void pctl_node_report(void *ctx, uint32_t code, const char *text)
{
	pctl_app *app = ctx;
	char number[16];
	const pctl_log_field fields[] = {{"code", number}, {"name", pctl_code_slug(code)}};

	snprintf(number, sizeof(number), "PC%04" PRIu32, code);
	pctl_log_write(app->log, PCTL_LOG_WARNING, "node", text, fields, 2);
	fprintf(stderr, "pipectl node: PC%04" PRIu32 " [%s] %s\n", code,
		pctl_code_slug(code) == NULL ? "?" : pctl_code_slug(code), text);
}

void pctl_node_print(pctl_app *app, const pctl_node_count *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (app->json)
			pctl_json_kv_u64(&app->document, rows[i].name, rows[i].value);
		else
			printf("%-12s %" PRIu64 "\n", rows[i].name, rows[i].value);
	}
}

static void print_counts(pctl_app *app, const pctl_node_counts *n)
{
	const pctl_node_count rows[] = {{"clients", n->clients},   {"turned_away", n->turned_away},
					{"requests", n->requests}, {"errors", n->errors},
					{"batches", n->batches},   {"blocks", n->blocks}};

	pctl_node_print(app, rows, sizeof(rows) / sizeof(rows[0]));
}

static void log_counts(pctl_app *app, const pctl_node_counts *n)
{
	char clients[24], requests[24], errors[24], blocks[24];
	const pctl_log_field fields[] = {{"clients", clients},
					 {"requests", requests},
					 {"errors", errors},
					 {"blocks", blocks}};

	snprintf(clients, sizeof(clients), "%" PRIu64, n->clients);
	snprintf(requests, sizeof(requests), "%" PRIu64, n->requests);
	snprintf(errors, sizeof(errors), "%" PRIu64, n->errors);
	snprintf(blocks, sizeof(blocks), "%" PRIu64, n->blocks);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "served", fields, 4);
}

pctl_status pctl_node_ended(pctl_app *app, pctl_status status)
{
	app->is_service = 1;
	return status == PCTL_E_CANCELLED ? PCTL_OK : status;
}

static pctl_status serve(pctl_app *app, pctl_chain *chain, const pctl_node_options *o)
{
	const pctl_node_service service = pctl_node_service_of(chain);
	pctl_node_counts counts;
	pctl_node *node;
	pctl_status status = pctl_node_open(o, &service, app->call, &node);

	if (status != PCTL_OK)
		return status;
	if (!app->quiet)
		fprintf(stderr, "listening on %s\n", o->path);
	pctl_log_write(app->log, PCTL_LOG_INFO, "node", "listens",
		       (const pctl_log_field[]){{"socket", o->path}}, 1);
	status = pctl_node_ended(app, pctl_node_run(node, app->call));
	pctl_node_counts_read(node, &counts);
	log_counts(app, &counts);
	print_counts(app, &counts);
	pctl_node_close(node);
	return status;
}

/* In how many ways at once the node is to be reached. */
static int ways(const pctl_app *app)
{
	static const char *const of[3][5] = {
		{"--socket", "--clients", NULL, NULL, NULL},
		{"--engine", "--listen", "--snapshot-blocks", NULL, NULL},
		{"--order", "--prefix", "--block-ms", "--retain", NULL}};
	int n = 0;

	for (int i = 0; i < 3; i++) {
		int given = 0;

		for (int k = 0; of[i][k] != NULL; k++)
			given |= pctl_option_has(&app->line, of[i][k]);
		n += given;
	}
	return n;
}

pctl_status pctl_verb_node(pctl_app *app)
{
	pctl_node_options o = {.path = pctl_option_value(&app->line, "--socket"),
			       .report = pctl_node_report,
			       .report_ctx = app};
	pctl_executor executor = {.run = NULL};
	pctl_home_signing signing = {.in = &app->host, .executor = &executor, .call = app->call};
	pctl_chain *chain = NULL;
	pctl_peers peers;
	uint64_t clients;
	pctl_status status;

	if (ways(app) > 1)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"one of --socket, --engine and --order, with what belongs to it");
	if (pctl_option_has(&app->line, "--order"))
		return pctl_node_order(app);
	if (pctl_option_has(&app->line, "--engine") || pctl_option_has(&app->line, "--listen") ||
	    pctl_option_has(&app->line, "--snapshot-blocks"))
		return pctl_node_abci(app);
	if (o.path == NULL)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--socket PATH says where to listen; --engine and --order are other ways");
	status = pctl_app_number(app, "--clients", PCTL_NODE_CLIENTS, &clients);
	if (status == PCTL_OK && (clients == 0 || clients > PCTL_NODE_CLIENTS_MAX))
		status = pctl_refuse(app->call, PC10_USAGE, "--clients takes 1 to %u",
				     PCTL_NODE_CLIENTS_MAX);
	o.clients = (uint32_t)clients;
	if (status == PCTL_OK)
		status = pctl_app_open_executor(app, NULL, &executor);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, &executor, &chain);
	if (status == PCTL_OK)
		status = pctl_chain_set_contracts(chain, app->call);
	if (status == PCTL_OK)
		status = pctl_app_peers(app, chain, &peers);
	if (status == PCTL_OK) {
		pctl_chain_set_report(chain, pctl_node_report, app);
		signing.chain = chain;
		pctl_home_sign_blocks(&signing);
		status = serve(app, chain, &o);
	}
	pctl_chain_close(chain);
	pctl_executor_close(&executor);
	return status;
}
