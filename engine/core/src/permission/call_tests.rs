//! A call is only permitted by the verdict, and a permission is spent once.

use super::super::origins::Place;
use super::super::payload::Finding;
use super::super::policy::{Effect, Escalation, HostAccess};
use super::super::sensitive::SensitiveKind;
use super::*;
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::ids::TabId;
use panelot_protocol::turn::ToolLevel;

fn question() -> Question {
    Question {
        tool: "click".to_owned(),
        category: ToolCategory::Click,
        effect: Effect::Write,
        level: ToolLevel::L1,
        target: Target::Tab { tab_id: TabId(1), place: Place::parse("https://a.test/cart").unwrap() },
        element: Some(TargetDescription {
            role: "link".to_owned(),
            name: "Order".to_owned(),
            line: "- link \"Order\" [ref=kq1] [url=/order]".to_owned(),
            sensitive: None,
            origin: "https://a.test".to_owned(),
        }),
        document: Some("kq".to_owned()),
        texts: vec![],
        host_access: HostAccess::Granted,
        escalation: Escalation::None,
    }
}

fn asks(because: AskedBecause) -> impl Fn(&Question) -> Verdict {
    move |_| Verdict::Ask { flags: vec![], because: because.clone() }
}

fn held(because: AskedBecause) -> Held<&'static str> {
    match ToolCall::new("the call", question()).decide(asks(because)) {
        Decision::Held(held) => held,
        other @ (Decision::Permitted(_) | Decision::Denied(_)) => panic!("{other:?}"),
    }
}

fn answered(decision: &ApprovalDecision, now: Question) -> Result<&'static str, Refusal> {
    held(AskedBecause::Policy)
        .answered(decision, now, asks(AskedBecause::Policy))
        .map(|permitted| permitted.executed(()).call)
}

#[test]
fn an_accepted_call_runs_when_nothing_changed() {
    for decision in [
        ApprovalDecision::Accept {},
        ApprovalDecision::AcceptForSession {},
        ApprovalDecision::AcceptForSite {},
    ] {
        assert_eq!(answered(&decision, question()), Ok("the call"));
    }
}

#[test]
fn a_declined_call_does_not_run_and_the_model_gets_the_note() {
    let decline = ApprovalDecision::Decline { note: Some("too expensive".to_owned()) };
    let refusal = answered(&decline, question()).unwrap_err();
    assert_eq!(refusal, Refusal::Declined(Some("too expensive".to_owned())));
    assert_eq!(refusal.to_string(), "The user declined this call. The user's note: too expensive");
    assert_eq!(answered(&ApprovalDecision::Cancel {}, question()), Err(Refusal::Cancelled));
}

#[test]
fn a_call_whose_target_changed_while_the_card_was_open_does_not_run() {
    let place = |url: &str, tab| Question {
        target: Target::Tab { tab_id: TabId(tab), place: Place::parse(url).unwrap() },
        ..question()
    };
    let element = |change: fn(&mut TargetDescription)| {
        let mut now = question();
        now.element.iter_mut().for_each(change);
        now
    };
    let changed = |change| Err(Refusal::Changed(change));
    let table = [
        ("same page, other path", place("https://a.test/cart#2", 1), Ok("the call")),
        ("focus moved", element(|element| element.line.push_str(" [focused]")), Ok("the call")),
        ("other tab", place("https://a.test/cart", 2), changed(Change::Tab)),
        ("other site", place("https://b.test/cart", 1), changed(Change::Place)),
        ("other port", place("https://a.test:8443/cart", 1), changed(Change::Place)),
        (
            "other frame",
            element(|element| element.origin = "https://b.test".to_owned()),
            changed(Change::Place),
        ),
        ("reloaded", Question { document: Some("zz".to_owned()), ..question() }, changed(Change::Document)),
        ("another name", element(|element| element.name = "Delete".to_owned()), changed(Change::Element)),
        (
            "another goal",
            element(|element| element.line = element.line.replace("/order", "/pay")),
            changed(Change::Element),
        ),
        ("gone", Question { element: None, ..question() }, changed(Change::Element)),
        ("other text", Question { texts: vec!["x".to_owned()], ..question() }, changed(Change::Payload)),
    ];
    for (name, now, expected) in table {
        assert_eq!(answered(&ApprovalDecision::Accept {}, now), expected, "{name}");
    }
}

#[test]
fn a_rule_or_a_finding_that_came_while_the_card_was_open_counts() {
    let sensitive = DeniedBecause::ForbiddenPlace("file:".to_owned());
    let denied = held(AskedBecause::Policy)
        .answered(&ApprovalDecision::Accept {}, question(), |_| Verdict::Deny { because: sensitive.clone() });
    assert_eq!(denied.unwrap_err(), Refusal::Denied(sensitive.clone()));
    let card = AskedBecause::Payload(vec![Finding::CardNumber]);
    let run = |asked: AskedBecause, now: &AskedBecause| {
        held(asked).answered(&ApprovalDecision::Accept {}, question(), asks(now.clone())).map(|_| ())
    };
    assert_eq!(run(AskedBecause::Policy, &card), Err(Refusal::Changed(Change::Payload)));
    assert_eq!(run(card.clone(), &card), Ok(()));
    assert_eq!(
        run(card, &AskedBecause::Payload(vec![Finding::CardField])),
        Err(Refusal::Changed(Change::Payload))
    );
}

#[test]
fn a_verdict_decides_what_becomes_of_a_call() {
    let call = || ToolCall::new("the call", question());
    match call().decide(|_| Verdict::Allow { because: AllowedBecause::Policy }) {
        Decision::Permitted(permitted) => {
            assert_eq!(permitted.because(), &PermittedBecause::Verdict(AllowedBecause::Policy));
            assert_eq!(permitted.executed(7), Executed { call: "the call", outcome: 7 });
        }
        other @ (Decision::Held(_) | Decision::Denied(_)) => panic!("{other:?}"),
    }
    let because = DeniedBecause::Sensitive {
        kind: SensitiveKind::Bank,
        origin: super::super::origins::Origin::parse("https://a.test").unwrap(),
    };
    assert_eq!(call().decide(|_| Verdict::Deny { because: because.clone() }), Decision::Denied(because));
}
