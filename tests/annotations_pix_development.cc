// SPDX-License-Identifier: Apache-2.0
#define PIX_CALLS CallPixOfDevelopmentBuild
#include "annotations_pix_calls.inc"
