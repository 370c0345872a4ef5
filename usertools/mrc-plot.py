#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what mrc-sim writes, as PNG.

usage: mrc-plot.py [-o DIR] [--run NAME=FILE]... [--trace FILE]

  --run NAME=FILE   output of mrc-sim --json: fct.png, the distribution of flow completion times; several runs
                    are drawn together. "NAME=" may be left out.
  --trace FILE      output of mrc-sim --trace: window.png (congestion window, inflight, rate of each plane),
                    evs.png (states of EVs), links.png (utilisation of the links between switches)
  -o DIR            where the files go; default: here

Needs Debian's python3-matplotlib. Each file written is named on a line of its own.
"""
import argparse
import collections
import json
import os
import re
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

# Told apart by colour-blind eyes as well (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
LINKS_MAX = 160


class BadInput(Exception):
    pass


def lines_read(path):
    try:
        with open(path, encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                try:
                    yield json.loads(line)
                except ValueError as e:
                    raise BadInput(f"{path}:{n}: no JSON: {e}") from e
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e


def figure(rows=1, height=4.2):
    fig, axes = plt.subplots(rows, 1, figsize=(9.5, height), sharex=True, squeeze=False, layout="constrained")
    for ax in axes[:, 0]:
        ax.grid(True, color="#dddddd", linewidth=0.6)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return fig, list(axes[:, 0])


def legend(ax, **more):
    """Beside the data, never on it."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0, **more)


def save(fig, directory, name):
    path = os.path.join(directory, name)
    fig.savefig(path, dpi=130)
    plt.close(fig)
    print(path)


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def fct_plot(runs, directory):
    fig, (ax,) = figure()
    title = None
    for i, (name, path) in enumerate(runs):
        fct, run = [], None
        for o in lines_read(path):
            if "experiment" in o:
                run = o
            elif o.get("fct_us") is not None:
                fct.append(o["fct_us"])
        if run is None or not fct:
            raise BadInput(f"{path}: not the output of mrc-sim --json, or no flow completed")
        fct.sort()
        steps = [(k + 1) / len(fct) for k in range(len(fct))]
        ax.step([fct[0]] + fct, [0] + steps, where="post", color=COLOURS[i % len(COLOURS)], linewidth=1.8,
                label=f"{name or run['settings']['lb']}, last {fct[-1]:.0f} µs")
        if title is None:
            title = run
    ax.axvline(title["bound_us"], color="#777777", linestyle=":", linewidth=1.4,
               label=f"at best {title['bound_us']:.0f} µs")
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("flow completion time (µs)")
    ax.set_ylabel("share of flows")
    s = title["settings"]
    ax.set_title(f"{title['experiment']}: {title['flows']} flows, {s['hosts']} hosts, {s['planes']} plane"
                 f"{'s' if s['planes'] > 1 else ''} of {s['gbps']:g} Gb/s", loc="left")
    legend(ax)
    save(fig, directory, "fct.png")


class Trace:
    def __init__(self, path):
        self.flows = collections.defaultdict(list)   # t_us -> lines
        self.planes = collections.defaultdict(list)  # plane -> [(t, gbps)]
        self.links = collections.defaultdict(dict)   # name -> {t: util}
        for o in lines_read(path):
            kind = o.get("kind")
            if kind == "flow":
                self.flows[o["t_us"]].append(o)
            elif kind == "plane":
                self.planes[o["plane"]].append((o["t_us"], o["gbps"]))
            elif kind == "link":
                self.links[o["link"]][o["t_us"]] = o["util"]
            else:
                raise BadInput(f"{path}: not the output of mrc-sim --trace")
        if not self.flows:
            raise BadInput(f"{path}: no samples: the run was shorter than one interval")
        self.times = sorted(self.flows)


def band(ax, trace, key, scale, colour, label):
    median, low, high = [], [], []
    for t in trace.times:
        v = sorted(o[key] / scale for o in trace.flows[t])
        median.append(statistics.median(v))
        low.append(percentile(v, 0.1))
        high.append(percentile(v, 0.9))
    ax.fill_between(trace.times, low, high, color=colour, alpha=0.18, linewidth=0, label=f"{label}, 10 to 90 %")
    ax.plot(trace.times, median, color=colour, linewidth=1.6, label=f"{label}, median flow")


