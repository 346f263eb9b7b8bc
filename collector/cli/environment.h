// SPDX-License-Identifier: Apache-2.0
/*
 * environment - which WHOFLOW_... variables are ours (inside the room only)
 */
#pragma once

#include <stdbool.h>

/* Made by Kubernetes for a service called whoflow, or whoflow-something: WHOFLOW_PORT=tcp://10.0.0.1:2055 and its kin. */
bool environment_is_injected(const char *name, const char *value);
