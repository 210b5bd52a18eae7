# SPDX-License-Identifier: GPL-2.0-or-later
# probee: everything built lands in .out/. make [V=1] [SAN=1] [OUT=dir]; see `make help`.
OUT := .out
override OUT := $(patsubst $(CURDIR)/%,%,$(abspath $(OUT)))
PREFIX ?= /usr/local
# For another machine: ARCH=aarch64 CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=directory with its libraries and headers.
CC := $(if $(filter default,$(origin CC)),$(CROSS_COMPILE)gcc,$(CC))
LD := $(CROSS_COMPILE)ld
AR := $(CROSS_COMPILE)ar
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
ARCH := $(patsubst arm64,aarch64,$(shell uname -m))
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
VERSION := 0.1.0
OPT ?= -O2
FUZZ_SECONDS ?= 7
FUZZ_TOTAL ?= 30
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(patsubst $(CURDIR)/%,%,$(2)))

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla

# B is the directory of this variant of the host side; the kernel side is the same for all variants and stays in $(OUT).
B := $(OUT)
DEBUG := -g
ifeq ($(SAN),1)
B := $(OUT)/san
DEBUG := -g1
# Twice as fast to compile as -O2, but the compiler knows less of what values may be.
OPT := -O1
WARN += -Wno-format-overflow -Wno-format-truncation -Wno-maybe-uninitialized
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(FUZZ),1)
B := $(OUT)/fuzz
override CC := $(CLANG)
OPT := -O1
SANFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
WARN :=
endif

CPPFLAGS := -I. -I$(OUT) -I$(OUT)/proto -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_$(ARCH).h"' -DPROBEE_VERSION='"$(VERSION)"'
CFLAGS := -std=gnu11 $(OPT) $(DEBUG) $(WARN) $(SANFLAGS) $(if $(SYSROOT),--sysroot=$(SYSROOT))
# Nobody waits for the code of a unit test; -O0 compiles it in a third of the time.
TEST_CFLAGS := -O0 -g1
BPF_CFLAGS := -target bpf -O2 -g -Wall -Werror -ffreestanding -mcpu=v3 -I. -I$(OUT) \
	-idirafter $(SYSROOT)/usr/include/$(ARCH)-linux-gnu \
	-D__TARGET_ARCH_$(BPF_ARCH) -DARCH_HEADER='"unwind/arch_$(ARCH).h"'
LDLIBS := -lbpf -ldw -lelf -lz -llzma -lzstd -lpcre2-8 -lseccomp -lcap-ng -liberty -lprotobuf-c -lncursesw -ltinfo -lpthread
REPORT_LDLIBS := -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread

# Sources are listed, not globbed (tests/layers.sh checks which layer may use which).
include sources.mk

REPORT_OBJS := $(patsubst %.c,$(B)/%.o,$(REPORT_SRCS) $(REPORT_MAIN_SRCS) $(REPORT_PROGRAM_SRCS))
CAPTURE_OBJS := $(patsubst %.c,$(B)/%.o,$(CAPTURE_SRCS) $(CAPTURE_MAIN_SRCS))
PROTO_OBJS := $(PROTOS:%=$(B)/proto/%.pb-c.o)
LIB_OBJS := $(LIB_SRCS:%.c=$(B)/%.o) $(ASSETS:%=$(B)/%.o) $(PROTO_OBJS)
MAIN_OBJS := $(MAIN_SRCS:%.c=$(B)/%.o)
TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all report-half tests fuzzers unit check demo fuzz long bench vm deps install uninstall clean help
all: $(B)/probee
report-half: $(B)/probee-report

# Refused requests for memory are counted: src/base/memory.h.
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup

$(B)/probee: $(MAIN_OBJS) $(B)/libprobee.a sources.mk
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(WRAP) $(filter-out %.mk,$^) $(LDLIBS) -o $@

# The report half alone. Linking it proves that it needs no other library and no other source.
$(B)/probee-report: $(REPORT_OBJS) $(ASSETS:%=$(B)/%.o) sources.mk
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(WRAP) $(filter %.o,$^) $(REPORT_LDLIBS) -o $@

$(B)/libprobee.a: $(LIB_OBJS) sources.mk
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# Files that are linked in unchanged: _binary_formats_render_assets_flame_js_start.
$(ASSETS:%=$(B)/%.o): $(B)/%.o: %
	$(call say,ASSET,$<)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -b binary -z noexecstack $< -o $@

# Messages of protobuf: their code is made from the .proto files, once for all variants.
PROTO_HEADERS := $(PROTOS:%=$(OUT)/proto/%.pb-c.h)
$(OUT)/proto/%.pb-c.c $(OUT)/proto/%.pb-c.h: $(PROTO_DIR)/%.proto
	$(call installed,protoc-c)
	$(call say,PROTO,$<)
	@mkdir -p $(OUT)/proto
	$(Q)protoc-c --proto_path=$(PROTO_DIR) --c_out=$(OUT)/proto $<

