#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules on sources, on this tree.
exec tests/lint/lint.sh
