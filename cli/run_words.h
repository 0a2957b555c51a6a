/* SPDX-License-Identifier: MIT */
/* Tells the words of `tsem run` and its options from those of its command. */
#ifndef TSEM_CLI_RUN_WORDS_H
#define TSEM_CLI_RUN_WORDS_H

#include <stddef.h>

/*
 * `words`: a command line as /proc has it, `n` bytes with a null byte after each word, of which the last may be cut
 * off; a null byte follows the `n` bytes. Moves both to the command of `tsem run`. Leaves them alone if the process is
 * another program or verb, or if no command follows.
 */
void skip_run_words(const char **words, size_t *n);

#endif
