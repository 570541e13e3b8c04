// SPDX-License-Identifier: MIT
#version 450
void main() {}
