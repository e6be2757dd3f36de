/*
 * places.h: functions to be probed, which do nothing: 1, 10, 100 and 1000 of them, by the stems of their names.
 *
 * Use:   #include "../../places.h"; then PROBED_PLACES once, and PLACE(name) for others of the same form
 * Why:   A wildcard matches as many functions as a level says: one_*, ten_*, hundred_*, thousand_*. Each begins with
 *        a nop, which the kernel carries out by itself, in a cache line of its own.
 */

#ifndef PROBE_EFFECT_PLACES_H
#define PROBE_EFFECT_PLACES_H

#if !defined(__ELF__)
#error "expected a compiler that makes ELF files (Linux, the BSDs, illumos): the functions are declared so"
#endif

/* A function in assembly, with the type and size that tools look for in the symbol table. */
#define PLACE(name)                                                                                    \
	__asm__(".pushsection .text\n\t.p2align 6\n\t.globl " #name "\n\t.type " #name ", %function\n" \
		#name ":\n\tnop\n\tret\n\t.size " #name ", . - " #name "\n\t.popsection");

#define TEN(stem)                                                                                      \
	PLACE(stem##0) PLACE(stem##1) PLACE(stem##2) PLACE(stem##3) PLACE(stem##4)                     \
	PLACE(stem##5) PLACE(stem##6) PLACE(stem##7) PLACE(stem##8) PLACE(stem##9)
#define HUNDRED(stem)                                                                                  \
	TEN(stem##0) TEN(stem##1) TEN(stem##2) TEN(stem##3) TEN(stem##4)                               \
	TEN(stem##5) TEN(stem##6) TEN(stem##7) TEN(stem##8) TEN(stem##9)
#define THOUSAND(stem)                                                                                 \
	HUNDRED(stem##0) HUNDRED(stem##1) HUNDRED(stem##2) HUNDRED(stem##3) HUNDRED(stem##4)           \
	HUNDRED(stem##5) HUNDRED(stem##6) HUNDRED(stem##7) HUNDRED(stem##8) HUNDRED(stem##9)

#define PROBED_PLACES PLACE(one_0) TEN(ten_) HUNDRED(hundred_) THOUSAND(thousand_)

#endif
