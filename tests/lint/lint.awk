# SPDX-License-Identifier: MIT
# Rules on the text of one C source (name in `file`): file length, function length, banned functions, tabs and trailing
# blanks. Prints `file:line: rule: message`. Comments and literals are blanked first, so what they hold is no code.

function report(line, rule, message) { printf "%s:%d: %s: %s\n", file, line, rule, message }

# The line without comments and with empty literals; a block comment goes on in in_comment.
function code_of(line,    out, i, c, two, quote) {
    out = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (two == "/*") { in_comment = 1; i++ }
        else if (two == "//") break
        else if (c == "\"" || c == "'") {
            quote = c
            out = out c
            for (i++; i <= length(line) && substr(line, i, 1) != quote; i++)
                if (substr(line, i, 1) == "\\") i++
            out = out c
        } else out = out c
    }
    return out
}

BEGIN { function_limit = 80; file_limit = 800 }

NR <= 10 && /lint: table/ { is_table = 1 }

{
    code = code_of($0)
    if ($0 ~ /\t/) report(NR, "tab", "tab character (4 spaces expected)")
    if ($0 ~ /[ \t]$/) report(NR, "blank", "trailing blank")
    if (code ~ /(^|[^A-Za-z0-9_.>])(strcpy|strcat|sprintf|strtok|gets|atoi|gmtime)[ \t]*\(/) {
        match(code, /(strcpy|strcat|sprintf|strtok|gets|atoi|gmtime)[ \t]*\(/)
        report(NR, "banned", substr(code, RSTART, RLENGTH - 1) " is not to be used")
    }
    # A definition starts in column 1 and, if it has parentheses before its brace and no `=`, is a function.
    if (!in_function) {
        if (code ~ /^[A-Za-z_]/ && head == "") { head = code; head_line = NR }
        else if (head != "") head = head " " code
        if (head != "" && code ~ /\{[ \t]*$/) {
            if (head ~ /\(/ && head !~ /=/ && head !~ /^(typedef|enum|struct [A-Za-z0-9_]+ \{|union)/) in_function = 1
            else head = ""
        } else if (head != "" && code ~ /[;}][ \t]*$/) head = ""
    } else if (code ~ /^\}/) {
        if (NR - head_line + 1 > function_limit) {
            name = head
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            report(head_line, "function-length", name " has " NR - head_line + 1 " lines (at most " function_limit ")")
        }
        in_function = 0
        head = ""
    }
}

END {
    if (NR > file_limit && !is_table) report(NR, "file-length", NR " lines (at most " file_limit ", or `lint: table` on top)")
}
