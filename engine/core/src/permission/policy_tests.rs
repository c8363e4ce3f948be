//! Every row of the verdict under every policy, and what holds for all questions.

use super::*;
use panelot_protocol::content::SensitiveField;
use panelot_protocol::settings::{RuleEffect, RuleSource};
use proptest::prelude::*;

const SHOP: &str = "https://shop.test";
const POLICIES: [PermissionPolicy; 3] =
    [PermissionPolicy::Always, PermissionPolicy::Untrusted, PermissionPolicy::Auto];
const OWN_TAB: TabId = TabId(1);
const OTHER_TAB: TabId = TabId(2);

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn place(text: &str) -> Place {
    Place::parse(text).unwrap()
}

fn question(tool: &str, category: ToolCategory, effect: Effect, target: Target) -> Question {
    Question {
        tool: tool.to_owned(),
        category,
        effect,
        level: ToolLevel::L1,
        target,
        element: None,
        document: None,
        texts: vec![],
        host_access: HostAccess::Granted,
        escalation: Escalation::None,
    }
}

fn tab(tab_id: TabId, url: &str) -> Target {
    Target::Tab { tab_id, place: place(url) }
}

fn read(tab_id: TabId, url: &str) -> Question {
    question("read_page", ToolCategory::Read, Effect::Read, tab(tab_id, url))
}

fn click(tab_id: TabId, url: &str) -> Question {
    question("click", ToolCategory::Click, Effect::Write, tab(tab_id, url))
}

fn typing(text: &str) -> Question {
    Question {
        texts: vec![text.to_owned()],
        ..question("type", ToolCategory::Fill, Effect::Write, tab(OWN_TAB, SHOP))
    }
}

fn open(url: &str) -> Question {
    question(
        "tab_open",
        ToolCategory::Navigate,
        Effect::Write,
        Target::Address { tab_id: None, place: place(url) },
    )
}

fn browser(data: BrowserData) -> Question {
    question("history_search", ToolCategory::Read, Effect::Read, Target::Browser(data))
}

fn element(origin: &str, sensitive: Option<SensitiveField>) -> TargetDescription {
    TargetDescription {
        role: "textbox".to_owned(),
        name: "Field".to_owned(),
        line: "- textbox \"Field\"".to_owned(),
        sensitive,
        origin: origin.to_owned(),
    }
}

fn rule(effect: RuleEffect, subject: &str, origin: &str) -> PermissionRule {
    PermissionRule {
        rule_id: RuleId::new("r"),
        subject: subject.to_owned(),
        origin: origin.to_owned(),
        effect,
        source: RuleSource::User,
    }
}

fn grant(tool: &str) -> Grant {
    Grant { tool: tool.to_owned(), origin: Some(origin(SHOP)) }
}

fn thread() -> ThreadScope {
    let mut thread = ThreadScope {
        tabs: BTreeSet::from([OWN_TAB]),
        browser_data: BTreeSet::from([BrowserData::Bookmarks]),
        own_emails: vec!["me@home.test".to_owned()],
        ..ThreadScope::default()
    };
    thread.taints.record(&origin("https://mail.test"), "the code SECRET-4711-9922");
    thread
}

/// One row: a call with rules and grants, and what each policy makes of it, as a short word.
struct Row {
    name: &'static str,
    question: Question,
    rules: Vec<PermissionRule>,
    grants: Vec<Grant>,
    /// Under `always`, `untrusted`, `auto`.
    expected: [&'static str; 3],
}

fn row(name: &'static str, question: Question, expected: [&'static str; 3]) -> Row {
    Row { name, question, rules: vec![], grants: vec![], expected }
}

impl Row {
    fn rules(self, rules: &[PermissionRule]) -> Self {
        Self { rules: rules.to_vec(), ..self }
    }

