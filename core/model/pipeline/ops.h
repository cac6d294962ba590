/* The ops that models are written in. Core names ops of shipped libraries here and nowhere else: a pipeline is text, and these stand in it. */
#ifndef PIPECTL_MODEL_PIPELINE_OPS_H
#define PIPECTL_MODEL_PIPELINE_OPS_H

#define OP_ADD "ieee.add@1"
#define OP_MUL "ieee.mul@1"
#define OP_DIV "ieee.div@1"
#define OP_TANH "ieee.tanh@1"
#define OP_INT_ADD "int.add@1"
#define OP_INT_SUB "int.sub@1"
#define OP_INT_NE "int.ne@1"
#define OP_CONVERT "tensor.convert@1"
#define OP_FULL "tensor.full@1"
#define OP_IOTA "tensor.iota@1"
#define OP_RESHAPE "tensor.reshape@1"
#define OP_CONCAT "tensor.concat@1"
#define OP_STACK "tensor.stack@1"
#define OP_ROWS "tensor.embedding@1"
#define OP_MATMUL "tensor.matmul@1"
#define OP_RMS_NORM "tensor.rms_norm@1"
#define OP_EMBED "transformer.embed@1"
#define OP_ROPE_TABLE "transformer.rope_table@1"
#define OP_ROPE "transformer.rope@1"
#define OP_KV_WRITE "transformer.kv_write@1"
#define OP_ATTENTION "transformer.attention@1"
#define OP_SWIGLU "transformer.swiglu@1"
#define OP_GEGLU "transformer.geglu@1"
#define OP_MOE_ROUTE "transformer.moe_route@1"
#define OP_MOE_LINEAR "transformer.moe_linear@1"
#define OP_MOE_COMBINE "transformer.moe_combine@1"

#endif
