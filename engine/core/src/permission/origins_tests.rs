//! Origins and patterns compare as browsers do, whatever tricks an address plays.

use super::*;

fn opened(text: &str) -> String {
    match Place::parse(text) {
        Ok(place) => place.to_string(),
        Err(problem) => format!("refused: {problem}"),
    }
}

const NOT_ASCII: &str =
    "refused: the host has letters outside ASCII; write it in punycode (xn--...), as the browser shows it";
const BAD_IPV4: &str = "refused: the host looks like an IPv4 address but is none";

/// Every line is a way to make a host look like another one, against one rule for `https://bank.test`.
#[test]
fn a_host_is_judged_by_the_origin_that_chrome_would_open() {
    let rule = OriginPattern::parse("https://bank.test").unwrap();
    let table = [
        ("https://bank.test/", "https://bank.test", true),
        ("HTTPS://BANK.Test/x", "https://bank.test", true),
        ("https://bank.test.:443/", "https://bank.test", true),
        ("https://bank%2Etest/", "https://bank.test", true),
        ("\u{1}https:\\\\bank.test\\login", "https://bank.test", true),
        ("ht\ntps://ba\tnk.test/", "https://bank.test", true),
        ("https://bank.test@evil.test/", "https://evil.test", false),
        ("https://evil.test\\@bank.test/", "https://evil.test", false),
        ("https://user:pass@bank.test/", "https://bank.test", true),
        ("https://bank.test:8443/", "https://bank.test:8443", false),
        ("http://bank.test/", "http://bank.test", false),
        ("https://bank.test.evil.test/", "https://bank.test.evil.test", false),
        ("https://evilbank.test/", "https://evilbank.test", false),
        ("https://bank\u{3002}test/", NOT_ASCII, false),
        ("https://b\u{430}nk.test/", NOT_ASCII, false),
        ("https://xn--bnk-7cd.test/", "https://xn--bnk-7cd.test", false),
        ("http://127.1/", "http://127.0.0.1", false),
        ("http://2130706433/", "http://127.0.0.1", false),
        ("http://0x7f.0.0.01/", "http://127.0.0.1", false),
        ("http://1.2.3.4.5/", BAD_IPV4, false),
        ("http://256.1.1.1/", BAD_IPV4, false),
        ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]", false),
        ("https://bank.test%00.evil.test/", "refused: the host has a character that no host may have", false),
        ("https://bank..test/", "refused: the host has an empty part or is too long", false),
        ("https:///bank.test", "https://bank.test", true),
        ("https://", "refused: has no host", false),
        ("https://bank.test:99999/", "refused: the port is not a number from 0 to 65535", false),
        ("https://bank.test:1:2/", "refused: the port is not a number from 0 to 65535", false),
    ];
    for (text, shown, matches) in table {
        assert_eq!(opened(text), shown, "{text:?}");
        let origin = Place::parse(text).ok().and_then(|place| place.origin().cloned());
        assert_eq!(origin.is_some_and(|origin| rule.matches(Some(&origin))), matches, "{text:?}");
    }
}

#[test]
fn places_that_are_no_web_pages_are_told_apart() {
    let script = |scheme: &str| Ok(Place::Script { scheme: scheme.to_owned() });
    let browser = |scheme: &str| Ok(Place::Browser { scheme: scheme.to_owned() });
    let table = [
        ("javascript:alert(1)", script("javascript")),
        (" JavaScript:alert(1)", script("javascript")),
        ("java\nscript:alert(1)", script("javascript")),
        ("data:text/html,x", script("data")),
        ("vbscript:x", script("vbscript")),
        ("file:///etc/passwd", Ok(Place::File)),
        ("chrome://settings", browser("chrome")),
        ("view-source:https://a.test", browser("view-source")),
        ("about:blank#x", Ok(Place::Blank)),
        ("about:config", browser("about")),
        ("chrome-extension://abc/x.html", Ok(Place::Extension)),
        ("blob:https://a.test/1", Ok(Place::Other { scheme: "blob".to_owned() })),
        ("localhost:3000", Ok(Place::Other { scheme: "localhost".to_owned() })),
        ("example.com/x", Err(UrlProblem::NoScheme)),
        ("", Err(UrlProblem::NoScheme)),
        ("//a.test", Err(UrlProblem::NoScheme)),
    ];
    for (text, expected) in table {
        assert_eq!(Place::parse(text), expected, "{text:?}");
    }
}

