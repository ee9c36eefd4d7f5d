"""Keys, tokens and passwords in a text: told by their own form, by the name before them, or by their place.

No library does this at run time: detect-secrets imports in 0.3 s and reads lines of code, gitleaks is a program. Their
forms are checked against these ones in `tests/core/test_secrets.py`. Each part costs in proportion to the text, and is
compiled when a text first has a sign of it (1 to 4 ms in all).
"""

from __future__ import annotations

import re
from collections.abc import Callable

HIDDEN = "***"
Hide = Callable[[re.Match[str]], str]
Told = Callable[[str], object]  # is told the kind of each key that was hidden

# Tokens that say themselves what they are. The first ones are told wherever they stand: a colour code or an
# invisible character that was between a token and the word before it is dropped by now, and says of no boundary.
_TOKENS = (
    r"(?:(hf_oauth_)[\w.-]{20,}|(hf_)[A-Za-z0-9]{30,}|(gh[pousr]_)[A-Za-z0-9]{36,}"
    r"|(glpat-|nvapi-|github_pat_|wandb_v1_)[\w-]{20,}"
    r"|(?<![A-Z0-9])(AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Z0-9])"
    r"|(?<![A-Za-z0-9_-])(?:"
    r"(sk-)(?=[\w-]*\d|(?:[a-z]{1,8}-){0,2}[A-Za-z]{20})[\w-]{20,}"
    r"|(gh[pousr]_|gsk_|r8_)[\w-]{20,}"
    r"|(xox[abeprs]-|xapp-)[\w-]{11,}"
    r"|(AIza)[\w-]{35}|(ya29\.|GOCSPX-)[\w-]{20,}"
    r"|(eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(eyJhcGlf)[\w+/=-]{40,}"
    r"|(npm_)[A-Za-z0-9]{30,}|(pypi-Ag)[\w-]{30,}|(hv[sbr]\.)[\w-]{20,}|(dapi)[a-f0-9]{32}"
    r"|([sr]k_(?:live|test|prod)_)[A-Za-z0-9]{10,}"
    r"))"
)
# What such a token has in it. Looking for these takes 1 us where the expression takes 30.
_TOKEN_SIGNS = (
    "hf_", "sk-", "AKIA", "ASIA", "ABIA", "ACCA", "A3T", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "gsk_", "r8_", "nvapi-", "wandb_v1_", "xox", "xapp-", "AIza", "ya29.", "GOCSPX-", "eyJ", "npm_",
    "pypi-Ag", "hvs.", "hvb.", "hvr.", "dapi", "k_live_", "k_test_", "k_prod_",
)  # fmt: skip
# Tokens of services that a training run rarely speaks to.
_RARE = (
    r"(?<![A-Za-z0-9_-])(?:(SG\.)[\w-]{16,}\.[\w-]{16,}|(dckr_[op]at_)[\w-]{20,}|(rubygems_)[a-f0-9]{40,}"
    r"|(do[opr]_v1_)[a-f0-9]{40,}|(shp(?:at|ss|ca|pa)_)[a-fA-F0-9]{32}|(whsec_)[\w+/]{24,}"
    r"|(gl(?:dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-|GR1348941)[\w-]{20,}"
    r"|(lsv2_[ps][tk]_|tgp_v1_|pcsk_|tvly-|jina_|e2b_|lin_api_|figd_|CFPAT-|tskey-|NRAK-|PMAK-|HRKU-)[\w-]{20,}"
    r"|(pplx-|xai-|csk-|fw_)[A-Za-z0-9]{20,}|(glsa_|glc_|sntry[su]_)[\w+/=-]{30,}|(ATATT3|ATCTT3)[\w=-]{50,}"
    r"|(sq0[a-z]{3}-)[\w-]{20,}|(AGE-SECRET-KEY-1)[A-Z0-9]{50,}|(pul-)[a-f0-9]{40}|(AKCp)[A-Za-z0-9]{60,}"
    r"|(LTAI)[A-Za-z0-9]{12,28}(?![\w-])|(AKID)[A-Za-z0-9]{28,36}(?![\w-])|(SK)[a-f0-9]{32}(?![\w-])"
    r"|([MNO])[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])|(\d{8,10}:)[\w-]{35}(?![\w-])"
    r"|()[a-f0-9]{32}-us\d{1,2}(?![\w-])|(\w{3}\dQ~)[\w.~-]{31,34})"
)
_RARE_SIGNS = (
    "SG.", "at_", "rubygems_", "_v1_", "shp", "whsec_", "gld", "glf", "gls", "glr", "glc", "gli", "glp", "glo", "gla",
    "GR13", "lsv2_", "pcsk_", "tvly-", "jina_", "e2b_", "lin_api_", "figd_", "CFPAT-", "tskey-", "NRAK-", "PMAK-",
    "HRKU-", "pplx-", "xai-", "csk-", "fw_", "sntry", "TT3", "sq0", "AGE-", "pul-", "AKCp", "LTAI", "AKID",
)  # fmt: skip
_NO_SIGN = r"[A-Za-z0-9_-]{27}"  # a word that long may be one of those that have none
_LONG = re.compile(r"[A-Za-z0-9_-]{16}")  # no token is shorter, and few lines have such a word
# What stands between a name and its value: NAME=value, --name value, "name": "value", pairs, lists of arguments, rows
# of tables, sentences, Kubernetes' pairs of name and value; then what may be around a value.
_BETWEEN = (
    r"\\{0,7}['\"]?\]?(?:\s*(?:[=:|]{1,2}>?|%3[AD])\s*|\s+\.{2,}\s+|\s+(?:is|was)\s*[:=]?\s+|\s+"
    r"|(?<=['\"])\s*,\s*(?:\\{0,7}['\"]value\\{0,7}['\"]\s*:\s*)?)(?:[A-Za-z]\w{0,23}\(|\[|b(?=['\"\\])){0,2}"
)
# A name that says that its value is a key. The value has a digit (`None`, `EMPTY`, a path's name and prose have none or
# do not match), or is one long word, and is no reference such as $NAME or <your key>; one that begins with / is a path
# unless it is as long as AWS's keys. Only the name's end is looked for, the digit not far and the value's beginning:
# long words of underscores and names in a row must cost no more than other text.
_OF_VALUE = r"(?:[^\s'\",;\\$<*{}()]|\\++(?!['\"]))"
_NAMED = (
    r"(?i)(?P<name>key(?:[_-]?id)?|token|secret|passw(?:or)?d)"
    r"(?P<sep>" + _BETWEEN + r"\\{0,7}['\"]?)"
    r"(?P<value>(?=[^\s'\",;]{0,256}?\d)(?:[^\s'\",;\\$<*{}()/|]" + _OF_VALUE + r"{7,256}"
    r"|/[A-Za-z0-9+/]{39}(?![\w+/.=-]))|[A-Za-z]{20,256}(?![\w.(\[-]))"
)
_VALUE = r"(?:(?!&\w{1,40}=)" + _OF_VALUE + r")*+"  # the whole of it, before the next parameter
_NAME_SIGNS = ("key", "token", "secret", "passw")
# Names of nothing but a key, as far as they stand before that end.
_SURE_KEYS = (
    r"(?i)(?:(?:api|secret|access|master|private|account|storage|wandb|swanlab|openai|anthropic|hf|deepseek|gemini"
    r"|openrouter|encryption|signing|client|service|ssh|jwt|webhook)[ _-]?key|access[ _-]?key[_-]?id|passw(?:or)?d"
    r"|(?:auth|access|api|hf|hub|github|gitlab|wandb|session|security|bot|refresh)[ _-]?token"
    r"|(?:client|app|jwt|webhook)[ _-]?secret)\Z"
)
_MOST_SURE = 18  # characters of it before that end
_FLAG_BEFORE = r"(?<![A-Za-z0-9])--[A-Za-z0-9_-]*\Z"
_MOST_NAME = 80
_NAME_BEFORE = r"[A-Za-z0-9_.-]*\Z"
_RANDOM = r"(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{16}"  # no word, no number, no date
_MOST_RANDOM = 256
_OTHER_KEYS = r"(?i)(?:cache|primary|partition|sort|foreign|reward|label|input|metric|public|group|routing)_\Z"

