//! Base URLs: what a user types or pastes becomes one canonical form, and endpoints are built from that form alone.
//!
//! The parser is stricter than a browser's: what a browser would silently reinterpret (`127.1`, back-slashes,
//! percent-encoded hosts, `user@host`) is refused with its reason, so that the address shown is the address used.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::types::Kind;

/// The longest base URL, in bytes.
pub const URL_BYTES_MAX: usize = 2048;
/// The longest host name, in bytes.
const HOST_BYTES_MAX: usize = 253;
/// The longest label of a host name, in bytes.
const LABEL_BYTES_MAX: usize = 63;
/// Query parameters that would carry a key in plain sight.
const CREDENTIAL_PARAMETERS: [&str; 8] =
    ["key", "api_key", "api-key", "apikey", "token", "access_token", "secret", "password"];

/// A base URL in canonical form: lower-case host, no default port, no trailing slash, no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: Scheme,
    host: String,
    port: Option<u16>,
    path: String,
    query: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Https,
    Http,
}

/// Where a host lies, as far as its name or number tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostClass {
    /// This machine: `localhost`, `*.localhost`, 127.0.0.0/8, `[::1]`.
    Loopback,
    /// A private or link-local range.
    Private,
    /// Anything else.
    Public,
}

/// Something that the user should see about what became of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlNote {
    /// No scheme was given: `https` was put in front, or `http` for this machine.
    SchemeAdded,
    /// A full endpoint was pasted: this end of its path was taken off.
    EndpointRemoved {
        /// The part that was taken off.
        path: String,
    },
    /// Most endpoints of this kind have a version in their path, such as `/v1`. Only a hint: some have none.
    VersionMissing,
    /// Plain `http` to a private address: everybody on that network can read the key.
    PlainHttp,
    /// The part behind `#` was dropped.
    FragmentRemoved,
}

/// A canonical base URL and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normalised {
    /// The URL.
    pub base: BaseUrl,
    /// Notes, in the order in which the changes were made.
    pub notes: Vec<UrlNote>,
}

/// Why an address cannot be a base URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing was entered.
    #[error("enter an address")]
    Empty,
    /// Too long.
    #[error("the address is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// White space, a control character or a back-slash.
    #[error("the address contains `{}`, which an address cannot contain", .0.escape_default())]
    BadCharacter(char),
    /// Not http or https.
    #[error("the scheme is `{0}`; it must be https or http")]
    BadScheme(String),
    /// `http` to a host that is neither this machine nor in a private range.
    #[error("plain http is only for this machine and private addresses; use https for `{0}`")]
    PlainHttpRefused(String),
    /// A user name or password.
    #[error("the address contains a user name or password; enter the key in its own field")]
    Credentials,
    /// A query parameter that looks like a key.
    #[error("the query parameter `{0}` looks like a key; enter the key in its own field")]
    CredentialParameter(String),
    /// No host.
    #[error("the address has no host")]
    HostMissing,
    /// A host with letters outside ASCII.
    #[error("the host `{0}` has letters outside ASCII; enter its xn-- form")]
    HostNotAscii(String),
    /// A host that is not a name, an IPv4 or a bracketed IPv6 address.
    #[error("`{0}` is not a host name or an IP address in its usual form")]
    BadHost(String),
    /// A port that is not 1 to 65535.
    #[error("the port `{0}` is not a number from 1 to 65535")]
    BadPort(String),
    /// A path with `..` or `.` segments, or with characters outside ASCII.
    #[error("the path `{0}` must not have `.` or `..` segments or letters outside ASCII")]
    BadPath(String),
}