    fn grants(self, grants: &[Grant]) -> Self {
        Self { grants: grants.to_vec(), ..self }
    }
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow { because } => match because {
            AllowedBecause::FreeTool => "allow: free tool",
            AllowedBecause::Read => "allow: read",
            AllowedBecause::Grant => "allow: grant",
            AllowedBecause::Rule(_) => "allow: rule",
            AllowedBecause::Policy => "allow: policy",
        }
        .to_owned(),
        Verdict::Ask { because, .. } => match because {
            AskedBecause::Rule(_) => "ask: rule",
            AskedBecause::UnreadableRule(..) => "ask: unreadable",
            AskedBecause::Payload(_) => "ask: payload",
            AskedBecause::OtherTab => "ask: other tab",
            AskedBecause::BrowserData(_) => "ask: browser data",
            AskedBecause::Policy => "ask: policy",
            AskedBecause::HostAccess => "ask: host",
        }
        .to_owned(),
        Verdict::Deny { because } => match because {
            DeniedBecause::ScriptAddress(_) => "deny: script",
            DeniedBecause::ForbiddenPlace(_) => "deny: place",
            DeniedBecause::Rule { .. } => "deny: rule",
            DeniedBecause::Sensitive { .. } => "deny: sensitive",
        }
        .to_owned(),
    }
}

fn check(rows: Vec<Row>) {
    let sensitive = SensitiveOrigins::default();
    for row in rows {
        let found = POLICIES.map(|policy| {
            word(&verdict(&row.question, &row.rules, &row.grants, policy, &sensitive, &thread()))
        });
        assert_eq!(found.each_ref().map(String::as_str), row.expected, "{}", row.name);
    }
}

fn allow_all() -> [PermissionRule; 1] {
    [rule(RuleEffect::Allow, "*", "*")]
}

#[test]
fn programs_as_addresses_and_writes_to_closed_places_are_denied() {
    let script = ["deny: script"; 3];
    let closed = ["deny: place"; 3];
    let mut rows: Vec<Row> = ["javascript:alert(1)", "data:text/html,x", "vbscript:x"]
        .into_iter()
        .map(|url| row("a program as address", open(url), script).rules(&allow_all()))
        .collect();
    rows.extend(
        [
            "file:///etc/passwd",
            "chrome://settings",
            "view-source:https://a.test",
            "chrome-extension://a/b",
            "https://chromewebstore.google.com/x",
            "ftp://a.test",
            "blob:https://a.test/1",
        ]
        .into_iter()
        .flat_map(|url| [open(url), click(OWN_TAB, url)])
        .map(|question| {
            row("a write to a closed place", question, closed).rules(&allow_all()).grants(&[grant("click")])
        }),
    );
    rows.push(row(
        "reading a file that the user opened",
        read(OWN_TAB, "file:///x.html"),
        ["ask: policy", "allow: read", "allow: read"],
    ));
    check(rows);
}

#[test]
fn a_deny_rule_holds_for_reads_and_writes_however_narrow_an_allow_rule_is() {
    let both = [rule(RuleEffect::Allow, "click", SHOP), rule(RuleEffect::Deny, "*", "*")];
    let category = [rule(RuleEffect::Deny, "category:click", "*.test")];
    let denied = ["deny: rule"; 3];
    let writes = ["ask: policy", "ask: policy", "allow: policy"];
    check(vec![
        row("write", click(OWN_TAB, SHOP), denied).rules(&both).grants(&[grant("click")]),
        row("read", read(OWN_TAB, SHOP), denied).rules(&both),
        row("browser data", browser(BrowserData::History), denied).rules(&both),
        row("category", click(OWN_TAB, SHOP), denied).rules(&category),
        row("another category", typing("x"), writes).rules(&category),
        row("before the sensitive list", click(OWN_TAB, "https://paypal.com"), denied).rules(&both),
    ]);
}

