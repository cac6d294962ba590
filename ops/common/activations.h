/* Activations that more than one library has, as WGSL expressions of x in its own format (SEMANTICS.md 15.11). What is x / (1 + exp(-x)) and the like of -Inf
 * is their limit, -0: 1 / x gives it. */
#ifndef PIPECTL_OPS_ACTIVATIONS_H
#define PIPECTL_OPS_ACTIVATIONS_H

#define KIT_LIMIT(e) "select(" e ", 1.0 / x, x + x == x && x < 0.0)"
#define KIT_SILU KIT_LIMIT("x / (1.0 + exp(-x))")
#define KIT_GELU KIT_LIMIT("(0.5 * x) * (1.0 + erf(0.70710678118654752440 * x))")
#define KIT_GELU_TANH                                                                 \
	KIT_LIMIT("(0.5 * x) * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * " \
		  "(x * x * x))))")

#endif
