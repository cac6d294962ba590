/* The chain's functions under the names of pctl_node_service. */
#include "chain/node/node_chain.h"

static pctl_status begin(void *ctx, const pctl_call *call)
{
	return pctl_chain_batch_begin(ctx, call);
}

static pctl_status serve(void *ctx, const pctl_request *r, const pctl_call *call,
			 pctl_response *out)
{
	return pctl_chain_serve(ctx, r, call, out);
}

static pctl_status commit(void *ctx, const pctl_call *call)
{
	return pctl_chain_batch_commit(ctx, call);
}

static void abandon(void *ctx)
{
	pctl_chain_batch_abort(ctx);
}

pctl_node_service pctl_node_service_of(pctl_chain *c)
{
	return (pctl_node_service){
		.begin = begin, .serve = serve, .commit = commit, .abort = abandon, .ctx = c};
}