# Passwords are anything, of any length from three characters on, so their names and separators are read closely.
_PASSWORD = (
    r"(?i)(?P<name>passw(?:or)?d|passphrase|passcode|pass|pwd)(?P<sep>" + _BETWEEN + r")\\{0,7}"
    r"(?:(?P<quote>['\"`])(?P<quoted>[^'\"`\n]{3,256}|(?:(?!(?P=quote))[^\n\\]){3,256})"
    r"|(?P<bare>[^\s'\"`\\$<*{}()\[\]/|%,;=][^\s'\"`\\]{2,256}))"
)
_PASS = (  # before `pass` and `pwd`, which say other things by themselves
    r"(?i)(?:(?:db|database|user|root|admin|redis|smtp|mysql|postgres|pg|mongo|mongodb|sudo|ssh|http|https|proxy|ftp"
    r"|rabbitmq|default|mail|email|registry|docker|git|ldap|vnc|jupyter|cert|key|basic|auth|login|my)[_-]?"
    r"|[;&?]\s?|(?-i:[A-Z0-9]_))\Z"
)
_NO_PASS = r"(?i)(?:by|com|tres|(?:forward|backward|first|second|tests?|multi|single|one|two|num|last|next)_)\Z"
_NO_PASSWORD = (  # what stands there and is none
    r"(?i)(?:none|null|nil|true|false|yes|no|on|off|empty|undefined|unset|unknown|default|required|optional|redacted"
    r"|hidden|masked|filtered|removed|str|string|bytes|int|bool|any|secretstr|prompt|invalid|incorrect|wrong|missing"
    r"|expired|denied|failed|rejected|accepted|mismatch|ok|not|n/a|optional\[.*|[*x.#_-]+|%\w|your[ _-].*"
    r"|(?:self|args|os|config|cfg|conf|settings|env|opts|options|kwargs|ctx|params|cls)[.\[].*|[\w.]+\(.*"
    r"|[\w.]*(?:passw(?:or)?d|passphrase|pwd))\Z"
)
_WORDS = r"[A-Za-z._-]+\Z"  # a password, or a word of a sentence
_ITEM_END = r"\s*(?:[,;|})\]]|\Z|[\w-]{1,30}[=:])"

