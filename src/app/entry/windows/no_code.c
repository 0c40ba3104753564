/* SPDX-License-Identifier: Apache-2.0 */

/* A library is made of something: all that it exports lies elsewhere. */
typedef int CairnProxyHasNoCode;
