/* The chain's functions under the names of pctl_node_service. */
#include "chain/node/node_chain.h"

#define SHADERS_KEPT \
	256u /* texts, and kernels of them, between batches: uploads are many and jobs of few shaders */

static pctl_status begin(void *ctx, const pctl_call *call)
{
	const pctl_status status = pctl_chain_forget_shaders(ctx, SHADERS_KEPT, call);

	return status == PCTL_OK ? pctl_chain_batch_begin(ctx, call) : status;
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
