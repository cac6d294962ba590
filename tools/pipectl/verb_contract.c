/* Verbs of contracts: one call of a module or of a script of calls, taken in as a whole or not at all. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"
#include "chain/contracts/contract_script.h"
#include "chain/contracts/contract_wasm.h"
#include "chain/node/node_chain.h"
#include "chain/home/signing.h"
#include "foundation/base/hex.h"

#define FUEL_PER_GAS 1000u
#define PAID "executor"

/* A contract's file. `bytes` is the module, or the text of a script; wasm is NULL for a script. */
typedef struct contract_file {
	pctl_wasm *wasm;
	uint8_t *bytes;
	size_t n;
	char account[PCTL_CID_TEXT_SIZE];
} contract_file;

/* ---- files --------------------------------------------------------------------------------- */

static pctl_status read_file(pctl_app *app, const char *path, size_t most, uint8_t **out, size_t *n)
{
	FILE *f = fopen(path, "rb");
	pctl_status status = PCTL_OK;

	*n = 0;
	*out = malloc(most + 1);
	if (f == NULL || *out == NULL) {
		status = f == NULL ? pctl_refuse(app->call, PC3_IO, "%s: %s", path, strerror(errno))
				   : pctl_no_memory(app->call, path);
	} else {
		*n = fread(*out, 1, most + 1, f);
		if (ferror(f))
			status = pctl_refuse(app->call, PC3_IO, "%s: cannot be read", path);
		else if (*n > most)
			status = pctl_refuse(app->call, PC6127_CONTRACT_ROOM,
					     "%s has more than %zu bytes", path, most);
	}
	if (f != NULL)
		fclose(f);
	return status;
}