_LOGIN = (
    r"(?i)(\b(?:wandb|swanlab)\W{1,6}login\b[^\n]{0,80}?)(?<![A-Za-z0-9])[0-9a-f]{40,}"
    r"|(\b(?:login|sshpass)\b[^\n]{0,80}?\s(?:-p|-k|--api-key)[ =]?['\"]?)[^\s'\"$<*{-][^\s'\"]{5,}"
)
_BEARER = r"(?i)\b(Bearer|Basic)(\s+)(?=[\w.~+/=-]*\d)[\w.~+/-]{16,}=*"
_HEADER = (
    r"(?i)(authorization\\{0,7}['\"]?\s*[:=,]\s*(?:b(?=['\"\\]))?\\{0,7}['\"]?)"
    r"(?:((?:bearer|basic|token|apikey|bot|digest|negotiate)\s+)[^\s'\"\\,;$<*{}()]{6,}"
    r"|(?=[^\s'\"]{0,256}?\d|[^\s'\"]{24})[^\s'\"\\,;$<*{}()\[][^\s'\"\\,;$<*{}()]{7,})"
)
# Password: up to the last @ of the word, for it may hold any sign, unless a host stands behind an earlier one.
_IN_URL = (
    r"(?P<scheme>[A-Za-z0-9+.-]{0,20}://)(?P<user>[^\s:/@'\"]{0,256})"
    r"(?P<colon>:(?:(?P<password>[^\s'\"/@?#]{1,256}(?=@(?:[\w-]+(?:\.[\w-]+)+|localhost|[\w.-]+:\d+)(?:[:/?#,]|\Z|[\s'\"]))"
    r"|[^\s'\"]{1,256}(?=@)))?)?@(?P<host>[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}[:/?])?"
)
_PORT = r"\d{1,5}(?:[/,;?#)&\]}]|\Z)"  # host:8265/path@x is no password, unless a host follows and none came before
_OF_STORES = r"(?:redis|valkey|postgres|mysql|mariadb|mongo|amqp|mssql|clickhouse|ldap|smtp|imap|s?ftp|ssh)"
_SIGNED = r"(?i)([?&](?:x-(?:amz|goog)-(?:signature|security-token)|signature|sig|key)=)[^&\s'\"*<${]{16,}"
_HOOK = (
    r"(?i)(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,}/"
    r"|webhook\.office\.com/webhookb2/|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/|hooks\.zapier\.com/hooks/catch/)"
    r"[\w/@-]{8,}"
)
_PEM = "PRIVATE KEY"
_PEM_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = "-----END"


