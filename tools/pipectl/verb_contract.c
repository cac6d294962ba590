/* Verbs of contracts: modules and calls as messages of the home's chain, views, and what is there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"
#include "chain/contracts/contract_wasm.h"
#include "chain/contracts/contracts.h"
#include "chain/home/wasm.h"
#include "foundation/base/hex.h"

#define FUEL UINT64_C(20000000) /* of a call, where none is named */

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
		path = pctl_home_wasm(&app->host);
	if (path == NULL)
		return pctl_no_memory(app->call, "a path");
	if (access(path, R_OK) != 0)
		return pctl_refuse(app->call, PC6120_CONTRACT_RUNTIME,
				   "%s: %s; `tools/packaging/install-wasm` fetches it", path,
				   strerror(errno));
	return pctl_wasm_open(path, app->call, out);
}

static pctl_status assemble(pctl_app *app, uint8_t **bytes, size_t *n)
{
	uint8_t *text = *bytes;
	pctl_wasm *wasm;
	pctl_status status = open_runtime(app, &wasm);

	if (status == PCTL_OK)
		status = pctl_wasm_assemble(wasm, (const char *)text, *n, app->call, bytes, n);
	if (*bytes != text)
		free(text);
	pctl_wasm_close(wasm);
	return status;
}

/* A module, or the text of one, which needs the runtime. */
static pctl_status open_module(pctl_app *app, const char *path, uint8_t **bytes, size_t *n,
			       char account[PCTL_CID_TEXT_SIZE])
{
	pctl_cid cid;
	pctl_status status = read_file(app, path, 8u * PCTL_MESSAGE_CODE_MAX, bytes, n);

	if (status == PCTL_OK && (*n < 4 || memcmp(*bytes, "\0asm", 4) != 0))
		status = assemble(app, bytes, n);
	if (status == PCTL_OK)
		status = pctl_cid_of(*bytes, *n, app->call, &cid);
	if (status == PCTL_OK)
		pctl_cid_format(&cid, account);
	return status;
}

static void print_account(pctl_app *app, const char *account, size_t n)
{
	if (!app->json) {
		printf("%s\n", account);
		return;
	}
	pctl_json_kv_string(&app->document, "account", account);
	pctl_json_kv_u64(&app->document, "bytes", n);
}

pctl_status pctl_verb_contract_account(pctl_app *app)
{
	char account[PCTL_CID_TEXT_SIZE];
	uint8_t *bytes = NULL;
	size_t n = 0;
	pctl_status status = open_module(app, app->line.arguments[0], &bytes, &n, account);

	if (status == PCTL_OK)
		print_account(app, account, n);
	free(bytes);
	return status;
}

pctl_status pctl_verb_contract_upload(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_CONTRACT};
	pctl_response out = {.kind = 0};
	char account[PCTL_CID_TEXT_SIZE];
	pctl_chain *c = NULL;
	uint8_t *bytes = NULL;
	size_t n = 0;
	pctl_status status = pctl_app_sender(app, &r.as.contract.sender);

	if (status == PCTL_OK)
		status = open_module(app, app->line.arguments[0], &bytes, &n, account);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	r.as.contract.code = bytes;
	r.as.contract.n_code = n;
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, &out);
	if (status == PCTL_OK) {
		print_account(app, out.as.contract.contract, n);
		if (app->json)
			pctl_json_kv_u64(&app->document, "gas", out.as.contract.gas_used);
	}
	pctl_response_destroy(&out);
	pctl_chain_close(c);
	free(bytes);
	return status;
}

/* ---- calls and views ------------------------------------------------------------------------- */

