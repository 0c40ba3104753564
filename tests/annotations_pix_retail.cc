// SPDX-License-Identifier: Apache-2.0
#define USE_PIX_RETAIL
#define PIX_CALLS CallPixOfRetailBuild
#include "annotations_pix_calls.inc"
