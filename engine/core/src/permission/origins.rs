//! Addresses as the permission system compares them: places, origins and patterns of origins.
//!
//! Addresses of open tabs come from Chrome and are normal already. Addresses in a model's arguments are not: they
//! are read here as Chrome would read them (WHATWG URL), and what could be read in two ways is refused. Whoever
//! dispatches an address must use [`WebUrl::href`], so that what was judged is what is opened.

use panelot_protocol::FromJson;
use serde::Serialize;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Most characters of an address.
pub const URL_CHARS_MAX: usize = 8_192;
/// Most characters of a host.
const HOST_CHARS_MAX: usize = 253;
/// Most characters of one part of an IPv4 address in any of its spellings.
const IPV4_PART_CHARS_MAX: usize = 16;
/// Most characters of a scheme that a message repeats.
const SCHEME_CHARS_MAX: usize = 32;

/// A document's origin: what rules and grants are bound to. Equal origins have equal texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson)]
#[serde(try_from = "String", into = "String")]
pub struct Origin {
    scheme: WebScheme,
    host: String,
    port: u16,
}

/// The schemes of origins that pages can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebScheme {
    /// Plain.
    Http,
    /// Encrypted.
    Https,
}

impl WebScheme {
    /// The name in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// Reads `scheme://host[:port]`; a path, a query or user info is refused.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        match Place::parse(text)? {
            Place::Web(url) | Place::Store(url) if url.rest == "/" && !url.had_user_info => Ok(url.origin),
            Place::Web(_) | Place::Store(_) => Err(UrlProblem::MoreThanOrigin),
            Place::Blank
            | Place::Script { .. }
            | Place::File
            | Place::Browser { .. }
            | Place::Extension
            | Place::Other { .. } => Err(UrlProblem::NotWeb),
        }
    }

    /// The host: lower case, ASCII, without a trailing dot; IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

impl TryFrom<String> for Origin {
    type Error = UrlProblem;

    fn try_from(text: String) -> Result<Self, UrlProblem> {
        Self::parse(&text)
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

/// An address of a web page, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl {
    /// Where it is.
    pub origin: Origin,
    /// Path, query and fragment as they were written; begins with `/`.
    pub rest: String,
    /// Whether a user's name stood before the host. It is not part of [`Self::href`]: it only serves to deceive.
    pub had_user_info: bool,
}

impl WebUrl {
    /// The address to open: the judged origin, then path, query and fragment.
    pub fn href(&self) -> String {
        format!("{}{}", self.origin, self.rest)
    }
}

/// Where a document is or a call goes, by what the permission system must tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An ordinary web page.
    Web(WebUrl),
    /// A store of browser extensions: could change the browser itself.
    Store(WebUrl),
    /// An empty page without an origin of its own.
    Blank,
    /// An address that is itself a program or a document: `javascript:`, `vbscript:`, `data:`.
    Script {
        /// Which of them.
        scheme: String,
    },
    /// A file of the user's machine.
    File,
    /// A page of the browser itself.
    Browser {
        /// Its scheme.
        scheme: String,
    },
    /// A page of an extension.
    Extension,
    /// A scheme that is none of these.
    Other {
        /// The scheme, cut.
        scheme: String,
    },
}

impl Place {
    /// Reads an address as Chrome would.
    ///
    /// # Errors
    /// What is wrong with the text; such an address must not be opened.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        if text.chars().nth(URL_CHARS_MAX).is_some() {
            return Err(UrlProblem::TooLong);
        }
        // Chrome drops these, so that a scheme cannot hide behind them.
        let cleaned: String = text
            .trim_matches(|c: char| c <= ' ')
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
            .collect();
        let (scheme, rest) = split_scheme(&cleaned)?;
        match scheme.as_str() {
            "http" => web(WebScheme::Http, rest),
            "https" => web(WebScheme::Https, rest),
            "javascript" | "data" | "vbscript" => Ok(Self::Script { scheme }),
            "file" => Ok(Self::File),
            "about" => match rest.split(['?', '#']).next() {
                Some("blank" | "srcdoc") => Ok(Self::Blank),
                Some(_) | None => Ok(Self::Browser { scheme }),
            },
            "chrome" | "chrome-untrusted" | "chrome-search" | "chrome-native" | "chrome-error" | "edge"
            | "brave" | "opera" | "vivaldi" | "devtools" | "view-source" | "isolated-app" => {
                Ok(Self::Browser { scheme })
            }
            "chrome-extension" | "moz-extension" | "extension" | "safari-web-extension" => {
                Ok(Self::Extension)
            }
            _ => Ok(Self::Other { scheme: scheme.chars().take(SCHEME_CHARS_MAX).collect() }),
        }
    }

    /// The origin, where there is one.
    pub fn origin(&self) -> Option<&Origin> {
        self.web().map(|url| &url.origin)
    }

    /// The web address, where it is one.
    pub fn web(&self) -> Option<&WebUrl> {
        match self {
            Self::Web(url) | Self::Store(url) => Some(url),
            Self::Blank
            | Self::Script { .. }
            | Self::File
            | Self::Browser { .. }
            | Self::Extension
            | Self::Other { .. } => None,
        }
    }
}