static void print_texts(pctl_app *app, const pctl_msg_call_response *m)
{
	if (app->json) {
		pctl_json_key(&app->document, "log");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < m->n_log; i++) {
		char *hex = app->json ? malloc(2 * m->log[i].n + 1) : NULL;

		if (hex != NULL)
			pctl_json_string(&app->document,
					 pctl_hex_print(m->log[i].data, m->log[i].n, hex));
		if (!app->json) {
			fputs("log ", stdout);
			fwrite(m->log[i].data, 1, m->log[i].n, stdout);
			fputc('\n', stdout);
		}
		free(hex);
	}
	if (app->json) {
		pctl_json_array_end(&app->document);
		pctl_json_key(&app->document, "jobs");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < m->n_jobs; i++) {
		if (app->json)
			pctl_json_string(&app->document, m->jobs[i]);
		else
			printf("job %s\n", m->jobs[i]);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
}

/* What came of it; a call that failed is a message that was taken in all the same, and its code is the exit status's. */
static pctl_status print_call(pctl_app *app, const pctl_msg_call_response *m)
{
	print_texts(app, m);
	if (app->json) {
		if (m->call_id[0] != '\0')
			pctl_json_kv_string(&app->document, "call", m->call_id);
		pctl_json_kv_string(&app->document, "status", m->code == 0 ? "complete" : "failed");
		pctl_json_kv_u64(&app->document, "fuel", m->fuel_used);
		pctl_json_kv_u64(&app->document, "gas", m->gas_used);
		pctl_json_kv_u64(&app->document, "height", m->height);
	} else {
		if (m->call_id[0] != '\0')
			printf("call %s\n", m->call_id);
		printf("fuel %" PRIu64 " gas %" PRIu64 " height %" PRIu64 "\n", m->fuel_used,
		       m->gas_used, m->height);
	}
	return m->code == 0 ? PCTL_OK : pctl_refuse(app->call, m->code, "%s", m->error);
}

/* The parts of both; the argument is released with free(). */
static pctl_status read_call(pctl_app *app, uint64_t fuel, pctl_msg_call *m, uint8_t **argument)
{
	const char *function = pctl_option_value(&app->line, "--call");
	const char *file = pctl_option_value(&app->line, "--arg");
	size_t n = 0;
	pctl_status status = pctl_app_number(app, "--fuel", fuel, &m->fuel);

	m->contract = app->line.arguments[0];
	m->function = function == NULL ? "" : function;
	if (status == PCTL_OK && file != NULL)
		status = read_file(app, file, PCTL_MESSAGE_ARGUMENT_MAX, argument, &n);
	m->argument = *argument;
	m->n_argument = n;
	return status;
}

/* A call whose reading came to `status`, through `step`, and what came of it. */
static pctl_status carry_out(pctl_app *app, const pctl_request *r, pctl_status status,
			     pctl_status (*step)(pctl_chain *c, const pctl_request *r,
						 const pctl_call *call, pctl_response *out))
{
	pctl_response out = {.kind = 0};
	pctl_chain *c = NULL;

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = step(c, r, app->call, &out);
	if (status == PCTL_OK)
		status = print_call(app, &out.as.call);
	pctl_response_destroy(&out);
	pctl_chain_close(c);
	return status;
}

pctl_status pctl_verb_contract_call(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_CALL};
	uint8_t *argument = NULL;
	pctl_status status = pctl_app_sender(app, &r.as.call.sender);

	if (status == PCTL_OK)
		status = read_call(app, FUEL, &r.as.call, &argument);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--pay", 0, &r.as.call.pay);
	status = carry_out(app, &r, status, pctl_chain_apply);
	free(argument);
	return status;
}

pctl_status pctl_verb_contract_view(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_VIEW, .as.call = {.sender = ""}};
	uint8_t *argument = NULL;
	pctl_status status = read_call(app, PCTL_CONTRACT_VIEW_FUEL, &r.as.call, &argument);

	if (status == PCTL_OK)
		status = pctl_app_number(app, "--height", 0, &r.as.call.height);
	status = carry_out(app, &r, status, pctl_chain_answer);
	free(argument);
	return status;
}

/* ---- what is there --------------------------------------------------------------------------- */