#[test]
fn stores_are_not_ordinary_pages() {
    let is_store = |text: &str| matches!(Place::parse(text), Ok(Place::Store(_)));
    let table = [
        ("https://chromewebstore.google.com/detail/x", true),
        ("https://chrome.google.com/webstore/detail/x", true),
        ("https://chrome.google.com\\webstore", true),
        ("https://chrome.google.com/webstores", false),
        ("https://microsoftedge.microsoft.com/addons?x", true),
        ("https://google.com/webstore", false),
    ];
    for (text, expected) in table {
        assert_eq!(is_store(text), expected, "{text}");
    }
}

#[test]
fn what_is_opened_is_what_was_judged() {
    let href = |text: &str| Place::parse(text).ok().and_then(|place| place.web().map(WebUrl::href));
    let table = [
        ("https://a.test", "https://a.test/"),
        ("https://u:p@A.test:443/x?y#z", "https://a.test/x?y#z"),
        ("https:a.test?q=\\", "https://a.test/?q=\\"),
        ("http://0x7f.1:8080\\x", "http://127.0.0.1:8080/x"),
    ];
    for (text, expected) in table {
        assert_eq!(href(text).as_deref(), Some(expected), "{text}");
        assert_eq!(href(expected).as_deref(), Some(expected), "{text} again");
    }
}

#[test]
fn a_pattern_is_one_of_three_forms() {
    let below = |base: &str| Ok(OriginPattern::Below(base.to_owned()));
    let exact = |text: &str| Origin::parse(text).map(OriginPattern::Exact);
    let table = [
        ("*", Ok(OriginPattern::Any)),
        ("*.Example.com", below("example.com")),
        ("*.gov", below("gov")),
        ("https://a.test", exact("https://a.test")),
        ("https://a.test/", exact("https://a.test")),
        ("http://a.test:8080", exact("http://a.test:8080")),
        ("a.test", Err(UrlProblem::BareHost)),
        ("https://*.a.test", Err(UrlProblem::Star)),
        ("*.a.*", Err(UrlProblem::Star)),
        ("*a.test", Err(UrlProblem::Star)),
        ("*.a.test:8080", Err(UrlProblem::HostCharacter)),
        ("*.127.0.0.1", Err(UrlProblem::StarBeforeNumbers)),
        ("*.", Err(UrlProblem::NoHost)),
        ("https://a.test/path", Err(UrlProblem::MoreThanOrigin)),
        ("https://u@a.test", Err(UrlProblem::MoreThanOrigin)),
        ("chrome://settings", Err(UrlProblem::NotWeb)),
        ("", Err(UrlProblem::BareHost)),
    ];
    for (text, expected) in table {
        assert_eq!(OriginPattern::parse(text), expected, "{text:?}");
    }
}

#[test]
fn a_star_means_the_host_itself_and_what_is_below_it() {
    let pattern = OriginPattern::parse("*.x.test").unwrap();
    let table = [
        ("https://x.test", true),
        ("http://a.b.x.test:8080", true),
        ("https://x.test.evil", false),
        ("https://evilx.test", false),
    ];
    for (text, expected) in table {
        assert_eq!(pattern.matches(Origin::parse(text).ok().as_ref()), expected, "{text}");
    }
    assert!(!pattern.matches(None), "a place without an origin");
    assert!(OriginPattern::Any.matches(None), "a star means every place");
}

#[test]
fn an_origin_survives_storage() {
    let origin = Origin::parse("http://a.test:8080").unwrap();
    let stored = serde_json::to_string(&origin).unwrap();
    assert_eq!(stored, "\"http://a.test:8080\"");
    assert_eq!(serde_json::from_str::<Origin>(&stored).unwrap(), origin);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_reading_again_changes_nothing(text in "\\PC{0,60}") {
        if let Ok(place) = Place::parse(&text) && let Some(url) = place.web() {
            proptest::prop_assert_eq!(
                Place::parse(&url.href()).map(|again| again.web().map(WebUrl::href)),
                Ok(Some(url.href()))
            );
        }
    }

    #[test]
    fn any_web_address_is_read_or_refused(host in "[a-z0-9.:@%\\\\\\[\\]x-]{0,30}", rest in "[/?#a-z@:]{0,12}") {
        if let Ok(place) = Place::parse(&format!("https://{host}{rest}")) && let Some(url) = place.web() {
            proptest::prop_assert_eq!(Origin::parse(&url.origin.to_string()), Ok(url.origin.clone()));
        }
    }
}