impl BaseUrl {
    /// Reads what the user entered for an endpoint of `kind`. Reading a canonical form gives the same form.
    ///
    /// # Errors
    /// When it cannot be an address that a key may be sent to.
    pub fn parse(kind: Kind, input: &str) -> Result<Normalised, UrlError> {
        let input = input.trim();
        check_characters(input)?;
        let mut notes = Vec::new();
        let (rest, had_fragment) = match input.split_once('#') {
            Some((before, _)) => (before, true),
            None => (input, false),
        };
        let (scheme, rest) = split_scheme(rest)?;
        let (rest, query) = match rest.split_once('?') {
            Some((before, query)) => (before, Some(query).filter(|query| !query.is_empty())),
            None => (rest, None),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at_checked(at).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let (host, port) = parse_authority(authority)?;
        let class = classify(&host);
        let scheme = scheme.unwrap_or_else(|| {
            notes.push(UrlNote::SchemeAdded);
            // A server on this machine practically never speaks TLS.
            if class == HostClass::Loopback { Scheme::Http } else { Scheme::Https }
        });
        match (scheme, class) {
            (Scheme::Http, HostClass::Public) => return Err(UrlError::PlainHttpRefused(host)),
            (Scheme::Http, HostClass::Private) => notes.push(UrlNote::PlainHttp),
            (Scheme::Http, HostClass::Loopback) | (Scheme::Https, _) => {}
        }
        check_query(query)?;
        let path = canonical_path(kind, path, &mut notes)?;
        if had_fragment {
            notes.push(UrlNote::FragmentRemoved);
        }
        let port = port.filter(|port| *port != scheme.default_port());
        let base = Self { scheme, host, port, path, query: query.map(str::to_owned) };
        Ok(Normalised { base, notes })
    }

    /// The URL of `path` (without a leading slash) below the base, with the base's query kept.
    #[must_use]
    pub fn endpoint(&self, path: &str) -> String {
        self.write(&format!("{}/{path}", self.path))
    }

    /// Scheme, host and port: what a host permission is asked for, and what a redirect must not leave.
    #[must_use]
    pub fn origin(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.scheme.as_str(), self.host)
    }

    /// The host, in lower case; an IPv6 address in its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Where the host lies.
    #[must_use]
    pub fn host_class(&self) -> HostClass {
        classify(&self.host)
    }

    fn write(&self, path: &str) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{path}{query}", self.origin())
    }
}

impl fmt::Display for BaseUrl {
    /// The canonical form, which is what to store.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.write(&self.path))
    }
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

fn check_characters(input: &str) -> Result<(), UrlError> {
    if input.is_empty() {
        return Err(UrlError::Empty);
    }
    if input.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong);
    }
    match input.chars().find(|c| c.is_whitespace() || c.is_control() || *c == '\\') {
        Some(c) => Err(UrlError::BadCharacter(c)),
        None => Ok(()),
    }
}

fn split_scheme(input: &str) -> Result<(Option<Scheme>, &str), UrlError> {
    let Some((scheme, rest)) = input.split_once("://") else { return Ok((None, input)) };
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Ok((Some(Scheme::Https), rest)),
        "http" => Ok((Some(Scheme::Http), rest)),
        // `host/path?next=https://…` has its `://` behind a slash or a query: there the scheme is missing.
        other if other.contains(['/', '?']) => Ok((None, input)),
        other => Err(UrlError::BadScheme(other.to_owned())),
    }
}

fn parse_authority(authority: &str) -> Result<(String, Option<u16>), UrlError> {
    if authority.contains('@') {
        return Err(UrlError::Credentials);
    }
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (address, rest) =
            bracketed.split_once(']').ok_or_else(|| UrlError::BadHost(authority.to_owned()))?;
        let address: Ipv6Addr = address.parse().map_err(|_| UrlError::BadHost(authority.to_owned()))?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(parse_port(port)?),
            None if rest.is_empty() => None,
            None => return Err(UrlError::BadHost(authority.to_owned())),
        };
        return Ok((format!("[{address}]"), port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(parse_port(port)?)),
        None => (authority, None),
    };
    Ok((parse_name(host)?, port))
}

fn parse_port(port: &str) -> Result<u16, UrlError> {
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { port.parse().ok() } else { None };
    number.filter(|port| *port != 0).ok_or_else(|| UrlError::BadPort(port.to_owned()))
}

fn parse_name(host: &str) -> Result<String, UrlError> {
    if host.is_empty() {
        return Err(UrlError::HostMissing);
    }
    if !host.is_ascii() {
        return Err(UrlError::HostNotAscii(host.to_owned()));
    }
    let host = host.to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let looks_numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    let is_good = host.len() <= HOST_BYTES_MAX
        && host.split('.').all(is_label)
        && (!looks_numeric || host.parse::<Ipv4Addr>().is_ok());
    if is_good { Ok(host) } else { Err(UrlError::BadHost(host)) }
}

fn classify(host: &str) -> HostClass {
    if host == "localhost" || host.ends_with(".localhost") {
        return HostClass::Loopback;
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return classify_v4(address);
    }
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed.and_then(|address| address.parse::<Ipv6Addr>().ok()) {
        Some(address) if address.is_loopback() => HostClass::Loopback,
        Some(address) => match address.to_ipv4_mapped() {
            Some(mapped) => classify_v4(mapped),
            None if address.is_unique_local() || address.is_unicast_link_local() => HostClass::Private,
            None => HostClass::Public,
        },
        None => HostClass::Public,
    }
}

