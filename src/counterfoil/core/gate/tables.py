"""What is known of programs: which only read, which do much, and which of their verbs.

Data, no rules. What stands in no table is `moderate`.
"""

from collections.abc import Mapping

from counterfoil.core.gate.scale import Level


def names(text: str) -> frozenset[str]:
    """Return the words of `text`.

    >>> sorted(names("cat ls"))
    ['cat', 'ls']
    """
    return frozenset(text.split())


def _verbs(level: Level, text: str) -> dict[str, Level]:
    return dict.fromkeys(text.split(), level)


DIRECTORIES = frozenset(
    {"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"}
)
"""Where a program named by its path is the one that its name says."""

READING = names(
    ": [ arch base64 basename break cat cd cksum clear cmp col column comm continue cut df diff "
    "dirname dirs du echo egrep exit expand expr false fgrep file fmt fold free getconf getent "
    "getopts grep groups hash head hexdump id jobs join jq local locale ls lsblk lscpu lsof man "
    "md5 md5sum nl nproc numfmt od paste pgrep popd pr printenv printf ps pushd pwd read "
    "readlink readonly realpath return rev seq sha1sum sha224sum sha256sum sha384sum sha512sum "
    "shasum shift sleep stat strings sum tac tail test times tr true tsort tty type umask "
    "uname unexpand unset uptime users vmstat w wait wc whatis whereis which who whoami yes b2sum "
    "zcat zgrep set find rg sort"
)
"""Programs that only read, whatever they are told, but for what `TOLD` says."""

MUCH = names(
    "alias ansible ansible-playbook apt-key at atrm batch chgrp chown chattr dd "
    "defaults doas docker-compose eval expect fdisk ftp fuser halt helm ifconfig init insmod "
    "iptables kill killall launchctl lftp logrotate losetup mail mailx mount msmtp mutt nc "
    "ncat netcat netsh nft nmap osascript parallel parted passwd pfctl pkill poweroff rclone "
    "reboot rmmod rsync scp screen sendmail service setenforce setfacl sftp shred shutdown socat "
    "srm ssh ssh-add ssh-copy-id ssh-keygen swapoff swapon sysctl tcpdump telinit telnet terraform "
    "tmux truncate ufw umount useradd userdel usermod vagrant visudo watch wipe xdotool "
    "tee crontab gcloud aws az twine snap port su gosu su-exec sudoedit modprobe kexec nsupdate"
)
"""Programs that are dangerous, whatever they are told, but for what `TOLD` says."""

TOLD: Mapping[str, Mapping[str, Level]] = {
    "[": {"-v": "dangerous"},
    "base64": {"-o": "moderate", "--output": "moderate"},
    "chmod": {
        "-R": "dangerous",
        "--recursive": "dangerous",
        "+s": "dangerous",
    },
    "diff": {"--output": "moderate"},
    "file": {"-C": "moderate", "--compile": "moderate"},
    "find": {
        "-delete": "dangerous",
        "-exec": "moderate",
        "-execdir": "moderate",
        "-fls": "moderate",
        "-fprint": "moderate",
        "-fprint0": "moderate",
        "-fprintf": "moderate",
        "-ok": "moderate",
        "-okdir": "moderate",
    },
    "man": {"-P": "dangerous", "--pager": "dangerous", "-H": "dangerous", "--html": "dangerous"},
    "printf": {"-v": "dangerous"},
    "rg": {"--pre": "dangerous", "--hostname-bin": "dangerous"},
    "rm": {"-r": "dangerous", "-R": "dangerous", "--recursive": "dangerous"},
    "sort": {
        "-o": "moderate",
        "--output": "moderate",
        "--compress-program": "dangerous",
    },
    "test": {"-v": "dangerous"},
    "tree": {"-o": "moderate", "-R": "moderate"},
    "set": {"-o": "moderate"},
    "curl": {
        "-d": "dangerous",
        "--data": "dangerous",
        "--data-ascii": "dangerous",
        "--data-binary": "dangerous",
        "--data-raw": "dangerous",
        "--data-urlencode": "dangerous",
        "--json": "dangerous",
        "-F": "dangerous",
        "--form": "dangerous",
        "--form-string": "dangerous",
        "-T": "dangerous",
        "--upload-file": "dangerous",
        "-X": "dangerous",
        "--request": "dangerous",
        "-K": "dangerous",
        "--config": "dangerous",
        "-u": "dangerous",
        "--user": "dangerous",
        "-Q": "dangerous",
        "--quote": "dangerous",
    },
    "wget": {
        "--post-data": "dangerous",
        "--post-file": "dangerous",
        "--method": "dangerous",
        "--body-data": "dangerous",
        "--body-file": "dangerous",
        "--use-askpass": "dangerous",
        "-e": "dangerous",
        "--execute": "dangerous",
        "-i": "moderate",
    },
    "tar": {
        "--to-command": "dangerous",
        "--checkpoint-action": "dangerous",
        "-I": "dangerous",
        "--use-compress-program": "dangerous",
        "--rsh-command": "dangerous",
        "--remove-files": "dangerous",
        "-P": "dangerous",
        "--absolute-names": "dangerous",
    },
    "zip": {"-T": "dangerous", "-m": "dangerous"},
    "make": {"--eval": "dangerous", "-E": "dangerous"},
}
"""By program, the options that make a call of it more than it is without them.

A letter counts wherever it stands among letters behind one `-`, a long name with its
value or without, and shortened.
"""

