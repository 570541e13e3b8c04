// SPDX-License-Identifier: MIT
// Linked into the unit tests under AddressSanitizer only: libraries stay loaded, so that a leak
// inside a Vulkan driver is reported with the driver's name, by which leaks.txt tells it from one
// of ours.
int dlclose(void *handle);

int dlclose(void *handle) {
    (void)handle;
    return 0;
}
