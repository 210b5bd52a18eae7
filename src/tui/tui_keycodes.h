/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, as the views see them: characters, and these beside them. */
#pragma once

enum tui_key {
	TUI_TAB = '\t', TUI_ENTER = '\n', TUI_ESC = 27,
	TUI_CTRL_C = 3, TUI_CTRL_L = 12, TUI_CTRL_U = 21, TUI_CTRL_Z = 26,
	/* above all characters */
	TUI_UP = 0x110000, TUI_DOWN, TUI_LEFT, TUI_RIGHT, TUI_PAGE_UP, TUI_PAGE_DOWN, TUI_HOME,
	TUI_END, TUI_BACKSPACE, TUI_BACKTAB, TUI_SIZE, TUI_MOUSE, TUI_NONE,
};

enum mouse_kind { MOUSE_CLICK, MOUSE_DOUBLE, MOUSE_RIGHT, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };
struct mouse {
	enum mouse_kind kind;
	int row, col;			/* of the screen */
};
