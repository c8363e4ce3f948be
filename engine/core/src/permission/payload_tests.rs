//! What is sensitive in a payload is seen, and what is ordinary is not.

use super::*;

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn found(texts: &[&str], field: Option<SensitiveField>, field_name: &str) -> Vec<Finding> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let payload = Payload { texts: &texts, field, field_name, to: None };
    inspect(&payload, &["Me@Home.test".to_owned()], &Taints::default())
}

#[test]
fn card_numbers_are_found_by_start_length_and_check_digit() {
    let table = [
        ("4111 1111 1111 1111", true),
        ("card: 5555-5555-5555-4444.", true),
        ("378282246310005", true),
        ("2223003122003222", true),
        ("4111111111111112", false),
        ("order 9781111111111 of 2026", false),
        ("4111  1111 1111 1111", false),
        ("tel 4915 112", false),
        ("411111111111111111111111", false),
        ("", false),
    ];
    for (text, expected) in table {
        assert_eq!(has_card_number(text), expected, "{text:?}");
    }
}

#[test]
fn each_kind_of_sensitive_text_is_found() {
    let table: [(&str, &[Finding]); 12] = [
        ("hello world", &[]),
        ("pay with 4111111111111111", &[Finding::CardNumber]),
        ("write to you@there.test today", &[Finding::ForeignEmail]),
        ("write to me@home.test today", &[]),
        ("@someone and a@b", &[]),
        ("sk-proj-A8dK2mZp0q9rT5vX7yB1", &[Finding::CredentialText]),
        ("key=ghp_0123456789abcdefghijABCDEFGHIJ", &[Finding::CredentialText]),
        ("AKIAIOSFODNN7EXAMPLE", &[Finding::CredentialText]),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", &[Finding::CredentialText]),
        ("-----BEGIN RSA PRIVATE KEY-----", &[Finding::CredentialText]),
        ("risk-averse sk-learn AKIA", &[]),
        ("   ", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(found(&[text], None, ""), expected, "{text:?}");
    }
}

#[test]
fn a_field_that_takes_a_secret_is_found_by_kind_or_name() {
    let table = [
        (Some(SensitiveField::Password), "", vec![Finding::PasswordField]),
        (Some(SensitiveField::OneTimeCode), "", vec![Finding::OneTimeCodeField]),
        (Some(SensitiveField::Card), "Number", vec![Finding::CardField]),
        (None, "API_KEY", vec![Finding::CredentialField]),
        (None, "Your PIN", vec![Finding::CredentialField]),
        (None, "密码", vec![Finding::CredentialField]),
        (None, "Shipping address", vec![]),
    ];
    for (field, name, expected) in table {
        assert_eq!(found(&["x"], field, name), expected, "{name:?}");
    }
    assert_eq!(found(&[""], Some(SensitiveField::Password), ""), vec![], "nothing is typed");
}

#[test]
fn a_value_read_on_one_site_is_recognised_on_its_way_to_another() {
    let (a, b) = (origin("https://a.test"), origin("https://b.test"));
    let mut taints = Taints::default();
    taints.record(&a, "- text: \"Your code is SECRET-4711-9922, balance 10,482.77 EUR\"\n- text: \"会员编号属于张三丰先生所有\"");
    taints.record(&a, "- link \"Story\" [ref=kq1] [url=/2026/11/story-12345678.html]");
    let table = [
        ("secret-4711-9922", true),
        ("code=SECRET-4711-9922;", true),
        ("it says: your code is secret, they say", false),
        ("the balance is 10,482.77 today", true),
        ("编号属于张三丰先生", true),
        ("张三丰", false),
        ("code balance EUR", false),
    ];
    for (text, expected) in table {
        assert_eq!(taints.sources(text, Some(&b)) == vec![a.clone()], expected, "{text}");
        assert_eq!(taints.sources(text, Some(&a)), vec![], "{text}: back to where it came from");
    }
    let link = address_parts("/2026/11/story-12345678.html");
    assert!(
        link.iter().all(|part| taints.sources(part, Some(&b)).is_empty()),
        "a page's link can be followed"
    );
}

#[test]
fn an_address_that_carries_a_value_out_is_recognised() {
    let (a, b) = (origin("https://a.test"), origin("https://b.test"));
    let mut taints = Taints::default();
    taints.record(&a, "Token ABC12345XYZ and the quarterly revenue forecast numbers");
    for rest in ["/p.png?d=ABC12345XYZ", "/%41BC12345XYZ", "/s?q=quarterly+revenue+forecast+numbers#x"] {
        let carried: Vec<Origin> =
            address_parts(rest).iter().flat_map(|part| taints.sources(part, Some(&b))).collect();
        assert_eq!(carried, vec![a.clone()], "{rest}");
    }
}

#[test]
fn what_the_user_said_or_both_sites_show_is_free() {
    let (a, b) = (origin("https://a.test"), origin("https://b.test"));
    let mut taints = Taints::default();
    taints.record(&a, "order 2026-000123 and 2026-000999");
    taints.record(&b, "order 2026-000999");
    taints.record_own("please enter 2026-000123 there");
    assert_eq!(taints.sources("2026-000123", Some(&b)), vec![]);
    assert_eq!(taints.sources("2026-000999", Some(&b)), vec![]);
}

#[test]
fn the_oldest_values_are_forgotten_first_and_taints_survive_storage() {
    let a = origin("https://a.test");
    let mut taints = Taints::default();
    taints.record(&a, "oldest-0000001");
    let many: String = (0..TAINT_VALUES_COUNT_MAX + 10).map(|n| format!("v{n:09} ")).collect();
    taints.record(&a, &many);
    taints.record(&a, "newest-0000002");
    assert!(taints.values.len() <= TAINT_VALUES_COUNT_MAX && taints.order.len() == taints.values.len());
    assert_eq!(taints.sources("oldest-0000001", None), vec![]);
    assert_eq!(taints.sources("newest-0000002", None), vec![a]);
    let stored = serde_json::to_string(&taints).unwrap();
    assert_eq!(serde_json::from_str::<Taints>(&stored).unwrap(), taints);
}

#[test]
fn a_finding_never_repeats_the_value() {
    let (a, b) = (origin("https://a.test"), origin("https://b.test"));
    let mut taints = Taints::default();
    taints.record(&a, "SECRET-4711-9922");
    let texts = ["SECRET-4711-9922".to_owned()];
    let payload = Payload { texts: &texts, field: None, field_name: "", to: Some(&b) };
    let phrases: Vec<String> = inspect(&payload, &[], &taints).iter().map(Finding::phrase).collect();
    assert_eq!(phrases, vec!["a value that was read on https://a.test"]);
}