SENSITIVE = frozenset(TOLD) | {"git", "sed", "awk", "gawk", "mawk", "env", "date", "uniq", "xxd"}
"""Programs of which a word that nobody knows yet can be such an option."""

VERBS: Mapping[str, Mapping[str, Level]] = {
    "git": {
        **_verbs(
            "safe",
            "annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format "
            "cherry count-objects describe diff diff-files diff-index diff-tree for-each-ref "
            "fsck get-tar-commit-id grep help log ls-files ls-tree merge-base name-rev "
            "range-diff rev-list rev-parse shortlog show show-branch show-index show-ref status "
            "var verify-commit verify-tag version whatchanged",
        ),
        **_verbs(
            "dangerous",
            "clean config daemon difftool filter-branch filter-repo mergetool prune replace "
            "restore send-email svn update-ref bisect submodule credential "
            "instaweb gui citool p4 http-push send-pack",
        ),
    },
    "npm": {
        **_verbs("safe", "ls list view info outdated root prefix bin help search why"),
        **_verbs(
            "dangerous",
            "install i ci add update up upgrade uninstall remove rm un link publish unpublish "
            "deprecate dist-tag owner access token login logout adduser set config exec x init "
            "create rebuild",
        ),
    },
    "pnpm": _verbs(
        "dangerous", "install i add update up remove rm uninstall link publish dlx create exec"
    ),
    "yarn": _verbs("dangerous", "install add upgrade up remove link publish dlx create npm global"),
    "bun": _verbs("dangerous", "install i add update remove link publish x create"),
    "pip": {
        **_verbs("safe", "list show freeze check help"),
        **_verbs("dangerous", "install uninstall download wheel config"),
    },
    "pipx": {
        "list": "safe",
        **_verbs("dangerous", "install uninstall upgrade upgrade-all inject run"),
    },
    "uv": _verbs("dangerous", "add remove sync pip tool publish python self lock cache"),
    "poetry": _verbs("dangerous", "add remove install update publish self config source cache"),
    "conda": _verbs("dangerous", "install create remove update uninstall env clean"),
    "cargo": {
        **_verbs("safe", "metadata tree version help search"),
        **_verbs(
            "dangerous", "install uninstall publish yank owner login logout add remove update"
        ),
    },
    "rustup": _verbs("dangerous", "install update default toolchain target self"),
    "go": {
        **_verbs("safe", "version doc"),
        **_verbs("dangerous", "install get"),
    },
    "gem": {
        **_verbs("safe", "list info search which environment help"),
        **_verbs("dangerous", "install uninstall update push yank owner signin"),
    },
    "bundle": _verbs("dangerous", "install update add remove config publish"),
    "composer": _verbs("dangerous", "install update require remove global create-project config"),
    "apt": {
        **_verbs("safe", "list show search policy depends rdepends"),
        **_verbs(
            "dangerous", "install remove purge update upgrade full-upgrade autoremove edit-sources"
        ),
    },
    "brew": {
        **_verbs("safe", "list ls info search deps config doctor outdated"),
        **_verbs(
            "dangerous", "install uninstall remove rm upgrade update tap untap services cleanup"
        ),
    },
    "systemctl": _verbs(
        "safe",
        "status show cat list-units list-unit-files list-timers is-active is-enabled is-failed",
    ),
    "docker": _verbs("moderate", "ps images logs inspect version info stats top port diff history"),
    "kubectl": _verbs(
        "moderate", "get describe logs version explain api-resources top cluster-info"
    ),
    "gh": _verbs("dangerous", "api secret auth release repo extension workflow ssh-key"),
    "ip": _verbs("moderate", "a addr address l link r route"),
    "svn": _verbs("safe", "info log status st diff cat list ls blame"),
    "hg": _verbs("safe", "status st log diff annotate cat files heads id"),
}
"""By program, what its verbs come to; another verb is what `OTHER_VERBS` says."""