impl fmt::Display for Place {
    /// What a person is shown: an origin, or the kind of page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(url) | Self::Store(url) => url.origin.fmt(f),
            Self::Blank => f.write_str("about:blank"),
            Self::File => f.write_str("file:"),
            Self::Extension => f.write_str("an extension's page"),
            Self::Script { scheme } | Self::Browser { scheme } | Self::Other { scheme } => {
                write!(f, "{scheme}:")
            }
        }
    }
}

/// Why an address or a pattern was not read. The text is for people and models alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// Too long.
    #[error("longer than {URL_CHARS_MAX} characters")]
    TooLong,
    /// Empty, relative, or a bare host.
    #[error("has no scheme; write the whole address, such as https://example.com/path")]
    NoScheme,
    /// Nothing where the host should be.
    #[error("has no host")]
    NoHost,
    /// A host in letters that Chrome would convert first.
    #[error("the host has letters outside ASCII; write it in punycode (xn--...), as the browser shows it")]
    HostNotAscii,
    /// A host with characters that no host has.
    #[error("the host has a character that no host may have")]
    HostCharacter,
    /// Two dots in a row, a dot at the front, or too long.
    #[error("the host has an empty part or is too long")]
    HostForm,
    /// Ends in a number but is no IPv4 address.
    #[error("the host looks like an IPv4 address but is none")]
    Ipv4,
    /// Brackets without an IPv6 address.
    #[error("the host in brackets is no IPv6 address")]
    Ipv6,
    /// Not a number up to 65535.
    #[error("the port is not a number from 0 to 65535")]
    Port,
    /// An origin with a path or the like.
    #[error("more than scheme, host and port; leave out path, query and user")]
    MoreThanOrigin,
    /// An origin of another scheme.
    #[error("only http and https addresses have an origin that a rule can name")]
    NotWeb,
    /// A star somewhere else.
    #[error("a star may only stand alone or first, as *.example.com")]
    Star,
    /// A host without a scheme and without a star.
    #[error("write https://example.com for one origin, *.example.com for a host with all below it, or *")]
    BareHost,
    /// An address in numbers with a star before it.
    #[error("an address in numbers has no subdomains")]
    StarBeforeNumbers,
}

fn split_scheme(text: &str) -> Result<(String, &str), UrlProblem> {
    let (scheme, rest) = text.split_once(':').ok_or(UrlProblem::NoScheme)?;
    let mut letters = scheme.bytes();
    let well_formed = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && letters.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if well_formed { Ok((scheme.to_ascii_lowercase(), rest)) } else { Err(UrlProblem::NoScheme) }
}

fn web(scheme: WebScheme, text: &str) -> Result<Place, UrlProblem> {
    // Chrome takes any number of slashes of either kind here.
    let text = text.trim_start_matches(['/', '\\']);
    let end = text.find(['/', '\\', '?', '#']).unwrap_or(text.len());
    let (authority, tail) = text.split_at_checked(end).ok_or(UrlProblem::NoHost)?;
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, host_port)) => (Some(user), host_port),
        None => (None, authority),
    };
    let (host, port) = split_port(host_port)?;
    let origin =
        Origin { scheme, host: parse_host(host)?, port: port.unwrap_or_else(|| scheme.default_port()) };
    // A backslash in the path is a slash to Chrome; in query and fragment it is itself.
    let path_end = tail.find(['?', '#']).unwrap_or(tail.len());
    let (path, after) = tail.split_at_checked(path_end).unwrap_or((tail, ""));
    let path = path.replace('\\', "/");
    let slash = if path.is_empty() { "/" } else { "" };
    let url = WebUrl { origin, rest: format!("{slash}{path}{after}"), had_user_info: user.is_some() };
    Ok(if is_store(&url) { Place::Store(url) } else { Place::Web(url) })
}

/// Stores from which browsers of the Chromium family install extensions.
fn is_store(url: &WebUrl) -> bool {
    let below = |path: &str| {
        url.rest.strip_prefix(path).is_some_and(|more| more.is_empty() || more.starts_with(['/', '?', '#']))
    };
    match url.origin.host.as_str() {
        "chromewebstore.google.com" | "addons.opera.com" => true,
        "chrome.google.com" => below("/webstore"),
        "microsoftedge.microsoft.com" => below("/addons"),
        _ => false,
    }
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), UrlProblem> {
    // The colons of an IPv6 address are inside brackets.
    let after_bracket = text.rfind(']').map_or(0, |at| at + 1);
    let (_, tail) = text.split_at_checked(after_bracket).ok_or(UrlProblem::Ipv6)?;
    let Some(colon) = tail.find(':') else { return Ok((text, None)) };
    let (host, port) = text.split_at_checked(after_bracket + colon).ok_or(UrlProblem::Port)?;
    let digits = port.trim_start_matches(':');
    if digits.is_empty() && port.len() == 1 {
        return Ok((host, None));
    }
    let all_digits = port.len() == digits.len() + 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = if all_digits { digits.parse().ok() } else { None };
    port.map(|port| (host, Some(port))).ok_or(UrlProblem::Port)
}