#[test]
fn a_write_to_a_sensitive_site_is_denied_whatever_was_granted() {
    let denied = ["deny: sensitive"; 3];
    let ask_too = [rule(RuleEffect::Ask, "*", "*")];
    let granted = [Grant { tool: "click".to_owned(), origin: Some(origin("https://www.paypal.com")) }];
    check(vec![
        row("click", click(OWN_TAB, "https://www.paypal.com"), denied).rules(&allow_all()).grants(&granted),
        row("going there", open("https://www.paypal.com/pay"), denied).rules(&allow_all()),
        row("before an ask rule", click(OWN_TAB, "https://www.paypal.com"), denied).rules(&ask_too),
        row(
            "reading",
            read(OWN_TAB, "https://www.paypal.com"),
            ["ask: policy", "allow: read", "allow: read"],
        ),
    ]);
}

#[test]
fn an_ask_rule_asks_and_no_grant_silences_it() {
    let rules = [rule(RuleEffect::Ask, "*", SHOP), rule(RuleEffect::Allow, "click", SHOP)];
    let broken = [rule(RuleEffect::Deny, "click", "shop.*"), rule(RuleEffect::Allow, "*", "*")];
    check(vec![
        row("write", click(OWN_TAB, SHOP), ["ask: rule"; 3]).rules(&rules).grants(&[grant("click")]),
        row("read", read(OWN_TAB, SHOP), ["ask: rule"; 3]).rules(&rules).grants(&[grant("read_page")]),
        row("unreadable", click(OWN_TAB, SHOP), ["ask: unreadable"; 3])
            .rules(&broken)
            .grants(&[grant("click")]),
    ]);
}

#[test]
fn a_sensitive_payload_asks_whatever_was_granted() {
    let asked = ["ask: payload"; 3];
    let with_field = |field| Question { element: Some(element(SHOP, Some(field))), ..typing("hunter2") };
    let allowed = |name, question, expected: [&'static str; 3]| {
        row(name, question, expected).rules(&allow_all()).grants(&[grant("type"), grant("tab_open")])
    };
    check(vec![
        allowed("card", typing("4111 1111 1111 1111"), asked),
        allowed("password field", with_field(SensitiveField::Password), asked),
        allowed("code field", with_field(SensitiveField::OneTimeCode), asked),
        allowed("foreign address", typing("you@there.test"), asked),
        allowed("own address", typing("me@home.test"), ["allow: grant"; 3]),
        allowed("read elsewhere", typing("SECRET-4711-9922"), asked),
        allowed("read elsewhere, in an address", open("https://evil.test/?q=SECRET-4711-9922"), asked),
        allowed("back to its site", open("https://mail.test/?q=SECRET-4711-9922"), ["allow: rule"; 3]),
        allowed("ordinary text", typing("hello"), ["allow: grant"; 3]),
    ]);
}

#[test]
fn reads_are_free_in_the_threads_tabs_and_asked_once_elsewhere() {
    let free = ["ask: policy", "allow: read", "allow: read"];
    let other = ["ask: other tab"; 3];
    check(vec![
        row("own tab", read(OWN_TAB, SHOP), free),
        row("own tab, granted", read(OWN_TAB, SHOP), ["allow: grant"; 3]).grants(&[grant("read_page")]),
        row("own tab, rule", read(OWN_TAB, SHOP), ["allow: rule", "allow: read", "allow: read"])
            .rules(&allow_all()),
        row("other tab", read(OTHER_TAB, SHOP), other),
        row("other tab, rule", read(OTHER_TAB, SHOP), other).rules(&allow_all()),
        row("other tab, granted", read(OTHER_TAB, SHOP), ["allow: grant"; 3]).grants(&[grant("read_page")]),
        row("no place", question("tabs_list", ToolCategory::Read, Effect::Read, Target::None), free),
        row("history", browser(BrowserData::History), ["ask: browser data"; 3]).rules(&allow_all()),
        row("bookmarks, accepted before", browser(BrowserData::Bookmarks), free),
        row(
            "memory",
            question("memory_read", ToolCategory::Memory, Effect::Read, Target::None),
            ["allow: free tool"; 3],
        ),
        row(
            "skill",
            question("load_skill", ToolCategory::Memory, Effect::Read, Target::None),
            ["allow: free tool"; 3],
        ),
    ]);
}

