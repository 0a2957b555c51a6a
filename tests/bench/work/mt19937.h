/* SPDX-License-Identifier: MIT */
/* The Mersenne Twister of Matsumoto and Nishimura, with C++'s default seed: semabench's unit of work. */
#ifndef TSEM_BENCH_MT19937_H
#define TSEM_BENCH_MT19937_H

#include <stdint.h>

enum { MT_WORDS = 624 };

struct mt19937 {
	uint32_t words[MT_WORDS];
	uint32_t at;
};

void mt19937_seed(struct mt19937 *generator, uint32_t seed);
uint32_t mt19937_next(struct mt19937 *generator);

#endif
