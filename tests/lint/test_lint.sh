#!/bin/sh
# SPDX-License-Identifier: MIT
# Each rule of lint.sh is broken once in a small tree and must be reported, with file and line; the tree as such passes.
set -u
here=$(cd "${0%/*}" && pwd -P)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
number=0

tree() {
    rm -rf "$scratch/t"
    mkdir -p "$scratch/t/manifest" "$scratch/t/genshaders" "$scratch/t/loader/include/kiln" "$scratch/t/loader/src" \
        "$scratch/t/verify" "$scratch/t/tests"
    cd "$scratch/t" || exit 1
    printf '/* SPDX-License-Identifier: MIT */\n#ifndef MF_A_H\n#define MF_A_H\nint mf_a(void);\n#endif\n' >manifest/mf_a.h
    printf '/* SPDX-License-Identifier: MIT */\n#ifndef KL_A_H\n#define KL_A_H\nint kl_a(void);\n#endif\n' >loader/src/kl_a.h
    printf '/* SPDX-License-Identifier: MIT */\n#ifndef KILN_A_H\n#define KILN_A_H\n#include "mf_a.h"\n#endif\n' \
        >loader/include/kiln/kiln_a.h
    # The names of banned functions in comments, literals and as parts of other names are no breach.
    cat >manifest/mf_a.c <<'END'
/* SPDX-License-Identifier: MIT */
#include "mf_a.h"
#include <jansson.h>
/* strcpy(a, b) is not used
   nor sprintf( */
int mf_a(void) {
    const char *text = "strcat( \" atoi("; // gets(x)
    return text[0] == '"' ? mf_snprintf(text) : 0;
}
END
    printf '/* SPDX-License-Identifier: MIT */\n#include "kiln/kiln_a.h"\nint vf_a;\n' >verify/vf_a.c
    printf '#!/bin/sh\n# SPDX-License-Identifier: MIT\necho "$1"\n' >tests/a.sh
}

# expect NAME RULE FILE:LINE: the tree in its present state breaks just this rule, there.
expect() {
    number=$((number + 1))
    output=$("$here/lint.sh" "$scratch/t" 2>"$scratch/stderr")
    status=$?
    if [ $status -eq 1 ] && printf '%s\n' "$output" | grep -q "^$3: $2: " &&
        ! printf '%s\n' "$output" | grep -qv ": $2: "; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf 'status %s, output:\n%s\n' "$status" "$output" | sed 's/^/# /'
    fi
}

lines() {
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'
}

tree
number=1
if output=$("$here/lint.sh" . 2>&1); then
    echo "ok 1 - a good tree passes"
else
    echo "not ok 1 - a good tree passes"
    printf '%s\n' "$output" | sed 's/^/# /'
fi

tree && echo 'int mf_b;' >manifest/mf_b.c
expect "no licence line in C" spdx manifest/mf_b.c:1
tree && printf '#!/bin/sh\necho\n' >tests/b.sh
expect "no licence line in a script" spdx tests/b.sh:1
tree && lines 795 'extern int mf_x;' >>manifest/mf_a.c
expect "a file too long" file-length manifest/mf_a.c:804
tree && { printf '/* SPDX-License-Identifier: MIT */\n/* lint: table */\n' && lines 900 'extern int x;'; } >manifest/mf_t.c &&
    lines 795 'extern int mf_x;' >>manifest/mf_a.c
expect "a table may be long, others not" file-length manifest/mf_a.c:804
tree && { echo 'static int long_one(int a,' && echo '                    int b) {' && lines 78 '    a += b;' && echo '}'; } \
    >>manifest/mf_a.c
expect "a function too long, by its signature's line" function-length manifest/mf_a.c:10
tree && { echo 'static int right_one(int a) {' && lines 78 '    a++;' && echo '}' && echo 'static const int table[] = {' &&
    lines 200 '    1,' && echo '};' && echo 'int mf_c(char *d) {' && echo '    return atoi(d);' && echo '}'; } >>manifest/mf_a.c
expect "80 lines and long tables pass; a banned function does not" banned manifest/mf_a.c:293
tree && printf 'char *mf_d(char *a) { return a ? strcpy (a, "") : 0; }\n' >>manifest/mf_a.c
expect "a banned function with a blank before its parenthesis" banned manifest/mf_a.c:10
tree && printf '\tint x;\n' >>manifest/mf_a.c
expect "a tab" tab manifest/mf_a.c:10
tree && printf 'int x; \n' >>manifest/mf_a.c
expect "a trailing blank" blank manifest/mf_a.c:10
tree && printf 'int x;' >>manifest/mf_a.c
expect "no line break at the end" blank manifest/mf_a.c:1
tree && printf '#include "kl_a.h"\n' >>verify/vf_a.c
expect "verify includes a private header of the loader" direction verify/vf_a.c:4
tree && printf '#include "../loader/src/kl_a.h"\n' >>verify/vf_a.c
expect "by another path, too" direction verify/vf_a.c:4
tree && printf '#include "kiln/kiln_a.h"\n' >>manifest/mf_a.c
expect "manifest includes the loader" direction manifest/mf_a.c:10
tree && printf '/* SPDX-License-Identifier: MIT */\n#include <kiln/kiln_a.h>\n' >genshaders/gs_a.c
expect "genshaders includes the loader" direction genshaders/gs_a.c:2
tree && printf '/* SPDX-License-Identifier: MIT */\n#include "kl_a.h"\n' >loader/include/kiln/kiln_b.h
expect "a public header includes a private one" direction loader/include/kiln/kiln_b.h:2
tree && printf '/* SPDX-License-Identifier: MIT */\n#include <jansson.h>\n' >manifest/mf_b.c
expect "a library in two files" foreign manifest/mf_b.c:2
tree && printf '/* SPDX-License-Identifier: MIT */\n#include <spirv-tools/libspirv.h>\n' >loader/src/kl_b.c
expect "SPIRV-Tools in the loader" foreign loader/src/kl_b.c:2
tree && printf '/* SPDX-License-Identifier: MIT */\n#  include <vulkan/vulkan_core.h>\n' >verify/vf_b.c
expect "Vulkan in the verifier" foreign verify/vf_b.c:2
tree && printf '/* SPDX-License-Identifier: MIT */\nsize_t mf_b(void);\n' >manifest/mf_b.h
expect "a header that needs another first" header manifest/mf_b.h:1
tree && printf '/* SPDX-License-Identifier: MIT */\nenum { mf_b };\n' >manifest/mf_b.h
expect "a header without a guard" header manifest/mf_b.h:1
tree && printf '/* SPDX-License-Identifier: MIT */\n#ifndef B\n#define B\nint kiln_b(int class);\n#endif\n' >loader/include/kiln/kiln_b.h
expect "a public header that is no C++" header loader/include/kiln/kiln_b.h:1
tree && printf 'see http://deb.%s.org/\n' debian >tests/a.md
expect "a registry's host" host tests/a.md:1
tree && printf 'first\nin /%s/main/x\n' work >tests/a.md
expect "a path of one machine" path tests/a.md:2
if command -v shellcheck >/dev/null; then
    # shellcheck disable=SC2016
    tree && printf '#!/bin/sh\n# SPDX-License-Identifier: MIT\ncd "$1"\n' >tests/b.sh
    expect "shellcheck" shell tests/b.sh:3
else
    number=$((number + 1))
    echo "ok $number - shellcheck # SKIP shellcheck is not installed"
fi
echo "1..$number"
