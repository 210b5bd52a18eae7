/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The container that a cgroup is of. Container engines put the id of a container, 64 hexadecimal
 * digits, into the name of its cgroup:
 *
 *	/system.slice/docker-4f3a...9c.scope
 *	/kubepods.slice/kubepods-pod1b_2c.slice/cri-containerd-4f3a...9c.scope
 *	/docker/4f3a...9c
 *	/machine.slice/libpod-4f3a...9c.scope/container
 *
 * The last one counts where there are several ids (an engine inside a container).
 */
#pragma once

#include <stddef.h>

/* Where in the path of a cgroup the id stands, and its length; NULL: it is of no container. */
const char *cgroup_container(const char *path, size_t len, size_t *id_len);
/*
 * The systemd unit of a cgroup: the last part of its path that ends in .service, .scope, .slice,
 * .mount, .socket or .swap. NULL: there is none.
 */
const char *cgroup_unit(const char *path, size_t len, size_t *unit_len);
