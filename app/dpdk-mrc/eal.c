/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL's start and end. See eal.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "eal.h"

#define PAGE_BYTES (2ull << 20)
#define PAGES_DIR "/sys/kernel/mm/hugepages/hugepages-2048kB/"
/* EAL's own heap, ethdev's and the rings' bookkeeping, and what alignment costs */
#define SLACK_BYTES (32ull << 20)

#define ARGS_MAX 24
#define ARG_BYTES 512

/* EAL keeps pointers into its arguments. */
static char arg_text[ARGS_MAX][ARG_BYTES];

struct argv {
	char *v[ARGS_MAX + 1];
	int n;
};

static void __attribute__((format(printf, 2, 3))) arg_add(struct argv *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(arg_text[a->n], ARG_BYTES, fmt, ap);
	va_end(ap);
	a->v[a->n] = arg_text[a->n];
	a->v[++a->n] = NULL;
}

static uint64_t
sys_read(const char *file)
{
	unsigned long long n = 0;
	FILE *f = fopen(file, "re");

	if (f == NULL)
		return 0; /* a kernel without huge pages */
	if (fscanf(f, "%llu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

struct eal_pages
eal_pages_get(uint64_t bytes_needed)
{
	uint64_t free_pages = sys_read(PAGES_DIR "free_hugepages");
	uint64_t reserved = sys_read(PAGES_DIR "resv_hugepages");

	return (struct eal_pages){
		.needed = (bytes_needed + SLACK_BYTES + PAGE_BYTES - 1) / PAGE_BYTES,
		/* Reserved pages are free still, but promised to another process. */
		.free = free_pages > reserved ? free_pages - reserved : 0,
	};
}

/* Huge pages, if wanted and there; otherwise says why not, once. */
static bool
huge_decide(const struct eal_params *p)
{
	struct eal_pages pages = eal_pages_get(p->bytes_needed);

	if (p->no_huge || !p->cfg->hugepages)
		return false;
	if (pages.free >= pages.needed)
		return true;
	fprintf(stderr,
		"dpdk-mrc: hugepages: %llu of 2 MiB needed, %llu free: going on with --no-huge. To "
		"reserve: "
		"sysctl vm.nr_hugepages=%llu\n",
		(unsigned long long)pages.needed, (unsigned long long)pages.free,
		(unsigned long long)(sys_read(PAGES_DIR "nr_hugepages") + pages.needed -
				     pages.free));
	return false;
}

static void
lcores_add(struct argv *a, const struct cfg *c)
{
	char map[ARG_BYTES - 16];
	unsigned i, used;

	used = snprintf(map, sizeof(map), "%u@%u", EAL_MAIN_LCORE, c->main_cpu);
	for (i = 0; i < c->workers_n; i++)
		used += snprintf(map + used, sizeof(map) - used, ",%u@%u", eal_worker_lcore(i),
			c->workers[i]);
	arg_add(a, "--lcores=%s", map);
	arg_add(a, "--main-lcore=%u", EAL_MAIN_LCORE);
}

/*
 * EAL makes its runtime folder even where it keeps nothing in it. It is removed at once, so that no
 * end of the process can leave it; the folders above only while they are empty.
 */
static void
runtime_dir_remove(void)
{
	char dir[256];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	if (dir[0] == '\0' || rmdir(dir) < 0)
		return;
	slash = strrchr(dir, '/');
	if (slash != NULL && slash != dir) {
		*slash = '\0';
		rmdir(dir); /* fails while others use it */
	}
}

int
eal_start(const struct eal_params *p, bool *huge, char *err, unsigned err_size)
{
	bool use_huge = huge_decide(p);
	struct argv a = {.n = 0};

	arg_add(&a, "dpdk-mrc");
	lcores_add(&a, p->cfg);
	arg_add(&a, "--file-prefix=mrc%d", (int)getpid());
	arg_add(&a, "--no-pci");
	arg_add(&a, "--no-telemetry");
	arg_add(&a, "--iova-mode=va");
	arg_add(&a, "--log-level=%u", p->log_level);
	/* EAL warns of huge pages of other sizes that nobody reserved: heard only by who asks for
	 * more than the default. */
	if (p->log_level <= RTE_LOG_WARNING)
		arg_add(&a, "--log-level=lib.eal:%u", RTE_MIN(p->log_level, RTE_LOG_ERR));
	if (use_huge) {
		/* Anonymous pages: no file for a kill to leave behind, and taken as pools ask for
		 * them. */
		arg_add(&a, "--in-memory");
	} else {
		arg_add(&a, "--no-huge");
		arg_add(&a, "--no-shconf");
		arg_add(&a, "-m%llu",
			(unsigned long long)((p->bytes_needed + SLACK_BYTES) >> 20) + 1);
	}
	if (rte_eal_init(a.n, a.v) < 0) {
		snprintf(err, err_size, "EAL does not start: %s%s", rte_strerror(rte_errno),
			use_huge ? " (--no-huge does without huge pages)" : "");
		runtime_dir_remove();
		return rte_errno != 0 ? -rte_errno : -EINVAL;
	}
	rte_log_set_level_pattern("lib.eal", p->log_level);
	runtime_dir_remove();
	if (huge != NULL)
		*huge = use_huge;
	return 0;
}

void
eal_stop(void)
{
	rte_eal_cleanup();
	runtime_dir_remove();
}