fn parse_host(text: &str) -> Result<String, UrlProblem> {
    if text.is_empty() {
        return Err(UrlProblem::NoHost);
    }
    if let Some(inside) = text.strip_prefix('[') {
        let address = inside.strip_suffix(']').and_then(|inside| inside.parse::<Ipv6Addr>().ok());
        return address.map(|address| format!("[{address}]")).ok_or(UrlProblem::Ipv6);
    }
    let decoded = percent_decoded(text).ok_or(UrlProblem::HostCharacter)?;
    if !decoded.is_ascii() {
        return Err(UrlProblem::HostNotAscii);
    }
    if decoded.bytes().any(is_forbidden_in_host) {
        return Err(UrlProblem::HostCharacter);
    }
    let lower = decoded.to_ascii_lowercase();
    let host = lower.strip_suffix('.').unwrap_or(&lower);
    if host.is_empty() || host.len() > HOST_CHARS_MAX || host.split('.').any(str::is_empty) {
        return Err(UrlProblem::HostForm);
    }
    if ends_in_number(host) {
        return ipv4(host).map(|address| address.to_string()).ok_or(UrlProblem::Ipv4);
    }
    Ok(host.to_owned())
}

fn is_forbidden_in_host(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f || b"#/:<>?@[\\]^|%\"`{}*".contains(&byte)
}

/// The text with `%XX` replaced; `None` for a broken escape or bytes that are no UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_hex =
        last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_hex || last.bytes().all(|byte| byte.is_ascii_digit())
}

/// An IPv4 address in any spelling that Chrome takes: fewer parts, octal, hexadecimal, one large number.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts = host.split('.').map(ipv4_part).collect::<Option<Vec<u64>>>()?;
    let (last, front) = parts.split_last()?;
    if front.len() > 3 || front.iter().any(|part| *part > 255) {
        return None;
    }
    let free_bytes = 4 - front.len();
    if *last >= 1_u64 << (8 * free_bytes) {
        return None;
    }
    let mut address = *last;
    for (place, part) in front.iter().enumerate() {
        address += part << (8 * (3 - place));
    }
    u32::try_from(address).ok().map(Ipv4Addr::from)
}

fn ipv4_part(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > IPV4_PART_CHARS_MAX {
        return None;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return if hex.is_empty() { Some(0) } else { u64::from_str_radix(hex, 16).ok() };
    }
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        Some(_) | None => text.parse().ok(),
    }
}

/// Which origins a rule means.
///
/// The whole grammar: `*` is every place; `https://host[:port]` is that origin alone; `*.example.com` is that host
/// and every host below it, whatever scheme and port. Nothing else is a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginPattern {
    /// `*`
    Any,
    /// `*.example.com`; holds the part after `*.`.
    Below(String),
    /// One origin.
    Exact(Origin),
}

impl OriginPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The rule of the grammar that the text breaks.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(host) = text.strip_prefix("*.") {
            if host.contains('*') {
                return Err(UrlProblem::Star);
            }
            if host.contains([':', '/', '%']) {
                return Err(UrlProblem::HostCharacter);
            }
            let host = parse_host(host)?;
            return if ends_in_number(&host) {
                Err(UrlProblem::StarBeforeNumbers)
            } else {
                Ok(Self::Below(host))
            };
        }
        if text.contains('*') {
            return Err(UrlProblem::Star);
        }
        if !text.contains("://") {
            return Err(UrlProblem::BareHost);
        }
        Origin::parse(text).map(Self::Exact)
    }

    /// Whether the pattern means the place. Only `*` means places without an origin.
    pub fn matches(&self, place: Option<&Origin>) -> bool {
        match (self, place) {
            (Self::Any, _) => true,
            (Self::Below(_) | Self::Exact(_), None) => false,
            (Self::Below(base), Some(origin)) => {
                origin.host == *base
                    || origin.host.strip_suffix(base.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            (Self::Exact(exact), Some(origin)) => exact == origin,
        }
    }

    /// How narrow the pattern is: greater is narrower.
    pub(super) fn narrowness(&self) -> (u8, usize) {
        match self {
            Self::Any => (0, 0),
            Self::Below(base) => (1, base.len()),
            Self::Exact(_) => (2, 0),
        }
    }
}

#[cfg(test)]
#[path = "origins_tests.rs"]
mod tests;
