/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nanoseconds from the TSC. The rate is measured against CLOCK_MONOTONIC at start, since what a VM
 * says about its TSC may be off. Reading costs a multiply. Who calls it: worker.c once a turn,
 * control.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/** Measures the TSC for some 20 ms. Once, before clock_ns. */
void clock_start(void);
/** @return nanoseconds since clock_start, plus one second, so that 0 never means a time */
uint64_t clock_ns(void);

#endif /* CLOCK_H */
