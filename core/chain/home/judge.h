/* The reference of an installation as what judges disputes: opened when the first job is run again. */
#ifndef PIPECTL_CHAIN_HOME_JUDGE_H
#define PIPECTL_CHAIN_HOME_JUDGE_H

#include "chain/home/home.h"

/* For pctl_chain_options.reference, which closes it; `in` outlives it. */
pctl_status pctl_home_judge(pctl_installation *in, const pctl_call *call, pctl_executor *out);

#endif