/* --runtime, the environment, or where install-wasm puts it. */
static pctl_status open_runtime(pctl_app *app, pctl_wasm **out)
{
	const char *path = pctl_option_value(&app->line, "--runtime");
	pctl_status status = pctl_installation_config(&app->host, app->call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	if (path == NULL)
		path = getenv("PIPECTL_WASMTIME");
	if (path == NULL || path[0] == '\0')
		path = pctl_arena_printf(app->arena, "%s/wasm/libwasmtime.so",
					 app->host.config->home);
	if (path == NULL)
		return pctl_no_memory(app->call, "a path");
	if (access(path, R_OK) != 0)
		return pctl_refuse(app->call, PC6120_CONTRACT_RUNTIME,
				   "%s: %s; `tools/packaging/install-wasm` fetches it", path,
				   strerror(errno));
	return pctl_wasm_open(path, app->call, out);
}

static int begins(const contract_file *c, const char *with, size_t n)
{
	return c->n >= n && memcmp(c->bytes, with, n) == 0;
}

static void close_file(contract_file *c)
{
	pctl_wasm_close(c->wasm);
	free(c->bytes);
}

/* A module, the text of one, or a script of calls. */
static pctl_status open_file(pctl_app *app, const char *path, contract_file *out)
{
	pctl_status status;
	pctl_cid cid;

	*out = (contract_file){.bytes = NULL};
	status = read_file(app, path, PCTL_WASM_MODULE_MAX, &out->bytes, &out->n);
	if (status == PCTL_OK && !begins(out, PCTL_SCRIPT_MARK, strlen(PCTL_SCRIPT_MARK)))
		status = open_runtime(app, &out->wasm);
	if (status == PCTL_OK && out->wasm != NULL && !begins(out, "\0asm", 4)) {
		uint8_t *text = out->bytes;

		status = pctl_wasm_assemble(out->wasm, (const char *)text, out->n, app->call,
					    &out->bytes, &out->n);
		free(text);
	}
	if (status == PCTL_OK)
		status = pctl_cid_of(out->bytes, out->n, app->call, &cid);
	if (status == PCTL_OK)
		pctl_cid_format(&cid, out->account);
	return status;
}

pctl_status pctl_verb_contract_account(pctl_app *app)
{
	contract_file c;
	pctl_status status = open_file(app, app->line.arguments[0], &c);

	if (status == PCTL_OK && app->json) {
		pctl_json_kv_string(&app->document, "account", c.account);
		pctl_json_kv_u64(&app->document, "bytes", c.n);
	} else if (status == PCTL_OK) {
		printf("%s\n", c.account);
	}
	close_file(&c);
	return status;
}

/* ---- calls --------------------------------------------------------------------------------- */

static void print_text(void *ctx, const uint8_t *text, uint32_t n)
{
	pctl_app *app = ctx;
	char *copy;

	if (!app->json) {
		fwrite("log ", 1, 4, stdout);
		fwrite(text, 1, n, stdout);
		fputc('\n', stdout);
		return;
	}
	copy = malloc(2 * (size_t)n + 1);
	if (copy == NULL)
		return;
	pctl_json_string(&app->document, pctl_hex_print(text, n, copy));
	free(copy);
}

/* One call of a contract. ids: of the jobs it submitted, one behind the other. */
typedef struct contract_call {
	const char *function;
	const uint8_t *argument;
	size_t n_argument;
	uint64_t fuel, used, gas;
	uint8_t *ids;
	size_t n_ids; /* bytes */
} contract_call;

static pctl_status run_in(const contract_file *c, pctl_contract_host *host, contract_call *k,
			  const pctl_call *call)
{
	pctl_wasm_run run = {.function = k->function,
			     .argument = k->argument,
			     .n_argument = (uint32_t)k->n_argument,
			     .fuel = k->fuel};
	char id[PCTL_CONTRACT_ID_BYTES + 1] = "";
	pctl_status status;

	if (c->wasm != NULL) {
		status = pctl_wasm_call(c->wasm, c->bytes, c->n, host, &run, call);
		k->used = run.used;
		return status;
	}
	if (k->n_argument >= PCTL_CONTRACT_ID_BYTES)
		memcpy(id, k->argument, PCTL_CONTRACT_ID_BYTES);
	return pctl_contract_script((const char *)c->bytes, c->n, id, host, k->fuel, call,
				    &k->used);
}

static pctl_status keep_ids(const pctl_contract *contract, contract_call *k, const pctl_call *call)
{
	const char(*jobs)[PCTL_CONTRACT_ID_BYTES + 1];
	const uint32_t n = pctl_contract_jobs(contract, &jobs);

	k->ids = malloc((size_t)n * PCTL_CONTRACT_ID_BYTES + 1);
	if (k->ids == NULL)
		return pctl_no_memory(call, "ids");
	for (uint32_t i = 0; i < n; i++, k->n_ids += PCTL_CONTRACT_ID_BYTES)
		memcpy(k->ids + k->n_ids, jobs[i], PCTL_CONTRACT_ID_BYTES);
	return PCTL_OK;
}

static pctl_status make_call(pctl_app *app, const contract_file *c, pctl_chain *chain,
			     contract_call *k)
{
	const pctl_node_service service = pctl_node_service_of(chain);
	const char *paid = pctl_option_value(&app->line, "--paid");
	pctl_contract_options o = {.service = &service,
				   .account = c->account,
				   .caller = pctl_option_value(&app->line, "--sender"),
				   .paid = paid == NULL ? PAID : paid,
				   .log = print_text,
				   .log_ctx = app};
	pctl_contract *contract;
	pctl_status status = pctl_app_number(app, "--pay", 0, &o.pay);

	if (status == PCTL_OK)
		status = pctl_app_number(app, "--fuel-per-gas", FUEL_PER_GAS, &o.fuel_per_gas);
	if (status == PCTL_OK)
		status = pctl_contract_begin(&o, app->call, &contract);
	if (status != PCTL_OK)
		return status;
	status = run_in(c, pctl_contract_host_of(contract), k, app->call);
	if (status == PCTL_OK)
		status = keep_ids(contract, k, app->call);
	return pctl_contract_end(contract, status, k->used, &k->gas);
}

static void print_call(pctl_app *app, const contract_call *k)
{
	char id[PCTL_CONTRACT_ID_BYTES + 1];

	if (app->json) {
		pctl_json_key(&app->document, "jobs");
		pctl_json_array_begin(&app->document);
	}
	for (size_t at = 0; at < k->n_ids; at += PCTL_CONTRACT_ID_BYTES) {
		snprintf(id, sizeof(id), "%.64s", (const char *)k->ids + at);
		if (app->json)
			pctl_json_string(&app->document, id);
		else
			printf("job %s\n", id);
	}
	if (!app->json) {
		printf("fuel %" PRIu64 " gas %" PRIu64 "\n", k->used, k->gas);
		return;
	}
	pctl_json_array_end(&app->document);
	pctl_json_kv_u64(&app->document, "fuel", k->used);
	pctl_json_kv_u64(&app->document, "gas", k->gas);
}

/* A call with what it logs and what came of it. */
static pctl_status call_and_print(pctl_app *app, const contract_file *c, pctl_chain *chain,
				  contract_call *k)
{
	pctl_status status;

	if (app->json) {
		pctl_json_key(&app->document, "log");
		pctl_json_array_begin(&app->document);
	}
	status = make_call(app, c, chain, k);
	if (app->json)
		pctl_json_array_end(&app->document);
	if (status == PCTL_OK)
		print_call(app, k);
	return status;
}

static pctl_status end_block(pctl_app *app, pctl_chain *chain)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.executor = ""}};
	pctl_response out = {.kind = 0};
	const pctl_status status = pctl_chain_end_block(chain, &r, app->call, &out);

	if (status == PCTL_OK && app->json)
		pctl_json_kv_u64(&app->document, "block", out.as.block.height);
	else if (status == PCTL_OK)
		printf("block %" PRIu64 "\n", out.as.block.height);
	pctl_response_destroy(&out);
	return status;
}

