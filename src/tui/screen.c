/* SPDX-License-Identifier: GPL-2.0-or-later */
#define NCURSES_WIDECHAR 1
#include "src/tui/screen.h"

#include <assert.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/tui/canvas.h"
#include "src/tui/tui_keycodes.h"
#include "src/tui/tui_source.h"

/* Behind all others, because they define names such as columns and lines as macros. */
#include <curses.h>
#include <term.h>

_Static_assert(STYLES <= sizeof(((struct screen *)NULL)->attributes) / sizeof(unsigned),
	       "an attribute for each style");

/*
 * What a handler of signals needs to restore the terminal. It may call neither ncurses nor
 * malloc(), and it gets no argument: so this is one of the few things that must be global.
 */
static struct {
	struct termios before;
	char text[256];
	size_t len;
	volatile sig_atomic_t is_armed;
} rescue;

enum { DOUBLE_CLICK_NS = 500000000 };

static const int deadly_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };

const char *screen_rescue(void *unused)
{
	ssize_t n;

	(void)unused;
	if (!rescue.is_armed)
		return NULL;
	n = write(STDOUT_FILENO, rescue.text, rescue.len);
	(void)n;
	tcsetattr(STDOUT_FILENO, TCSANOW, &rescue.before);
	return NULL;
}

