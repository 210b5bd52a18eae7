# Every source of the library, by layer. One line each: additions merge cleanly.
LIB_SRCS := \
	src/base/fail.c \
	src/base/hash_index.c \
	src/base/intern.c \
	src/base/io.c \
	src/base/worker.c \
	src/model/record.c \

MAIN_SRCS := \

ASSETS := \

# Files that include the BPF skeleton.
SKEL_USERS := \