static int print_contract(void *ctx, const pctl_contract_row *row)
{
	pctl_app *app = ctx;

	if (!app->json) {
		printf("%s %s height %" PRIu64 " bytes %" PRIu64 " rows %" PRIu64 " calls %" PRIu64
		       "\n",
		       row->cid, row->sender, row->height, row->n_bytes, row->n_rows, row->n_calls);
		return 0;
	}
	pctl_json_object_begin(&app->document);
	pctl_json_kv_string(&app->document, "contract", row->cid);
	pctl_json_kv_string(&app->document, "sender", row->sender);
	pctl_json_kv_u64(&app->document, "height", row->height);
	pctl_json_kv_u64(&app->document, "bytes", row->n_bytes);
	pctl_json_kv_u64(&app->document, "rows", row->n_rows);
	pctl_json_kv_u64(&app->document, "calls", row->n_calls);
	pctl_json_object_end(&app->document);
	return 0;
}

static int print_row(void *ctx, const pctl_contract_call_row *row)
{
	const char *status = row->code == 0 ? "complete" : "failed";
	char id[PCTL_JOB_TEXT_SIZE], code[24] = "-";
	pctl_app *app = ctx;

	pctl_job_id_format(row->id, id);
	if (row->code != 0)
		snprintf(code, sizeof(code), "PC%04" PRIu64, row->code);
	if (!app->json) {
		printf("%s %s %s %s height %" PRIu64 " fuel %" PRIu64 " gas %" PRIu64
		       " paid %" PRIu64 " jobs %" PRIu64 "\n",
		       id, row->sender, status, code, row->height, row->fuel, row->gas, row->paid,
		       row->n_jobs);
		return 0;
	}
	pctl_json_object_begin(&app->document);
	pctl_json_kv_string(&app->document, "call", id);
	pctl_json_kv_string(&app->document, "contract", row->contract);
	pctl_json_kv_string(&app->document, "sender", row->sender);
	pctl_json_kv_string(&app->document, "status", status);
	pctl_json_kv_string(&app->document, "code", code);
	pctl_json_kv_u64(&app->document, "height", row->height);
	pctl_json_kv_u64(&app->document, "number", row->number);
	pctl_json_kv_u64(&app->document, "fuel", row->fuel);
	pctl_json_kv_u64(&app->document, "gas", row->gas);
	pctl_json_kv_u64(&app->document, "paid", row->paid);
	pctl_json_kv_u64(&app->document, "returned", row->returned);
	pctl_json_kv_u64(&app->document, "jobs", row->n_jobs);
	pctl_json_object_end(&app->document);
	return 0;
}

static void begin_list(pctl_app *app, const char *name)
{
	if (!app->json)
		return;
	pctl_json_key(&app->document, name);
	pctl_json_array_begin(&app->document);
}

static void end_list(pctl_app *app)
{
	if (app->json)
		pctl_json_array_end(&app->document);
}

pctl_status pctl_verb_contract_list(pctl_app *app)
{
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK) {
		begin_list(app, "contracts");
		status = pctl_contracts_visit(pctl_cursor(c), NULL, print_contract, app, app->call);
		end_list(app);
	}
	pctl_chain_close(c);
	return status;
}

/* A contract with its calls, or one call. */
static pctl_status show(pctl_app *app, pctl_chain *c, const char *word)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_contract_call_row row;
	pctl_status status = PCTL_OK;

	if (!pctl_job_id_parse(word, id)) {
		begin_list(app, "contracts");
		status = pctl_contracts_visit(pctl_cursor(c), word, print_contract, app, app->call);
		end_list(app);
		begin_list(app, "calls");
		if (status == PCTL_OK)
			status = pctl_calls_visit(pctl_cursor(c), word, print_row, app, app->call);
		end_list(app);
		return status;
	}
	status = pctl_calls_read(pctl_cursor(c), id, app->call, &row);
	begin_list(app, "calls");
	if (status == PCTL_OK)
		print_row(app, &row);
	end_list(app);
	return status;
}

pctl_status pctl_verb_contract_show(pctl_app *app)
{
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = show(app, c, app->line.arguments[0]);
	pctl_chain_close(c);
	return status;
}
