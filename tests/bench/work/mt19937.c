/* SPDX-License-Identifier: MIT */
#include "mt19937.h"

void
mt19937_seed(struct mt19937 *generator, uint32_t seed)
{
	generator->words[0] = seed;
	for (uint32_t i = 1; i < MT_WORDS; i++) {
		const uint32_t last = generator->words[i - 1];
		generator->words[i] = UINT32_C(1812433253) * (last ^ last >> 30) + i;
	}
	generator->at = MT_WORDS;
}

static void
refill(struct mt19937 *generator)
{
	for (uint32_t i = 0; i < MT_WORDS; i++) {
		const uint32_t joined = (generator->words[i] & UINT32_C(0x80000000))
		                        | (generator->words[(i + 1) % MT_WORDS] & UINT32_C(0x7fffffff));
		const uint32_t odd = (joined & 1) != 0 ? UINT32_C(0x9908b0df) : 0;
		generator->words[i] = generator->words[(i + 397) % MT_WORDS] ^ joined >> 1 ^ odd;
	}
	generator->at = 0;
}

uint32_t
mt19937_next(struct mt19937 *generator)
{
	if (generator->at >= MT_WORDS)
		refill(generator);
	uint32_t value = generator->words[generator->at++];
	value ^= value >> 11;
	value ^= value << 7 & UINT32_C(0x9d2c5680);
	value ^= value << 15 & UINT32_C(0xefc60000);
	return value ^ value >> 18;
}
