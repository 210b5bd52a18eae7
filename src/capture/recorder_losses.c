/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The totals of all losses, from those who count them. */
#include "src/base/clock.h"
#include "src/base/helper_deaths.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/session.h"
#include "src/capture/tables/unwind_loader.h"

static int put_loss(void *session, const struct record *rec)
{
	return session_emit(session, rec);
}

int recorder_report_losses(struct recorder *r)
{
	const struct session_stats stats = session_stats(r->session);
	struct unwind_loader_stats loader = { 0 };
	uint64_t totals[LOSS_CAUSES] = { 0 }, now = now_ns();
	int err = 0;

	if (r->loader)
		unwind_loader_stats(r->loader, &loader);
	totals[LOSS_TABLE_FULL] = loader.refused;
	totals[LOSS_TASK_EVENTS] = process_tracker_lost(r->tracker);
	totals[LOSS_BAD_RECORD] = stats.bad;
	totals[LOSS_SYMBOL_BUDGET] = session_names_lost(r->session);
	totals[LOSS_NO_ANSWER] = stats.ends[END_NO_TABLE];
	totals[LOSS_HELPER_DIED] = helper_deaths_count(r->deaths);
	totals[LOSS_LINE_BUDGET] = stats.lines_lost;
	if (r->opts.losses)
		r->opts.losses(r->opts.sink_ctx, totals);
	for (uint8_t cause = 0; cause < LOSS_CAUSES && !err; cause++)
		err = losses_report(&r->losses, cause, totals[cause], now, put_loss,
				    r->session);
	return err;
}