OTHER_VERBS: Mapping[str, Level] = {
    "systemctl": "dangerous",
    "docker": "dangerous",
    "podman": "dangerous",
    "kubectl": "dangerous",
    "apt": "dangerous",
    "dnf": "dangerous",
    "yum": "dangerous",
    "zypper": "dangerous",
    "pacman": "dangerous",
    "apk": "dangerous",
}
"""What a verb comes to that `VERBS` does not name, where that is not `moderate`."""

SAME = {
    "apt-get": "apt",
    "pip3": "pip",
    "podman": "docker",
    "egrep": "grep",
    "gsed": "sed",
    "gfind": "find",
}
"""Programs that are told the same as another one."""

INTERPRETERS: Mapping[str, tuple[str, ...]] = {
    "python": ("-c",),
    "pypy": ("-c",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "node": ("-e", "-p", "--eval", "--print"),
    "deno": ("eval", "repl"),
    "bun": ("-e", "-p", "--eval", "--print"),
    "php": ("-r", "-R", "-B", "-E"),
    "lua": ("-e",),
    "Rscript": ("-e",),
    "R": ("-e",),
    "julia": ("-e", "-E"),
    "tclsh": (),
    "ghci": (),
    "groovy": ("-e",),
    "scala": ("-e",),
    "pwsh": ("-c", "-Command", "-EncodedCommand", "-e"),
    "sqlite3": (),
    "psql": ("-c",),
    "mysql": ("-e",),
    "vim": ("-c", "+"),
    "vi": ("-c", "+"),
    "ex": ("-c", "+"),
    "ed": (),
    "emacs": ("--eval", "-f"),
    "gdb": ("-ex", "-x"),
}
"""Programs that run code of a language, and the options behind which it stands."""

AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})

STEERING = names(
    "PATH IFS ENV BASH_ENV SHELL PAGER EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE MANPAGER CDPATH "
    "HOME PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS GLOBIGNORE RUBYOPT NODE_OPTIONS NODE_PATH "
    "JAVA_TOOL_OPTIONS CLASSPATH CC CXX LD MAKEFLAGS MAKEFILES RUSTC_WRAPPER GOFLAGS "
    "TAR_OPTIONS GREP_OPTIONS RIPGREP_CONFIG_PATH CURL_HOME WGETRC EXINIT VIMINIT"
)
STEERING_BEGINNINGS = (
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "PERL",
    "BASH_FUNC_",
    "COUNTERFOIL_",
    "npm_",
)
"""Variables that decide what other programs run."""

TELLS_VERSION = frozenset({"--version", "--help"})
"""A single argument with which an interpreter or a program with verbs only talks."""
