/* An evaluator answers y = f(x..) for columns of elements: on a device, by the op's own reference() on the host, or by
 * a violator made to fail. Laws, parity, compositions and gates are written against this one shape. */
#ifndef PIPECTL_EVIDENCE_PROOF_EVALUATE_H
#define PIPECTL_EVIDENCE_PROOF_EVALUATE_H

#include "evidence/proof/proof.h"

/* A function op on operands of one dtype. out_dtype: of its result. */
typedef struct pctl_op_function {
	pctl_op_ref op;
	uint32_t dtype, out_dtype;
	uint32_t n_in, reserved;
} pctl_op_function;

/* "int.add@1 u32". buf: PCTL_FUNCTION_NAME bytes. */
#define PCTL_FUNCTION_NAME 96u
const char *pctl_function_name(const pctl_op_function *f, char buf[PCTL_FUNCTION_NAME]);

/* The op `name` ("int.add@1"; without library, of the library `beside` is in) on dtype. 0 when there is none or it has
 * no form for dtype. */
int pctl_function_find(const pctl_op_source *ops, const char *name, const char *beside,
		       uint32_t dtype, pctl_op_function *out);

/* Tightly packed little-endian elements. */
typedef struct pctl_column {
	uint32_t dtype;
	uint32_t reserved;
	uint64_t n;
	uint8_t *data;
} pctl_column;

typedef struct pctl_evaluator {
	void *ctx;
	const char *name; /* for messages */
	/* out->data has room for n elements of f's out_dtype; n at most PCTL_PROOF_BLOCK. */
	pctl_status (*apply)(void *ctx, const pctl_op_function *f, const pctl_column *in,
			     uint64_t n, pctl_column *out, const pctl_call *call);
	/* The first byte seen changed that no kernel may write (beside a binding, or of an operand), in words; "": none.
	 * Whoever uses the evaluator makes a failure of it and empties it. */
	char beside[192];
} pctl_evaluator;

/* On a session: the elementwise kernel of f, built once, in the shapes of the bench: as an ordinary job of n elements, or
 * between guard zones in buffers that live for some runs. The result's place is poisoned before; a thorough run also
 * reads the operands back. */
pctl_status pctl_evaluator_device(pctl_proof_context *b, pctl_session *s, const pctl_call *call,
				  pctl_evaluator **out);
/* By reference(), in pieces where it is limited. */
pctl_status pctl_evaluator_reference(pctl_proof_context *b, const pctl_call *call,
				     pctl_evaluator **out);
/* Of either. NULL is fine. */
void pctl_evaluator_destroy(pctl_evaluator *e);

#define PCTL_LAW_BESIDE "bytes beside a binding, and those of operands, stay as they are"
/* A failure of the block where e->beside says something; it is emptied. */
void pctl_evaluator_judge(pctl_evaluator *e, const char *inputs, pctl_block *out);

/* CID of the elementwise kernel's wire form, as text. */
pctl_status pctl_function_program(pctl_proof_context *b, const pctl_op_function *f,
				  const pctl_call *call, char out[PCTL_CID_TEXT_SIZE]);

#endif
