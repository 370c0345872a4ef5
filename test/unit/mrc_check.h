/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every Check program needs: main() from one suite. The runner (usertools/test.sh) adds up the
 * "Checks:" lines.
 */
#ifndef MRC_CHECK_H
#define MRC_CHECK_H

#include <check.h>
#include <stdlib.h>

#define MRC_CHECK_MAIN(suite_fn)                                                            \
	int main(void)                                                                      \
	{                                                                                   \
		SRunner *r = srunner_create(suite_fn());                                    \
		int failed;                                                                 \
                                                                                            \
		srunner_set_fork_status(r, getenv("CK_FORK") ? CK_FORK_GETENV : CK_NOFORK); \
		srunner_run_all(r, CK_ENV);                                                 \
		failed = srunner_ntests_failed(r);                                          \
		srunner_free(r);                                                            \
		return failed != 0;                                                         \
	}

#endif /* MRC_CHECK_H */