$(PROTO_OBJS): $(B)/proto/%.o: $(OUT)/proto/%.c $(PROTO_HEADERS) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(PROTO_USERS:%.c=$(B)/%.o): $(PROTO_HEADERS)
.SECONDARY: $(PROTO_HEADERS) $(PROTO_HEADERS:.h=.c)

# The kernel side: one source, compiled with all programs, without probes, and for the sampler alone; and a skeleton of each.
$(OUT)/bpf/probee.bpf.o: bpf/probee.bpf.c $(OUT)/bpf/flags
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full

$(OUT)/bpf/sampler.bpf.o: bpf/probee.bpf.c $(OUT)/bpf/flags
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DWITH_SCANS=0 -DWITH_PROBES=0 -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full

$(OUT)/bpf/scans.bpf.o: bpf/probee.bpf.c $(OUT)/bpf/flags
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DWITH_PROBES=0 -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full

BPF_SKELETONS := $(OUT)/bpf/probee.skel.h $(OUT)/bpf/scans.skel.h $(OUT)/bpf/sampler.skel.h
$(BPF_SKELETONS): $(OUT)/bpf/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(SKEL_USERS:%.c=$(B)/%.o): $(BPF_SKELETONS)

# The flags that all was compiled with. This file is written when they change, so that objects are compiled again.
FLAGS_NOW = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(LDLIBS)
BPF_FLAGS_NOW = $(CLANG) $(BPF_CFLAGS)
ifneq ($(file <$(B)/flags),$(FLAGS_NOW))
.PHONY: $(B)/flags
endif
ifneq ($(file <$(OUT)/bpf/flags),$(BPF_FLAGS_NOW))
.PHONY: $(OUT)/bpf/flags
endif
quoted = $(subst ','\'',$(1))
installed = @command -v $(firstword $(1)) >/dev/null || \
	{ echo 'probee: $(firstword $(1)) is not installed. Try: make deps' >&2; exit 1; }

$(B)/flags:
	$(call installed,$(CC))
	@mkdir -p $(@D) && printf '%s\n' '$(call quoted,$(FLAGS_NOW))' > $@

$(OUT)/bpf/flags:
	$(call installed,$(CLANG))
	$(call installed,$(BPFTOOL))
	@mkdir -p $(@D) && printf '%s\n' '$(call quoted,$(BPF_FLAGS_NOW))' > $@

# Headers, and the packages that contain them. They are looked for once in each build directory, so that a missing one is
# reported with its package before the compiler fails.
REPORT_HEADERS := stdio.h:libc6-dev zstd.h:libzstd-dev zlib.h:zlib1g-dev pcre2.h:libpcre2-dev seccomp.h:libseccomp-dev cap-ng.h:libcap-ng-dev
CAPTURE_HEADERS := bpf/libbpf.h:libbpf-dev libelf.h:libelf-dev elfutils/libdwfl.h:libdw-dev \
	libiberty/demangle.h:libiberty-dev lzma.h:liblzma-dev curses.h:libncurses-dev microhttpd.h:libmicrohttpd-dev \
	curl/curl.h:libcurl4-openssl-dev protobuf-c/protobuf-c.h:libprotobuf-c-dev
CHECK_HEADERS := cmocka.h:libcmocka-dev
has_include = printf '\#if !__has_include(<%s>)\n@%s\n\#endif\n' $(subst :, ,$(1));

$(B)/REPORT.headers $(B)/CAPTURE.headers $(B)/CHECK.headers: $(B)/%.headers: $(B)/flags
	@missing=$$({ $(foreach h,$($*_HEADERS),$(call has_include,$(h))) } | \
		$(CC) $(CPPFLAGS) $(CFLAGS) -E -P -x c - 2>/dev/null | sed -n 's/^@//p' | tr '\n' ' '); \
	[ -z "$$missing" ] || { echo "probee: not installed: $${missing% }. Try:" \
		'make deps$(if $(filter CHECK,$*), LEVEL=check)' >&2; exit 1; }
	@touch $@

$(REPORT_OBJS): | $(B)/REPORT.headers
$(CAPTURE_OBJS) $(PROTO_OBJS) $(BPF_SKELETONS:.skel.h=.bpf.o): | $(B)/REPORT.headers $(B)/CAPTURE.headers
$(TESTS): | $(B)/CHECK.headers