def mask(text: str, told: Told | None = None) -> str:
    """`text` with keys, tokens and passwords replaced by `***`; the same text where there are none.

    `told` is told of what kind each is: the token's prefix, the name before it, or what holds it.
    """
    tell: Told = told or str  # which does nothing with it
    if _LONG.search(text):
        text = _without_tokens(text, tell)
    if _PEM in text:
        text = _without_pem(text, tell)
    lower = text.lower()
    if "://" in text:
        text = _without_urls(text, tell)
    if "hook" in lower:
        text = re.sub(_HOOK, _text_behind("webhook", tell), text)
    if "login" in lower or "sshpass" in lower:
        text = re.sub(_LOGIN, _text_behind("login", tell), text)
    if "authorization" in lower:
        text = re.sub(_HEADER, _text_behind("authorization", tell), text)
    if "bearer" in lower or "basic" in lower:
        text = re.sub(_BEARER, _text_behind("authorization", tell), text)
    if any(sign in lower for sign in _NAME_SIGNS):
        text = _without_named(text, tell)
    return _without_passwords(text, tell) if "pass" in lower or "pwd" in lower else text


def _without_tokens(text: str, tell: Told) -> str:
    # ASCII: words begin at the same places for all parts, so that each is looked at once.
    if any(sign in text for sign in _TOKEN_SIGNS):
        text = re.sub(_TOKENS, _after_prefix(tell), text, flags=re.ASCII)
    if any(sign in text for sign in _RARE_SIGNS) or re.search(_NO_SIGN, text):
        text = re.sub(_RARE, _after_prefix(tell), text, flags=re.ASCII)
    return text


def _after_prefix(tell: Told) -> Hide:
    def hide(match: re.Match[str]) -> str:
        prefix = match[match.lastindex or 0]
        tell(prefix if prefix.strip("0123456789:") else "token")
        return prefix + HIDDEN

    return hide


def _text_behind(kind: str, tell: Told) -> Hide:
    def hide(match: re.Match[str]) -> str:
        tell(kind)
        return "".join(part for part in match.groups() if part) + HIDDEN

    return hide


def _without_pem(text: str, tell: Told) -> str:
    out, copied = [], 0
    while (begin := re.compile(_PEM_BEGIN).search(text, copied)) is not None:
        end = text.find(_PEM_END, begin.end())
        end = len(text) if end < 0 else end
        tell("private key")
        out.append(text[copied : begin.end()] + (HIDDEN if text[begin.end() : end].strip() else ""))
        copied = end
    return "".join(out) + text[copied:]


# -- in a URL --------------------------------------------------------------------------------------


def _without_urls(text: str, tell: Told) -> str:
    def hide(match: re.Match[str]) -> str:
        user, password = match["user"], match["password"] or ""
        at_port = re.match(_PORT, password) and not re.match(_OF_STORES, match["scheme"].lower())
        at_port = at_port and not (match["host"] and user.isalpha() and user != "localhost")
        hidden_user = bool(re.search(_RANDOM, user[:_MOST_RANDOM]))
        hidden = bool(password) and not at_port and not re.fullmatch(r"[*x]+|\$.*|<.*>|\{.*\}", password)
        if not hidden and not hidden_user:
            return match[0]
        tell("in a URL")
        shown = f":{HIDDEN if hidden else password}" if match["colon"] else ""
        return f"{match['scheme']}{HIDDEN if hidden_user else user}{shown}@{match['host'] or ''}"

    if "@" in text:
        text = re.sub(_IN_URL, hide, text)
    return re.sub(_SIGNED, _text_behind("in a URL", tell), text) if "?" in text else text


# -- behind a name ---------------------------------------------------------------------------------


def _name_of(text: str, at: int, end: int) -> str:
    """The whole name whose last part is `text[at:end]`, as a variable of the environment would be called."""
    before = re.search(_NAME_BEFORE, text[max(0, at - _MOST_NAME) : at])
    name = (before[0] if before else "") + text[at:end]
    return name.strip("-._").replace("-", "_").upper()[-40:]