#[test]
fn ordinary_writes_follow_grants_then_rules_then_the_policy() {
    let by_policy = ["ask: policy", "ask: policy", "allow: policy"];
    let of_shop = [rule(RuleEffect::Allow, "category:click", "*.shop.test")];
    check(vec![
        row("click", click(OWN_TAB, SHOP), by_policy),
        row("open", open("https://news.test/x"), by_policy),
        row("empty page", click(OWN_TAB, "about:blank"), by_policy),
        row("granted", click(OWN_TAB, SHOP), ["allow: grant"; 3]).grants(&[grant("click")]),
        row("granted elsewhere", click(OWN_TAB, "https://shop.test:8443"), by_policy)
            .grants(&[grant("click")]),
        row("another tool granted", click(OWN_TAB, SHOP), by_policy).grants(&[grant("type")]),
        row("rule", click(OWN_TAB, SHOP), ["allow: rule"; 3]).rules(&of_shop),
        row("rule of another host", click(OWN_TAB, "https://shop.test.evil"), by_policy).rules(&of_shop),
        row("other tab", click(OTHER_TAB, SHOP), ["ask: policy", "ask: policy", "ask: other tab"]),
        row("other tab, granted", click(OTHER_TAB, SHOP), ["allow: grant"; 3]).grants(&[grant("click")]),
    ]);
}

#[test]
fn an_act_inside_a_frame_is_judged_by_the_frame_and_the_page_around_it() {
    let in_frame =
        |page: &str, frame: &str| Question { element: Some(element(frame, None)), ..click(OWN_TAB, page) };
    let ad = "https://ad.test";
    let deny_ad = [rule(RuleEffect::Deny, "*", ad), rule(RuleEffect::Allow, "*", SHOP)];
    let by_policy = ["ask: policy", "ask: policy", "allow: policy"];
    check(vec![
        row("the page is usable", in_frame(SHOP, SHOP), ["allow: rule"; 3]).rules(&deny_ad),
        row("the denied frame is not", in_frame(SHOP, ad), ["deny: rule"; 3]).rules(&deny_ad),
        row("the page's grant is not the frame's", in_frame(SHOP, ad), by_policy).grants(&[grant("click")]),
        row("a bank's frame", in_frame(SHOP, "https://www.chase.com"), ["deny: sensitive"; 3]),
        row("a frame in a bank", in_frame("https://www.chase.com", ad), ["deny: sensitive"; 3]),
    ]);
}

#[test]
fn the_same_power_by_another_tool_is_gated_alike() {
    let evil = "https://evil.test";
    let deny = [rule(RuleEffect::Deny, "*", evil)];
    let code = question("run_javascript", ToolCategory::Eval, Effect::Write, tab(OWN_TAB, evil));
    let fetch = question(
        "fetch_url",
        ToolCategory::Navigate,
        Effect::Read,
        Target::Address { tab_id: None, place: place(evil) },
    );
    let going = question(
        "navigate",
        ToolCategory::Navigate,
        Effect::Write,
        Target::Address { tab_id: Some(OWN_TAB), place: place(evil) },
    );
    let all = [click(OWN_TAB, evil), read(OWN_TAB, evil), open(evil), going, code, fetch];
    check(all.map(|question| row("denied", question, ["deny: rule"; 3]).rules(&deny)).into());
    let initial = [super::super::rules::initial_rule()];
    let code = question("run_javascript", ToolCategory::Eval, Effect::Write, tab(OWN_TAB, SHOP));
    check(vec![row("code", code, ["deny: rule"; 3]).rules(&initial)]);
}

#[test]
fn a_call_that_passes_still_asks_for_access_that_chrome_withholds() {
    let question = Question {
        host_access: HostAccess::Missing,
        escalation: Escalation::ToDebugger,
        ..read(OWN_TAB, SHOP)
    };
    let found = verdict(&question, &[], &[], PermissionPolicy::Auto, &SensitiveOrigins::default(), &thread());
    let flags = vec![ApprovalFlag::EscalationL2, ApprovalFlag::HostPermission];
    assert_eq!(found, Verdict::Ask { flags, because: AskedBecause::HostAccess });
}

