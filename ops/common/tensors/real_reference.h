/* Correctly rounded functions of f32 for references, by MPFR. */
#ifndef PIPECTL_OPS_TENSORS_REAL_REFERENCE_H
#define PIPECTL_OPS_TENSORS_REAL_REFERENCE_H

float tensor_exp(float x);
float tensor_log(float x);
float tensor_tanh(float x);

#endif