def _without_named(text: str, tell: Told) -> str:
    out, copied, at = [], 0, 0
    named = re.compile(_NAMED)
    while (match := named.search(text, at)) is not None:
        at = match.end("sep")  # what is no key may hold another name and its key
        if _is_key(match):
            out.append(f"{text[copied:at]}{HIDDEN}")
            tell(_name_of(text, match.start(), match.end("name")))
            at = copied = _value_end(text, at, match.end())
    return "".join(out) + text[copied:] if out else text


def _value_end(text: str, at: int, end: int) -> int:
    """Where a value ends that begins at `at`: at the quote that was opened before it, or before the next parameter."""
    whole = re.compile(_VALUE).match(text, at)
    if whole and not text[at:end].isalpha():
        end = whole.end()
    quote = text[at - 1 : at]
    if quote in ("'", '"'):
        closing = text.find(quote, end, end + _MOST_RANDOM)
        if closing >= 0:
            return closing - (len(text[at:closing]) - len(text[at:closing].rstrip("\\")))
    return end


def _is_key(match: re.Match[str]) -> bool:
    """Whether the value is a key.

    No blank alone says so ("the api key 12345678"), nor a name that is a token's or a secret's of any kind
    ("#cached-token: 12345678"): such a value has to look like a key.
    """
    at, text = match.start(), match.string
    said = match["sep"].strip("\\'\" ") or re.search(_FLAG_BEFORE, text[max(0, at - _MOST_NAME) : at])
    sure = re.search(_SURE_KEYS, text[max(0, at - _MOST_SURE) : match.end("name")])
    value = match["value"][:_MOST_RANDOM]
    if value.isalpha():
        return bool(said and sure)
    if said and sure:
        return True
    upper = match["name"].isupper()
    if said and upper and match["name"] == "KEY" and text[at - 1 : at] == "_":
        own = re.search(_OTHER_KEYS, text[max(0, at - _MOST_NAME) : at]) is None
        return own and re.search(_RANDOM, value) is not None
    if not sure and (match["name"][-1] not in "nNtT" or text[at - 1 : at].isalnum()):
        return False
    if said and upper:  # TOKEN=..., a variable of the environment
        return any(map(str.isalpha, value))
    return re.search(_RANDOM, value) is not None


def _without_passwords(text: str, tell: Told) -> str:
    out, copied, at = [], 0, 0
    named = re.compile(_PASSWORD)
    while (match := named.search(text, at)) is not None:
        at = match.end("sep")
        begin = match.start("quoted") if match["quote"] else match.start("bare")
        if end := _password_end(match, begin):
            out.append(f"{text[copied:begin]}{HIDDEN}")
            tell(_name_of(text, match.start(), match.end("name")))
            at = copied = end
    return "".join(out) + text[copied:] if out else text


def _password_end(match: re.Match[str], begin: int) -> int:
    """Where the password ends that begins at `begin`; 0 where it is none."""
    text, at, name = match.string, match.start(), match["name"].lower()
    before = text[max(0, at - _MOST_NAME) : at]
    near = before[-_MOST_SURE:]
    if name in ("pass", "pwd") and (not re.search(_PASS, near) or re.search(_NO_PASS, near)):
        return 0
    sep = match["sep"].strip("\\'\"]")
    flag = re.search(_FLAG_BEFORE, before) is not None
    if not sep.strip() and not flag:
        return 0  # no word but a blank: that is for `_NAMED`
    if match["quote"]:
        value, end = match["quoted"], match.end("quoted")
    else:
        value = match["bare"].rstrip(",;)}]")
        if following := re.search(r"[&,;]\s?\w{1,40}[=:]", value):
            value = value[: following.start()]
        end = begin + len(value)
    if len(value) < 3 or HIDDEN in value or re.match(_NO_PASSWORD, value):
        return 0
    words = re.match(_WORDS, value) is not None
    if words and not flag and sep.strip()[:1] in (",", "|"):
        return 0  # a list of names, a table's head
    sentence = words and not match["quote"] and sep.strip()[:1] in (":", "i", "w")
    if sentence and not re.match(_ITEM_END, text[end : end + 40]):
        return 0
    return end


__all__ = ["HIDDEN", "mask"]
