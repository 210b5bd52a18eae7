/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/container_names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (1u << 20)		/* more of a state file is not read */
#define NAME_BYTES 256

/* Where the engines keep what a container is called; %.*s: its id. */
static const struct {
	const char *path, *key;
} places[] = {
	{ "/var/lib/docker/containers/%.*s/config.v2.json", "Name" },
	{ "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%.*s/config.json",
	  "io.kubernetes.cri.container-name" },
	{ "/run/containerd/io.containerd.runtime.v2.task/default/%.*s/config.json",
	  "nerdctl/name" },
	{ "/run/containers/storage/overlay-containers/%.*s/userdata/config.json",
	  "io.kubernetes.container.name" },
};

/* The text behind "key": at p, up to its closing quote; escapes are no part of names. */
static bool text_fits(const char *p, const char *end, const char *pattern)
{
	char name[NAME_BYTES];
	const char *quote;

	while (p < end && (*p == ' ' || *p == ':'))
		p++;
	if (p == end || *p++ != '"')
		return false;
	if (p < end && *p == '/')
		p++;
	quote = memchr(p, '"', (size_t)(end - p));
	if (!quote || (size_t)(quote - p) >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(quote - p), p);
	return !fnmatch(pattern, name, 0);
}

bool container_file_names(const char *json, size_t len, const char *key, const char *pattern)
{
	const char *end = json + len;
	char quoted[NAME_BYTES];
	size_t n = (size_t)snprintf(quoted, sizeof(quoted), "\"%s\"", key);

	for (const char *p = json; (p = memmem(p, (size_t)(end - p), quoted, n));) {
		p += n;
		if (text_fits(p, end, pattern))
			return true;
	}
	return false;
}

static bool file_names(const char *path, const char *key, const char *pattern)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_BYTES) : NULL;
	size_t len = text ? fread(text, 1, FILE_BYTES, f) : 0;
	bool found = text && container_file_names(text, len, key, pattern);

	free(text);
	if (f)
		fclose(f);
	return found;
}

/* Podman has one file for all: [{"id":"4f3a...","names":["web"],...},...]. */
static bool podman_names(const char *id, size_t len, const char *pattern)
{
	static const char path[] = "/var/lib/containers/storage/overlay-containers/containers.json";
	FILE *f = fopen(path, "re");
	char *text = f ? calloc(1, FILE_BYTES + 1) : NULL, *at = NULL;
	char name[NAME_BYTES] = "";

	if (text && fread(text, 1, FILE_BYTES, f))
		at = memmem(text, FILE_BYTES, id, len);
	if (at)
		at = strstr(at, "\"names\":[\"");
	if (at)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 10, "\""), at + 10);
	free(text);
	if (f)
		fclose(f);
	return *name && !fnmatch(pattern, name, 0);
}

bool container_has_name(const char *id, size_t len, const char *pattern)
{
	char path[512];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), places[i].path, (int)len, id);
		if (file_names(path, places[i].key, pattern))
			return true;
	}
	return podman_names(id, len, pattern);
}
