/* Orders for qsort and bsearch that are nobody's own. */
#ifndef PIPECTL_FOUNDATION_BASE_ORDER_H
#define PIPECTL_FOUNDATION_BASE_ORDER_H

/* Of elements `char *`, byte by byte. */
int pctl_order_texts(const void *a, const void *b);

/* Of elements uint32_t and uint64_t, the least first. */
int pctl_order_u32(const void *a, const void *b);
int pctl_order_u64(const void *a, const void *b);

/* -1, 0 or 1, of numbers of one type. */
#define PCTL_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