#[test]
fn the_card_says_what_is_sensitive() {
    let question = typing("SECRET-4711-9922 and 4111111111111111");
    let found = verdict(&question, &[], &[], PermissionPolicy::Auto, &SensitiveOrigins::default(), &thread());
    let because = AskedBecause::Payload(vec![
        Finding::CardNumber,
        Finding::ReadElsewhere { from: origin("https://mail.test") },
    ]);
    let flags = vec![ApprovalFlag::SensitivePayload, ApprovalFlag::CrossSite];
    assert_eq!(found, Verdict::Ask { flags, because });
}

#[test]
fn a_refusal_tells_the_model_what_is_forbidden_and_what_to_do() {
    let said = |question: &Question, rules: &[PermissionRule]| match verdict(
        question,
        rules,
        &[],
        PermissionPolicy::Auto,
        &SensitiveOrigins::default(),
        &thread(),
    ) {
        Verdict::Deny { because } => because.to_string(),
        other @ (Verdict::Allow { .. } | Verdict::Ask { .. }) => panic!("{other:?}"),
    };
    assert_eq!(
        said(&open("javascript:alert(1)"), &[]),
        "Not allowed: javascript: addresses are never opened. Use an http or https address, or act on the page with \
         the page tools."
    );
    assert_eq!(
        said(&click(OWN_TAB, SHOP), &[rule(RuleEffect::Deny, "click", "*")]),
        "Not allowed: a rule of the user forbids this tool for https://shop.test. Do not try another way to the same \
         effect; tell the user what you could not do."
    );
    assert_eq!(
        said(&open("https://www.paypal.com/send"), &[]),
        "Not allowed: https://www.paypal.com is a payment site, where the user acts alone. Pages that the user has \
         opened there may be read; ask the user to do this step themselves."
    );
    assert_eq!(
        said(&click(OWN_TAB, "chrome://settings"), &[]),
        "Not allowed: nothing is opened or changed at chrome:. Ask the user to do this step themselves, or continue \
         without it."
    );
}

/// How loose a verdict is: a denial is 0, a question 1, a pass 2.
fn looseness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Deny { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Allow { .. } => 2,
    }
}

fn any_url() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        SHOP,
        "https://mail.test/inbox",
        "https://sub.shop.test:8443/x",
        "https://www.paypal.com",
        "https://www.irs.gov",
        "chrome://settings",
        "file:///x",
        "javascript:x",
        "about:blank",
        "https://evil.test/?d=SECRET-4711-9922",
    ])
}

fn any_question() -> impl Strategy<Value = Question> {
    let texts =
        prop::sample::select(vec!["", "hello", "4111111111111111", "SECRET-4711-9922", "you@there.test"]);
    let fields = prop::option::of(prop::sample::select(vec![SensitiveField::Password, SensitiveField::Card]));
    let tools = prop::sample::select(vec![
        ("read_page", ToolCategory::Read, Effect::Read),
        ("click", ToolCategory::Click, Effect::Write),
        ("type", ToolCategory::Fill, Effect::Write),
        ("navigate", ToolCategory::Navigate, Effect::Write),
        ("memory_read", ToolCategory::Memory, Effect::Read),
    ]);
    (tools, any_url(), 0..4_u8, 1..3_i32, texts, prop::option::of((any_url(), fields)), any::<bool>())
        .prop_map(|((tool, category, effect), url, kind, tab_id, text, frame, access)| {
            let tab_id = TabId(tab_id);
            let target = match kind {
                0 => Target::None,
                1 => Target::Browser(BrowserData::History),
                2 => Target::Address { tab_id: Some(tab_id), place: place(url) },
                _ => tab(tab_id, url),
            };
            Question {
                texts: vec![text.to_owned()],
                element: frame.map(|(origin, field)| element(origin, field)),
                host_access: if access { HostAccess::Granted } else { HostAccess::Missing },
                ..question(tool, category, effect, target)
            }
        })
}