fn classify_v4(address: Ipv4Addr) -> HostClass {
    if address.is_loopback() {
        HostClass::Loopback
    } else if address.is_private() || address.is_link_local() {
        HostClass::Private
    } else {
        HostClass::Public
    }
}

fn check_query(query: Option<&str>) -> Result<(), UrlError> {
    let names = query.into_iter().flat_map(|query| query.split('&'));
    for name in names.map(|pair| pair.split('=').next().unwrap_or(pair)) {
        if CREDENTIAL_PARAMETERS.iter().any(|credential| name.eq_ignore_ascii_case(credential)) {
            return Err(UrlError::CredentialParameter(name.to_owned()));
        }
    }
    Ok(())
}

fn canonical_path(kind: Kind, path: &str, notes: &mut Vec<UrlNote>) -> Result<String, UrlError> {
    let is_dots = |segment: &str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    };
    if !path.is_ascii() || path.split('/').any(is_dots) {
        return Err(UrlError::BadPath(path.to_owned()));
    }
    let path = path.trim_end_matches('/');
    // The longest endings come first. On the Anthropic wire the version belongs to the endpoint, not to the base.
    let endings: &[&str] = match kind {
        Kind::Openai => &["/chat/completions", "/completions", "/responses", "/models"],
        Kind::Anthropic => &["/v1/messages", "/v1/models", "/v1/complete", "/messages", "/v1"],
    };
    let stripped = endings.iter().find_map(|ending| path.strip_suffix(ending).map(|base| (base, *ending)));
    let path = match stripped {
        Some((base, ending)) => {
            notes.push(UrlNote::EndpointRemoved { path: ending.to_owned() });
            base.trim_end_matches('/')
        }
        None => path,
    };
    let has_version = path.split('/').any(is_version) || path.contains("/deployments/");
    if kind == Kind::Openai && !has_version {
        notes.push(UrlNote::VersionMissing);
    }
    Ok(path.to_owned())
}

