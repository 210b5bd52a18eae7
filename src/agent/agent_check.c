/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/agent_check.h"

#include <errno.h>

#include "src/agent/agent_config.h"
#include "src/agent/recorder_words.h"
#include "src/agent/supervisor.h"
#include "src/base/fail.h"
#include "src/serve/listen_address.h"

int agent_config_check(const char *path, const struct agent_hooks *hooks, struct agent_config *c)
{
	struct recorder_words words;
	struct listen_address address;
	int err = agent_config_read(path, c);

	if (err)
		return err;
	err = recorder_words_make(&words, c, 0);
	if (!err) {
		err = hooks->check_record(words.nr, words.v);
		recorder_words_release(&words);
	}
	if (!err && *c->listen)
		err = listen_address_parse(c->listen, &address);
	if (!err && *c->listen && !listen_address_is_loopback(&address))
		err = fail_why(-EINVAL, "%s: [metrics] listen = %s is reached from other machines. "
			       "Allowed: 127.0.0.1:PORT, [::1]:PORT", path, c->listen);
	for (size_t i = 0; i < c->nr_targets && !err; i++)
		err = hooks->check_target(&c->targets[i]);
	return err;
}

int agent_check(const char *path, const struct agent_hooks *hooks)
{
	struct agent_config c;
	int err = agent_config_check(path, hooks, &c);

	agent_config_release(&c);
	return err;
}