static void restore_and_die(int sig)
{
	screen_rescue(NULL);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void append(const char *capability)
{
	size_t len = capability && capability != (char *)-1 ? strlen(capability) : 0;

	if (rescue.len + len >= sizeof(rescue.text))
		return;
	memcpy(rescue.text + rescue.len, len ? capability : "", len);
	rescue.len += len;
}

static void arm(void)
{
	struct sigaction sa = { .sa_handler = restore_and_die, .sa_flags = (int)SA_RESETHAND };

	rescue.len = 0;
	append("\033[?1000l\033[?1002l\033[?1006l");	/* the mouse */
	append(tigetstr("sgr0"));
	append(tigetstr("cnorm"));
	append(tigetstr("rmcup"));
	rescue.is_armed = true;
	for (size_t i = 0; i < sizeof(deadly_signals) / sizeof(deadly_signals[0]); i++)
		sigaction(deadly_signals[i], &sa, NULL);
}

static void disarm(void)
{
	rescue.is_armed = false;
	for (size_t i = 0; i < sizeof(deadly_signals) / sizeof(deadly_signals[0]); i++)
		signal(deadly_signals[i], SIG_DFL);
}

/* ---- colours ---- */

struct look {
	int16_t fg256, bg256, fg8, bg8;	/* -1: as the terminal has it */
	unsigned plain;			/* attributes without colours */
};

static const struct look looks[STYLES] = {
	[STYLE_NORMAL] = { -1, -1, -1, -1, A_NORMAL },
	[STYLE_DIM] = { 245, -1, -1, -1, A_DIM },
	[STYLE_BOLD] = { -1, -1, -1, -1, A_BOLD },
	[STYLE_BAR] = { 255, 24, COLOR_WHITE, COLOR_BLUE, A_REVERSE },
	[STYLE_TAB] = { 16, 250, COLOR_BLACK, COLOR_WHITE, A_REVERSE },
	[STYLE_HEADER] = { 252, 238, COLOR_BLACK, COLOR_CYAN, A_BOLD },
	[STYLE_SELECTED] = { 16, 231, COLOR_BLACK, COLOR_WHITE, A_REVERSE },
	[STYLE_MATCH] = { 16, 207, COLOR_BLACK, COLOR_MAGENTA, A_UNDERLINE },
	[STYLE_WARN] = { 214, -1, COLOR_YELLOW, -1, A_BOLD },
	[STYLE_GOOD] = { 77, -1, COLOR_GREEN, -1, A_NORMAL },
	[STYLE_KEY] = { 117, -1, COLOR_CYAN, -1, A_BOLD },
	/* Functions of programs are warm, those of the kernel blue, as in the SVG. */
	[STYLE_FRAME + 0] = { 16, 215, COLOR_BLACK, COLOR_YELLOW, A_NORMAL },
	[STYLE_FRAME + 1] = { 16, 221, COLOR_BLACK, COLOR_YELLOW, A_NORMAL },
	[STYLE_FRAME + 2] = { 16, 209, COLOR_BLACK, COLOR_YELLOW, A_NORMAL },
	[STYLE_FRAME + 3] = { 16, 110, COLOR_BLACK, COLOR_CYAN, A_NORMAL },
	[STYLE_FRAME + 4] = { 16, 117, COLOR_BLACK, COLOR_CYAN, A_NORMAL },
	[STYLE_FRAME + 5] = { 16, 75, COLOR_BLACK, COLOR_CYAN, A_NORMAL },
	[STYLE_FRAME + 6] = { 16, 114, COLOR_BLACK, COLOR_GREEN, A_NORMAL },
	[STYLE_FRAME + 7] = { 16, 120, COLOR_BLACK, COLOR_GREEN, A_NORMAL },
	[STYLE_FRAME + 8] = { 16, 78, COLOR_BLACK, COLOR_GREEN, A_NORMAL },
	[STYLE_FRAME + 9] = { 16, 140, COLOR_BLACK, COLOR_MAGENTA, A_NORMAL },
	[STYLE_FRAME + 10] = { 16, 147, COLOR_BLACK, COLOR_MAGENTA, A_NORMAL },
	[STYLE_FRAME + 11] = { 16, 176, COLOR_BLACK, COLOR_MAGENTA, A_NORMAL },
	[STYLE_FRAME + 12] = { 16, 249, COLOR_BLACK, COLOR_WHITE, A_BOLD },
	[STYLE_FRAME + 13] = { 16, 252, COLOR_BLACK, COLOR_WHITE, A_BOLD },
	[STYLE_FRAME + 14] = { 16, 246, COLOR_BLACK, COLOR_WHITE, A_BOLD },
	[STYLE_FRAME + 15] = { 16, 181, COLOR_BLACK, COLOR_RED, A_NORMAL },
	[STYLE_FRAME + 16] = { 16, 175, COLOR_BLACK, COLOR_RED, A_NORMAL },
	[STYLE_FRAME + 17] = { 16, 182, COLOR_BLACK, COLOR_RED, A_NORMAL },
	[STYLE_HEAT + 0] = { -1, -1, -1, -1, A_NORMAL },
	[STYLE_HEAT + 1] = { 16, 52, -1, COLOR_BLUE, A_NORMAL },
	[STYLE_HEAT + 2] = { 16, 88, -1, COLOR_BLUE, A_NORMAL },
	[STYLE_HEAT + 3] = { 16, 124, -1, COLOR_MAGENTA, A_NORMAL },
	[STYLE_HEAT + 4] = { 16, 160, -1, COLOR_MAGENTA, A_NORMAL },
	[STYLE_HEAT + 5] = { 16, 202, -1, COLOR_RED, A_NORMAL },
	[STYLE_HEAT + 6] = { 16, 208, -1, COLOR_YELLOW, A_NORMAL },
	[STYLE_HEAT + 7] = { 16, 220, -1, COLOR_WHITE, A_NORMAL },
	[STYLE_CHANGE + 0] = { 16, 68, COLOR_WHITE, COLOR_BLUE, A_NORMAL },
	[STYLE_CHANGE + 1] = { 16, 110, COLOR_WHITE, COLOR_BLUE, A_NORMAL },
	[STYLE_CHANGE + 2] = { 16, 152, COLOR_BLACK, COLOR_CYAN, A_NORMAL },
	[STYLE_CHANGE + 3] = { 16, 250, COLOR_BLACK, COLOR_WHITE, A_NORMAL },
	[STYLE_CHANGE + 4] = { 16, 223, COLOR_BLACK, COLOR_YELLOW, A_NORMAL },
	[STYLE_CHANGE + 5] = { 16, 209, COLOR_WHITE, COLOR_RED, A_BOLD },
	[STYLE_CHANGE + 6] = { 16, 203, COLOR_WHITE, COLOR_RED, A_BOLD },
};

/*
 * A number of the palette of 256 colours as red, green and blue: 6 levels of each from 16 on, greys
 * from 232 on. A terminal with direct colours (xterm-direct) takes these, and the first 8 of the
 * palette, by which black is the same in both.
 */
static int direct_colour(int16_t number)
{
	static const uint8_t levels[] = { 0, 95, 135, 175, 215, 255 };
	unsigned n = (unsigned)number - 16, grey = 8 + 10 * (n - 216);

	if (number < 16)
		return number;
	if (number >= 232)
		return (int)(grey << 16 | grey << 8 | grey);
	return levels[n / 36] << 16 | levels[n / 6 % 6] << 8 | levels[n % 6];
}

static void set_pair(const struct screen *s, int pair, const struct look *l)
{
	if (s->colours > 256)
		init_extended_pair(pair, direct_colour(l->fg256), direct_colour(l->bg256));
	else if (s->colours == 256)
		init_pair((short)pair, l->fg256, l->bg256);
	else
		init_pair((short)pair, l->fg8, l->bg8);
}

static void choose_colours(struct screen *s, bool no_colour)
{
	s->colours = 0;
	if (!no_colour && has_colors() && start_color() == OK)
		s->colours = COLORS > 256 ? COLORS : COLORS == 256 ? 256 : 8;
	if (s->colours)
		use_default_colors();
	for (short i = 0; i < STYLES; i++) {
		const struct look *l = &looks[i];

		s->attributes[i] = l->plain;
		if (!s->colours)
			continue;
		set_pair(s, i + 1, l);
		s->attributes[i] = (unsigned)COLOR_PAIR(i + 1) |
				   (i == STYLE_BOLD || i == STYLE_TAB ? A_BOLD : 0);
	}
}

/* ---- opening and closing ---- */

static int refuse(const char *why)
{
	return fail_why(-ENOTTY, "take the terminal: %s. Try: --once, which prints text", why);
}

/* Looked up before anything is begun that newterm() would find out in vain. */
static bool is_known_kind(void)
{
	int why;
	bool is_known = setupterm(NULL, STDOUT_FILENO, &why) == OK;

	if (is_known)
		del_curterm(cur_term);
	return is_known;
}

int screen_check(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return refuse("standard input or output leads to none");
	if (!term || !term[0])
		return refuse("TERM does not say of which kind it is");
	if (!strcmp(term, "dumb"))
		return refuse("TERM=dumb cannot move its cursor");
	if (!is_known_kind())
		return refuse("its kind (TERM) is not known here");
	if (tcgetattr(STDOUT_FILENO, &rescue.before))
		return fail(-errno, "take the terminal");
	return 0;
}

static void set_up(struct screen *s, const struct tui_options *opts)
{
	raw();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	if (!opts->no_mouse) {
		mousemask(ALL_MOUSE_EVENTS, NULL);
		mouseinterval(0);	/* else each click waits for a second one */
	}
	choose_colours(s, opts->no_colour);
}

int screen_open(struct screen *s, const struct tui_options *opts)
{
	int err = screen_check();

	*s = (struct screen){ .colours = 0 };
	if (err)
		return err;
	setlocale(LC_CTYPE, "");
	s->has_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	s->terminal = newterm(NULL, stdout, stdin);
	if (!s->terminal)
		return refuse("its kind (TERM) is not known here");
	set_term(s->terminal);
	/* ncurses would send it to the whole process by kill(), which the sandbox takes amiss. */
	signal(SIGTSTP, SIG_DFL);
	set_up(s, opts);
	arm();
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s->terminal)
		return;
	endwin();
	disarm();
	delscreen(s->terminal);
	s->terminal = NULL;
}

