/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists on standard output where the probes of a spec would be put, and where not. None is put. */
#pragma once

struct probe_spec;
struct uprobe_scope;

/* 0, or -errno, explained: -ENOENT: there is no such place. */
int probe_places_show(const struct probe_spec *s, const struct uprobe_scope *scope);
