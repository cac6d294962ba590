/* The chain's functions under the names of pctl_node_service. */
#include "chain/node/node_chain.h"

static pctl_status begin(void *ctx, const pctl_call *call)
{
	const pctl_status status = pctl_chain_forget_shaders(ctx, PCTL_CHAIN_SHADERS_KEPT, call);

	return status == PCTL_OK ? pctl_chain_batch_begin(ctx, call) : status;
}

static pctl_status serve(void *ctx, const pctl_request *r, const pctl_call *call,
			 pctl_response *out)
{
	const pctl_status status = pctl_chain_forget_shaders(ctx, PCTL_CHAIN_SHADERS_OPEN, call);

	return status == PCTL_OK ? pctl_chain_serve(ctx, r, call, out) : status;
}

static pctl_status commit(void *ctx, const pctl_call *call)
{
	return pctl_chain_batch_commit(ctx, call);
}

static void abandon(void *ctx)
{
	pctl_chain_batch_abort(ctx);
}

/* Read by the node's own thread, while another one may end a block. */
static pctl_status answer(void *ctx, const pctl_request *r, const pctl_call *call,
			  pctl_response *out)
{
	pctl_chain *reader;
	const pctl_status status = pctl_chain_reader(ctx, call, &reader);

	return status == PCTL_OK ? pctl_chain_serve(reader, r, call, out) : status;
}

static void ahead(void *ctx, const pctl_request *const *requests, uint32_t n)
{
	pctl_chain_ahead(ctx, requests, n);
}

pctl_node_service pctl_node_service_of(pctl_chain *c)
{
	pctl_node_service service = {.begin = begin,
				     .serve = serve,
				     .commit = commit,
				     .abort = abandon,
				     .ahead = ahead,
				     .ctx = c};
	pctl_chain *reader = NULL;

	/* Without one, queries wait for blocks, as they do of a chain in memory. */
	if (pctl_chain_reader(c, NULL, &reader) == PCTL_OK && reader != NULL)
		service.answer = answer;
	return service;
}