/// `v1`, `v4`, `v1beta`, …
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').and_then(|rest| rest.bytes().next()).is_some_and(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use UrlNote as N;

    #[track_caller]
    fn check(kind: Kind, input: &str, want: &str, notes: &[UrlNote]) {
        let got = BaseUrl::parse(kind, input).unwrap();
        assert_eq!((got.base.to_string().as_str(), got.notes.as_slice()), (want, notes), "{input}");
        let again = BaseUrl::parse(kind, want).unwrap();
        assert_eq!(again.base, got.base, "the canonical form of {input} reads as itself");
    }

    fn removed(path: &str) -> UrlNote {
        N::EndpointRemoved { path: path.into() }
    }

    #[test]
    fn spellings_of_an_openai_base_become_one_form() {
        let base = "https://api.example.com/v1";
        check(Kind::Openai, base, base, &[]);
        check(Kind::Openai, " https://API.Example.com:443/v1// ", base, &[]);
        check(Kind::Openai, "api.example.com/v1", base, &[N::SchemeAdded]);
        check(
            Kind::Openai,
            "https://api.example.com/v1/chat/completions",
            base,
            &[removed("/chat/completions")],
        );
        check(
            Kind::Openai,
            "HTTPS://api.example.com/v1/chat/completions/",
            base,
            &[removed("/chat/completions")],
        );
        check(Kind::Openai, "https://api.example.com/v1#top", base, &[N::FragmentRemoved]);
        check(Kind::Openai, "https://api.example.com/", "https://api.example.com", &[N::VersionMissing]);
        check(
            Kind::Openai,
            "https://api.example.com/api/paas/v4",
            "https://api.example.com/api/paas/v4",
            &[],
        );
        check(Kind::Openai, "https://g.example/v1beta/openai/", "https://g.example/v1beta/openai", &[]);
    }

    #[test]
    fn a_query_is_kept_behind_the_endpoint() {
        let azure = "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21";
        check(Kind::Openai, azure, azure, &[]);
        let base = BaseUrl::parse(Kind::Openai, azure).unwrap().base;
        assert_eq!(
            base.endpoint("chat/completions"),
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
        );
        let pasted =
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21";
        check(Kind::Openai, pasted, azure, &[removed("/chat/completions")]);
    }

    #[test]
    fn an_anthropic_base_never_holds_the_version_that_its_endpoint_has() {
        let base = "https://api.anthropic.com";
        check(Kind::Anthropic, base, base, &[]);
        check(Kind::Anthropic, "https://api.anthropic.com/v1/", base, &[removed("/v1")]);
        check(Kind::Anthropic, "https://api.anthropic.com/v1/messages", base, &[removed("/v1/messages")]);
        check(Kind::Anthropic, "https://x.example/anthropic", "https://x.example/anthropic", &[]);
        let parsed = BaseUrl::parse(Kind::Anthropic, base).unwrap().base;
        assert_eq!(parsed.endpoint("v1/messages"), "https://api.anthropic.com/v1/messages");
    }

    #[test]
    fn plain_http_is_for_this_machine_and_with_a_warning_for_private_ranges() {
        check(Kind::Openai, "localhost:11434/v1", "http://localhost:11434/v1", &[N::SchemeAdded]);
        check(Kind::Openai, "http://127.3.2.1:80/v1", "http://127.3.2.1/v1", &[]);
        check(Kind::Openai, "http://[0:0::1]:1234/v1", "http://[::1]:1234/v1", &[]);
        check(Kind::Openai, "http://a.localhost/v1", "http://a.localhost/v1", &[]);
        for host in ["10.0.0.1", "172.16.0.1", "192.168.1.5:8000", "169.254.1.1", "[fd00::1]", "[fe80::1]"] {
            let url = format!("http://{host}/v1");
            check(Kind::Openai, &url, &url, &[N::PlainHttp]);
        }
        for host in ["api.example.com", "172.32.0.1", "localhost.example.com", "[2001:db8::1]", "0.0.0.0"] {
            let got = BaseUrl::parse(Kind::Openai, &format!("http://{host}/v1"));
            assert_eq!(got, Err(UrlError::PlainHttpRefused(host.into())), "{host}");
        }
    }

    #[test]
    fn an_address_that_hides_where_it_goes_is_refused_with_its_reason() {
        use UrlError as E;
        let cases = [
            ("", E::Empty),
            ("https://", E::HostMissing),
            ("//api.example.com", E::HostMissing),
            ("https://user:pw@api.example.com", E::Credentials),
            ("https://api.example.com@evil.example", E::Credentials),
            ("https://api.example.com/v1?api_key=k", E::CredentialParameter("api_key".into())),
            ("ftp://api.example.com", E::BadScheme("ftp".into())),
            ("javascript:alert(1)", E::BadPort("alert(1)".into())),
            ("https://api.example.com\\@evil", E::BadCharacter('\\')),
            ("https://api example.com", E::BadCharacter(' ')),
            ("https://例え.jp/v1", E::HostNotAscii("例え.jp".into())),
            ("https://a%2eb/v1", E::BadHost("a%2eb".into())),
            ("https://127.1/v1", E::BadHost("127.1".into())),
            ("https://2130706433/v1", E::BadHost("2130706433".into())),
            ("https://0x7f.0.0.1/v1", E::BadHost("0x7f.0.0.1".into()).clone()),
            ("https://1.0x7f/v1", E::BadHost("1.0x7f".into())),
            ("https://api.example.com./v1", E::BadHost("api.example.com.".into())),
            ("https://[::1/v1", E::BadHost("[::1".into())),
            ("https://[::1]x/v1", E::BadHost("[::1]x".into())),
            ("https://api.example.com:0/v1", E::BadPort("0".into())),
            ("https://api.example.com:65536/v1", E::BadPort("65536".into())),
            ("https://api.example.com:+1/v1", E::BadPort("+1".into())),
            ("https://api.example.com/a/../v1", E::BadPath("/a/../v1".into())),
            ("https://api.example.com/a/%2E%2e/v1", E::BadPath("/a/%2E%2e/v1".into())),
            ("https://api.example.com/é", E::BadPath("/é".into())),
        ];
        for (input, want) in cases {
            assert_eq!(BaseUrl::parse(Kind::Openai, input), Err(want), "{input}");
        }
        assert_eq!(BaseUrl::parse(Kind::Openai, &"a".repeat(3000)), Err(E::TooLong));
    }

    #[test]
    fn an_origin_has_scheme_host_and_odd_port_only() {
        let origin = |url| BaseUrl::parse(Kind::Openai, url).unwrap().base.origin();
        assert_eq!(origin("https://api.example.com:443/v1?x=1"), "https://api.example.com");
        assert_eq!(origin("http://[::1]:8080/v1"), "http://[::1]:8080");
    }
}