/* --then: the block ends, and the contract sees the results of its own jobs before any other message is taken in. */
static pctl_status call_then(pctl_app *app, const contract_file *c, pctl_chain *chain,
			     const contract_call *first)
{
	contract_call k = {.function = pctl_option_value(&app->line, "--then"),
			   .argument = first->ids,
			   .n_argument = first->n_ids,
			   .fuel = first->fuel};
	pctl_status status = end_block(app, chain);

	if (status == PCTL_OK && app->json) {
		pctl_json_key(&app->document, "then");
		pctl_json_object_begin(&app->document);
	}
	if (status == PCTL_OK) {
		status = call_and_print(app, c, chain, &k);
		if (app->json)
			pctl_json_object_end(&app->document);
	}
	free(k.ids);
	return status;
}

static pctl_status run_contract(pctl_app *app, const contract_file *c, contract_call *k)
{
	const int has_then = pctl_option_has(&app->line, "--then");
	pctl_executor executor = {.run = NULL};
	pctl_home_signing signing = {.in = &app->host, .executor = &executor, .call = app->call};
	pctl_chain *chain = NULL;
	pctl_status status = has_then ? pctl_app_open_executor(app, NULL, &executor) : PCTL_OK;

	if (status == PCTL_OK)
		status = pctl_app_chain(app, has_then ? &executor : NULL, &chain);
	signing.chain = chain;
	if (status == PCTL_OK)
		pctl_home_sign_blocks(&signing);
	if (status == PCTL_OK)
		status = call_and_print(app, c, chain, k);
	if (status == PCTL_OK && has_then)
		status = call_then(app, c, chain, k);
	pctl_chain_close(chain);
	pctl_executor_close(&executor);
	return status;
}

pctl_status pctl_verb_contract_run(pctl_app *app)
{
	const char *argument = pctl_option_value(&app->line, "--arg"), *sender;
	contract_call k = {.function = pctl_option_value(&app->line, "--call")};
	contract_file c = {.bytes = NULL};
	uint8_t *bytes = NULL;
	pctl_status status = pctl_app_sender(app, &sender);

	if (status == PCTL_OK)
		status = pctl_app_number(app, "--fuel", PCTL_WASM_FUEL, &k.fuel);
	if (status == PCTL_OK)
		status = open_file(app, app->line.arguments[0], &c);
	if (status == PCTL_OK && argument != NULL)
		status = read_file(app, argument, PCTL_WASM_ARGUMENT_MAX, &bytes, &k.n_argument);
	k.argument = bytes;
	if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "account", c.account);
	if (status == PCTL_OK)
		status = run_contract(app, &c, &k);
	free(k.ids);
	free(bytes);
	close_file(&c);
	return status;
}