def window_plot(trace, directory):
    fig, (top, bottom) = figure(2, 6.4)
    band(top, trace, "cwnd", 1000, COLOURS[0], "cwnd")
    band(top, trace, "inflight", 1000, COLOURS[1], "inflight")
    top.set_ylabel("bytes (kB)")
    top.set_ylim(bottom=0)
    top.set_title("Congestion window of the flows", loc="left")
    legend(top)
    for i, (plane, points) in enumerate(sorted(trace.planes.items())):
        bottom.plot([t for t, _ in points], [g for _, g in points], color=COLOURS[i % len(COLOURS)],
                    linestyle="-" if i < len(COLOURS) else "--", linewidth=1.4, label=f"plane {plane}")
    bottom.set_ylabel("delivered to all hosts (Gb/s)")
    bottom.set_ylim(bottom=0)
    bottom.set_xlabel("time (µs)")
    bottom.set_title("Rate of each plane", loc="left")
    legend(bottom)
    save(fig, directory, "window.png")


def evs_plot(trace, directory):
    fig, (ax,) = figure()
    names = [("good", "good", COLOURS[2]), ("skip", "skipped once (marked)", COLOURS[4]),
             ("bad", "assumed bad", COLOURS[1])]
    shares = {k: [] for k, _, _ in names}
    for t in trace.times:
        total = sum(o["good"] + o["skip"] + o["bad"] for o in trace.flows[t]) or 1
        for k, _, _ in names:
            shares[k].append(100 * sum(o[k] for o in trace.flows[t]) / total)
    ax.stackplot(trace.times, *(shares[k] for k, _, _ in names), colors=[c for _, _, c in names],
                 labels=[n for _, n, _ in names], linewidth=0)
    ax.set_ylim(0, 100)
    ax.set_xlim(trace.times[0], trace.times[-1])
    ax.set_xlabel("time (µs)")
    ax.set_ylabel("EVs of all flows (%)")
    ax.set_title("States of the EVs in use or suspected", loc="left")
    legend(ax)
    save(fig, directory, "evs.png")


def link_key(name):
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", name)]


def links_plot(trace, directory):
    up = sorted((n for n in trace.links if "t0." in n and "t1." in n and n.endswith(">")), key=link_key)
    down = sorted((n for n in trace.links if "t0." in n and "t1." in n and n.endswith("<")), key=link_key)
    names = up + down or sorted(trace.links, key=link_key)
    dropped = len(names) - LINKS_MAX
    if dropped > 0:
        # the busiest say most
        busiest = sorted(names, key=lambda n: -sum(trace.links[n].values()))[:LINKS_MAX]
        names = [n for n in names if n in set(busiest)]
    grid = [[min(1.0, trace.links[n].get(t, 0.0)) for t in trace.times] for n in names]
    fig, (ax,) = figure(1, min(12.0, 2.2 + 0.055 * len(names)))
    ax.grid(False)
    image = ax.imshow(grid, aspect="auto", interpolation="nearest", cmap="viridis", vmin=0, vmax=1,
                      extent=(0, trace.times[-1], len(names), 0))
    fig.colorbar(image, ax=ax, label="utilisation (share of the link's rate)")
    every = max(1, len(names) // 32)
    ax.set_yticks([i + 0.5 for i in range(0, len(names), every)], [names[i] for i in range(0, len(names), every)],
                  fontsize=6)
    ax.set_xlabel("time (µs)")
    ax.set_ylabel("link (> leaf to spine, < spine to leaf)")
    ax.set_title("Links between switches" + (f", the {LINKS_MAX} busiest" if dropped > 0 else ""), loc="left")
    save(fig, directory, "links.png")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], epilog=__doc__.split("\n", 1)[1],
                                formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    p.add_argument("--run", action="append", default=[], help=argparse.SUPPRESS)
    p.add_argument("--trace", help=argparse.SUPPRESS)
    p.add_argument("-o", default=".", dest="out", help=argparse.SUPPRESS)
    args = p.parse_args()
    if not args.run and args.trace is None:
        p.error("nothing to draw: --run or --trace")
    try:
        os.makedirs(args.out, exist_ok=True)
        if args.run:
            runs = [r.split("=", 1) if "=" in r and not os.path.exists(r) else ("", r) for r in args.run]
            fct_plot(runs, args.out)
        if args.trace is not None:
            trace = Trace(args.trace)
            window_plot(trace, args.out)
            evs_plot(trace, args.out)
            links_plot(trace, args.out)
    except BadInput as e:
        print(f"mrc-plot.py: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"mrc-plot.py: {e.filename}: {e.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