void screen_stop(const struct screen *s)
{
	(void)s;
	endwin();
	raise(SIGTSTP);
	refresh();
}

/* ---- showing ---- */

/* ncurses learns of a new size by a signal; the size that counts is that of the terminal now. */
void screen_size(const struct screen *s, int *rows, int *cols)
{
	struct winsize size;

	(void)s;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
	*rows = LINES;
	*cols = COLS;
}

static void show_cell(const struct screen *s, int row, int col, const struct cell *cell)
{
	wchar_t text[2] = { (wchar_t)cell->ch, 0 };
	cchar_t ch;

	assert(cell->style < STYLES);
	if (!cell->ch)			/* the second half of a wide character */
		return;
	setcchar(&ch, text, s->attributes[cell->style] & ~(unsigned)A_COLOR,
		 s->colours ? (short)(cell->style + 1) : 0, NULL);
	mvadd_wch(row, col, &ch);
}

void screen_show(const struct screen *s, const struct canvas *c)
{
	for (int row = 0; row < c->rows; row++)
		for (int col = 0; col < c->cols; col++)
			show_cell(s, row, col, &c->cells[row * c->cols + col]);
	refresh();
}

/* ---- keys ---- */

static const struct {
	int curses, code;
} keys[] = {
	{ KEY_UP, TUI_UP }, { KEY_DOWN, TUI_DOWN },
	{ KEY_LEFT, TUI_LEFT }, { KEY_RIGHT, TUI_RIGHT },
	{ KEY_PPAGE, TUI_PAGE_UP }, { KEY_NPAGE, TUI_PAGE_DOWN }, { KEY_HOME, TUI_HOME },
	{ KEY_END, TUI_END }, { KEY_BACKSPACE, TUI_BACKSPACE }, { KEY_BTAB, TUI_BACKTAB },
	{ KEY_RESIZE, TUI_SIZE }, { KEY_ENTER, TUI_ENTER },
};

static bool is_second_click(struct screen *s, const struct mouse *m)
{
	uint64_t now = now_ns();
	bool is_second = m->row == s->click_row && m->col == s->click_col && s->click_ns &&
			 now < s->click_ns + DOUBLE_CLICK_NS;

	s->click_row = m->row;
	s->click_col = m->col;
	s->click_ns = is_second ? 0 : now;
	return is_second;
}

/* What counts is that a button goes down; that it comes up tells nothing. */
static int take_mouse(struct screen *s, struct mouse *m)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return TUI_NONE;
	m->row = event.y;
	m->col = event.x;
	if (event.bstate & BUTTON4_PRESSED)
		m->kind = MOUSE_WHEEL_UP;
	else if (event.bstate & BUTTON5_PRESSED)
		m->kind = MOUSE_WHEEL_DOWN;
	else if (event.bstate & BUTTON3_PRESSED)
		m->kind = MOUSE_RIGHT;
	else if (event.bstate & BUTTON1_PRESSED)
		m->kind = is_second_click(s, m) ? MOUSE_DOUBLE : MOUSE_CLICK;
	else
		return TUI_NONE;
	return TUI_MOUSE;
}

int screen_key(struct screen *s, struct mouse *m)
{
	wint_t ch;
	int rc = get_wch(&ch);

	if (rc == ERR)
		return TUI_NONE;
	if (rc != KEY_CODE_YES)
		return ch == '\r' ? TUI_ENTER : (int)ch;
	if (ch == KEY_MOUSE)
		return take_mouse(s, m);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == (int)ch)
			return keys[i].code;
	return TUI_NONE;
}
