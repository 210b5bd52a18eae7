/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kind of runtime keeps of an image (runtime_kind.h), for tests that build images: OWN(perl_image, image)->layout. */
#pragma once

#include "src/runtimes/runtime.h"

#define OWN(type, image) ((struct type *)(image).own)
