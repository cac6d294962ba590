/* The functions that training a unigram model needs, of +, -, * and / of f64 alone: libraries' own differ from one machine to the
 * next. Each is within some ulp, which is what training needs; what matters is that it is the same everywhere. */
#ifndef PIPECTL_MODEL_TOKENIZER_TRAIN_MATH_H
#define PIPECTL_MODEL_TOKENIZER_TRAIN_MATH_H

double train_log(double x);	/* of positive, finite x */
double train_exp(double x);	/* of x from -700 to 700; below, 0 */
double train_digamma(double x); /* of positive x */

/* m * 2^e, with 0.5 <= m < 1, or 0: sums of ways grow and shrink beyond f64. */
typedef struct train_number {
	double m;
	int e;
} train_number;
train_number train_number_of(double x);
void train_add(train_number *sum, train_number a, double factor); /* sum += a * factor */
double train_share(train_number a, double b, train_number c,
		   train_number whole); /* a b c / whole */

#endif
