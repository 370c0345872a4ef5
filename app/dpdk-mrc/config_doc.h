/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference of all configuration keys, printed from their table. doc/config.md is this text.
 * Who calls it: main.c (--config-help), the test that compares it with doc/config.md.
 */
#ifndef CONFIG_DOC_H
#define CONFIG_DOC_H

#include <stdio.h>

/** Writes the reference as Markdown. */
void cfg_doc_print(FILE *out);

#endif /* CONFIG_DOC_H */