fn any_rule() -> impl Strategy<Value = PermissionRule> {
    any_rule_of(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny])
}

fn any_rule_of(effects: Vec<RuleEffect>) -> impl Strategy<Value = PermissionRule> {
    (
        prop::sample::select(effects),
        prop::sample::select(vec!["*", "click", "type", "category:fill", "category:all", "read_page"]),
        prop::sample::select(vec!["*", SHOP, "*.shop.test", "*.test", "https://www.paypal.com", "nonsense"]),
    )
        .prop_map(|(effect, subject, origin)| rule(effect, subject, origin))
}

fn any_grants() -> impl Strategy<Value = Vec<Grant>> {
    let grants = (
        prop::sample::select(vec!["read_page", "click", "type", "navigate"]),
        prop::option::of(prop::sample::select(vec![SHOP, "https://www.paypal.com", "https://evil.test"])),
    )
        .prop_map(|(tool, at)| Grant { tool: tool.to_owned(), origin: at.map(origin) });
    prop::collection::vec(grants, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_call_is_looser_than_the_floor(
        question in any_question(),
        rules in prop::collection::vec(any_rule(), 0..5),
        grants in any_grants(),
    ) {
        let sensitive = SensitiveOrigins::default();
        let thread = thread();
        for policy in POLICIES {
            let found = looseness(&verdict(&question, &rules, &grants, policy, &sensitive, &thread));
            let acted_on = question.acted_on();
            let outer = question.place().and_then(Place::origin).cloned();
            let writes = question.effect == Effect::Write;
            let is_sensitive =
                [&acted_on, &outer].into_iter().flatten().any(|origin| sensitive.kind_of(origin).is_some());
            let is_script = matches!(question.place(), Some(Place::Script { .. }));
            let is_closed = matches!(question.place(), Some(Place::File | Place::Browser { .. }));
            if is_script || (writes && (is_sensitive || is_closed)) {
                prop_assert_eq!(found, 0);
            }
            let carries = |text: &str| question.texts.iter().any(|one| one == text);
            if writes && (carries("4111111111111111") || carries("you@there.test")) {
                prop_assert!(found <= 1);
            }
            if writes && carries("SECRET-4711-9922") && acted_on != Some(origin("https://mail.test")) {
                prop_assert!(found <= 1);
            }
            if question.host_access == HostAccess::Missing {
                prop_assert!(found <= 1);
            }
        }
    }

    #[test]
    fn a_stricter_policy_never_allows_more(
        question in any_question(),
        rules in prop::collection::vec(any_rule(), 0..5),
        grants in any_grants(),
    ) {
        let sensitive = SensitiveOrigins::default();
        let thread = thread();
        let [always, untrusted, auto] = POLICIES
            .map(|policy| looseness(&verdict(&question, &rules, &grants, policy, &sensitive, &thread)));
        prop_assert!(always <= untrusted && untrusted <= auto);
    }

    #[test]
    fn adding_a_deny_or_ask_rule_never_allows_more(
        question in any_question(),
        mut rules in prop::collection::vec(any_rule(), 0..5),
        added in any_rule_of(vec![RuleEffect::Ask, RuleEffect::Deny]),
        grants in any_grants(),
        at in 0..5_usize,
    ) {
        let sensitive = SensitiveOrigins::default();
        let thread = thread();
        let judge = |rules: &[PermissionRule]| {
            POLICIES.map(|policy| looseness(&verdict(&question, rules, &grants, policy, &sensitive, &thread)))
        };
        let before = judge(&rules);
        rules.insert(at.min(rules.len()), added);
        let after = judge(&rules);
        prop_assert!(after.iter().zip(before).all(|(after, before)| *after <= before));
    }
}