$(B)/tests/unit/%: tests/unit/%.c $(B)/libprobee.a
	$(call say,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(TEST_CFLAGS) -MMD -MP -MF $@.d $< $(B)/libprobee.a $(LDLIBS) -lcmocka -o $@

$(B)/tests/fuzz/%: tests/fuzz/%.c $(B)/libprobee.a
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d $< $(B)/libprobee.a $(LDLIBS) -o $@

tests: $(TESTS)
fuzzers: $(if $(filter 1,$(FUZZ)),$(FUZZERS))

unit: tests $(if $(filter 1,$(SAN)),all)
	@OUT=$(OUT) tests/run.sh $(if $(filter 1,$(SAN)),san,unit)

# The targets from here on need only make and git: they install what is missing, then start make again, because this file
# looks for the tools when it is read.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
AGAIN = +@$(MAKE) $(if $(V),,-s) --no-print-directory $(JOBS)

deps:
	@.ci/install-deps.sh $(or $(LEVEL),build)

# Which tests: docs/TESTING.md. The usual ones run with sanitizers; only other choices need them built without.
CHECK = $(if $(ALL)$(T)$(CHANGED)$(KINDS),all,core)
PLAIN_TESTS = $(if $(filter core,$(CHECK))$(if $(T),$(if $(findstring unit/,$(T)),,no)),,tests)

check:
	@.ci/install-deps.sh check
	$(AGAIN) all report-half $(PLAIN_TESTS)
	@OUT=$(OUT) BUILD=1 CHECK=$(CHECK) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_TOTAL=$(FUZZ_TOTAL) \
		T='$(call quoted,$(T))' CHANGED='$(call quoted,$(CHANGED))' TALLY='$(call quoted,$(TALLY))' LIST=$(LIST) tests/run.sh $(KINDS)

demo:
	@.ci/install-deps.sh demo
	$(AGAIN) all
	@OUT=$(OUT) tools/demo.sh

fuzz:
	@.ci/install-deps.sh check
	$(AGAIN) FUZZ=1 fuzzers
	@OUT=$(OUT) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run.sh fuzz

long:
	@.ci/install-deps.sh check
	$(AGAIN) all
	$(if $(if $(LONG),$(filter fuzz,$(LONG)),all),$(AGAIN) FUZZ=1 fuzzers)
	$(if $(LONG),,@OUT=$(OUT) CONSUMERS=all tests/run.sh consumers)
	@OUT=$(OUT) tests/long/long.sh $(LONG)

vm:
	@.ci/install-deps.sh vm
	$(AGAIN) all
	@OUT=$(OUT) VM_ARM64=1 tests/run.sh vm

bench:
	@.ci/install-deps.sh check
	$(AGAIN) all
	@for t in tests/bench/*.sh; do [ ! -x "$$t" ] || OUT=$(OUT) PROBEE=$(OUT)/probee "$$t" || exit 1; done

$(B)/probee.1: $(B)/probee tools/man.sh docs/USE.md
	$(call say,MAN,$@)
	$(Q)tools/man.sh $< docs/USE.md > $@.tmp && mv $@.tmp $@

MAN := $(DESTDIR)$(PREFIX)/share/man/man1/probee.1
UNIT := $(DESTDIR)$(PREFIX)/lib/systemd/system/probee-agent.service
COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/probee

# Under these names it takes the command lines of its ancestors. Programs that have them stay.
LINKS := $(addprefix $(DESTDIR)$(PREFIX)/bin/,pbee xstack)

install: $(B)/probee $(B)/probee.1
	install -D -m 755 $(B)/probee $(DESTDIR)$(PREFIX)/bin/probee
	for link in $(LINKS); do [ -e "$$link" ] && [ ! -L "$$link" ] || ln -sf probee "$$link"; done
	install -D -m 644 $(B)/probee.1 $(MAN)
	install -D -m 644 tools/completion.bash $(COMPLETION)
	install -D -m 644 tools/probee-agent.service $(UNIT)
	sed -i 's,^ExecStart=[^ ]*,ExecStart=$(PREFIX)/bin/probee,' $(UNIT)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/probee $(LINKS) $(MAN) $(COMPLETION) $(UNIT)

clean:
	rm -rf .out

help:
	@echo 'make                 build $(OUT)/probee'
	@echo 'make report-half      build $(OUT)/probee-report: report and info, with zstd, libseccomp and libcap-ng'
	@echo 'make demo            install what is needed, build, record this machine, draw it: see demo/'
	@echo 'make check           install, build, run the tests of a usual check: each kind of claim once'
	@echo '                     ALL=1: every test; T=live/probes: one; CHANGED=1: those that cover what differs from HEAD;'
	@echo '                     KINDS="unit cli": those kinds; see docs/TESTING.md'
	@echo 'make unit            build and run the unit tests (SAN=1: with sanitizers)'
	@echo 'make fuzz            fuzz every parser for FUZZ_SECONDS=$(FUZZ_SECONDS) seconds'
	@echo 'make long            what takes hours: kills, hostile processes, fuzzing; LONG="kills 100 fuzz 60": these'
	@echo 'make vm              record on the kernels of Debian 12 and 13, and on arm64, in emulated machines'
	@echo 'make bench           measure'
	@echo 'make deps            install what is needed to build (LEVEL=demo, LEVEL=check: more)'
	@echo 'make install         into DESTDIR= PREFIX=$(PREFIX): program, man page, bash completion, unit of the agent'
	@echo 'make clean           remove .out'
	@echo 'V=1 shows commands, SAN=1 builds with sanitizers, OUT=dir builds elsewhere'

-include $(shell [ -d $(B) ] && find $(B) $(OUT)/bpf -path $(B)/san -prune -o -path $(B)/fuzz -prune -o -path $(B)/vm -prune -o -name '*.d' -print 2>/dev/null)
