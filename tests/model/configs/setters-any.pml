/* SPDX-License-Identifier: MIT */
/* As setters.pml, but each process begins at any moment. */
#define AT_ANY_MOMENT
#include "setters.pml"
