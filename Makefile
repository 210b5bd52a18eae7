# probee: everything built lands in .out/. make [V=1] [SAN=1]; see `make help`.
ifeq ($(SAN),1)
OUT := .out/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
OUT := .out
SANFLAGS :=
endif
PREFIX ?= /usr/local
CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
ARCH := $(patsubst arm64,aarch64,$(shell uname -m))
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
VERSION := 0.1.0
OPT ?= -O2
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(patsubst $(CURDIR)/%,%,$(2)))

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
CPPFLAGS := -I. -I$(OUT) -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_$(ARCH).h"' -DPROBEE_VERSION='"$(VERSION)"'
CFLAGS := -std=gnu11 $(OPT) -g $(WARN) $(SANFLAGS)
BPF_CFLAGS := -target bpf -O2 -g -Wall -Werror -ffreestanding -mcpu=v3 -I. -I$(OUT) \
	-D__TARGET_ARCH_$(BPF_ARCH) -DARCH_HEADER='"unwind/arch_$(ARCH).h"'
LDLIBS := -lbpf -lelf -lz -lzstd -liberty -lpthread

# Sources by layer (tests/layers.sh holds the layering). Listed, not globbed.
include sources.mk

LIB_OBJS := $(LIB_SRCS:%.c=$(OUT)/%.o) $(ASSETS:%=$(OUT)/%.o)
MAIN_OBJS := $(MAIN_SRCS:%.c=$(OUT)/%.o)
TESTS := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all check demo clean install deps help unit fuzz bench
all: $(OUT)/probee

$(OUT)/probee: $(MAIN_OBJS) $(OUT)/libprobee.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(OUT)/libprobee.a: $(LIB_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/%.o: %.c Makefile sources.mk
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# Files linked in as they are: _binary_formats_render_assets_flame_js_start.
$(ASSETS:%=$(OUT)/%.o): $(OUT)/%.o: %
	$(call say,ASSET,$<)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -b binary -z noexecstack $< -o $@

# The kernel side: one object, one skeleton.
$(OUT)/bpf/probee.bpf.o: bpf/probee.bpf.c Makefile
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full

$(OUT)/bpf/probee.skel.h: $(OUT)/bpf/probee.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name probee_bpf > $@.tmp && mv $@.tmp $@

$(SKEL_USERS:%.c=$(OUT)/%.o): $(OUT)/bpf/probee.skel.h

$(OUT)/tests/unit/%: tests/unit/%.c $(OUT)/libprobee.a
	$(call say,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d $< $(OUT)/libprobee.a $(LDLIBS) -lcmocka -ldw -o $@

unit: $(TESTS)

clean:
	rm -rf .out

-include $(shell [ -d $(OUT) ] && find $(OUT) -name '*.d')
