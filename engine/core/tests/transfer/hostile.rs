//! Documents that are not what they say, and what they could bring in.

use super::*;

/// A document, what is wrong with it, and the problems that an import names.
type Case = (&'static str, Value, Vec<&'static str>);

/// A small document with another value at a place.
fn changed(path: &str, value: Value) -> Value {
    let mut document = small("a");
    *document.pointer_mut(path).unwrap() = value;
    document
}

/// A small document with one more field.
fn with(pointer: &str, key: &str, value: Value) -> Value {
    let mut document = small("a");
    document.pointer_mut(pointer).unwrap()[key] = value;
    document
}

/// Fields that no document has.
fn foreign_fields() -> Vec<Case> {
    vec![
        (
            "__proto__ at the top",
            with("", "__proto__", json!({"polluted": true})),
            vec!["__proto__: unknown field"],
        ),
        (
            "__proto__ in a node",
            with("/threads/0/nodes/0", "__proto__", json!({})),
            vec!["threads[0].nodes[0].__proto__: unknown field"],
        ),
        (
            "runs that claim to be running",
            with("/threads/0", "runs", json!([{"state": "executing_tool"}])),
            vec!["threads[0].runs: unknown field"],
        ),
        (
            "a state of the endpoint",
            with("/threads/0/nodes/1/payload", "providerState", json!({})),
            vec!["threads[0].nodes[1].payload.providerState: unknown field"],
        ),
        (
            "a ceiling of cost",
            with("/threads/0/thread", "costCeilingUsd", json!(0)),
            vec!["threads[0].thread.costCeilingUsd: unknown field"],
        ),
    ]
}

/// Values of another kind than a document's.
fn wrong_values() -> Vec<Case> {
    vec![
        ("an array", json!([]), vec!["document: not an object"]),
        (
            "another format",
            changed("/format", json!("zip")),
            vec!["format: must be \"panelot-export\": this is no export of Panelot"],
        ),
        (
            "a newer version",
            changed("/version", json!(2)),
            vec!["version: 2 is newer than 1: update the extension"],
        ),
        ("a wrong version", changed("/version", json!("1")), vec!["version: must be 1"]),
        (
            "wrong types",
            changed("/threads/0/nodes/0/payload/input/text", json!(["x"])),
            vec!["threads[0].nodes[0].payload.input.text: not a string"],
        ),
        ("threads that are none", changed("/threads", json!({"0": 1})), vec!["threads: not an array"]),
        ("a thread that is none", changed("/threads/0", json!("x")), vec!["threads[0]: not an object"]),
        (
            "an id with a path in it",
            changed("/threads/0/thread/id", json!("../x")),
            vec!["threads[0].thread.id: not an id (1 to 64 of A-Z a-z 0-9 _ -)"],
        ),
        (
            "a negative cost",
            with("/threads/0/thread/stats", "costUsd", json!(-5)),
            vec!["threads[0].thread.stats.costUsd: less than 0"],
        ),
        (
            "a kind of node that there is not",
            changed("/threads/0/nodes/1/payload", json!({"type": "grant"})),
            vec!["threads[0].nodes[1].payload.type: unknown type"],
        ),
        (
            "an attachment that lies about its size",
            with(
                "/threads/0",
                "attachments",
                json!([{"id": "x",
            "mime": "image/png", "size": 9, "createdAtMs": 1, "pieces": ["QUJD"]}]),
            ),
            vec!["threads[0].attachments[0].size: the pieces hold 3 bytes"],
        ),
    ]
}

/// Trees that are none.
fn wrong_trees() -> Vec<Case> {
    let no_parent = "threads[0].nodes[1].parentId: no node before this one in this thread has this id";
    let mut two = small("a");
    let mut other = small("b")["threads"][0].clone();
    other["nodes"][1]["parentId"] = json!("a-n1");
    two["threads"].as_array_mut().unwrap().push(other);
    let mut twice = small("a");
    let copy = twice["threads"][0].clone();
    twice["threads"].as_array_mut().unwrap().push(copy);
    vec![
        (
            "a circle",
            changed(
                "/threads/0/nodes/0",
                json!({"id": "a-n1", "parentId": "a-n2", "atMs": 1,
            "runId": "r1", "payload": {"type": "user_message", "input": {"text": "x"}}}),
            ),
            vec!["threads[0].nodes[0].parentId: no node before this one in this thread has this id"],
        ),
        ("its own parent", changed("/threads/0/nodes/1/parentId", json!("a-n2")), vec![no_parent]),
        ("no such parent", changed("/threads/0/nodes/1/parentId", json!("nobody")), vec![no_parent]),
        (
            "a parent in another thread",
            two,
            vec!["threads[1].nodes[1].parentId: no node before this one in this thread has this id"],
        ),
        (
            "an id twice",
            changed("/threads/0/nodes/1/id", json!("a-n1")),
            vec![
                "threads[0].nodes[1].id: another node of this document has this id",
                "threads[0].leafId: no node of this thread has this id",
            ],
        ),
        (
            "a thread twice",
            twice,
            vec![
                "threads[1].thread.id: another thread of this document has this id",
                "threads[1].nodes[0].id: another node of this document has this id",
                "threads[1].nodes[1].id: another node of this document has this id",
            ],
        ),
        (
            "a leaf of nobody",
            changed("/threads/0/leafId", json!("nobody")),
            vec!["threads[0].leafId: no node of this thread has this id"],
        ),
        (
            "a result without a call",
            changed(
                "/threads/0/nodes/1/payload",
                json!({"type": "tool_result",
            "callNodeId": "a-n9", "callId": "c", "toolName": "click", "ok": true, "text": "", "summary": ""}),
            ),
            vec![
                "threads[0].nodes[1].payload.callNodeId: no node before this one in this thread has this id",
            ],
        ),
    ]
}

#[test]
fn a_hostile_document_is_refused_with_every_problem_at_its_path_and_nothing_is_written() {
    let (world, mut page) = fresh(306);
    imported(&import(&mut page, &small("kept").to_string(), ImportMode::Merge));
    let before = everything(&world);
    for (what, document, want) in [foreign_fields(), wrong_values(), wrong_trees()].concat() {
        for mode in [ImportMode::Replace, ImportMode::Merge] {
            let answer = import(&mut page, &document.to_string(), mode);
            assert_eq!(problems(&answer), want, "{what}");
            assert_eq!(everything(&world), before, "{what}: something was written");
        }
    }
    for text in ["", "{", "nul", "\u{0}", &"[".repeat(1_000_000)] {
        let answer = import(&mut page, text, ImportMode::Replace);
        assert_eq!(problems(&answer).len(), 1, "{answer:?}");
    }
    assert_eq!(everything(&world), before);
}

#[test]
fn of_many_problems_the_first_ones_are_named_and_the_others_counted() {
    let (_, mut page) = fresh(307);
    let mut document = small("a");
    document["threads"] = json!(vec![5; 500]);
    let said = problems(&import(&mut page, &document.to_string(), ImportMode::Merge));
    assert_eq!(said.len(), 100);
    assert_eq!(said.first().unwrap(), "threads[0]: not an object");
    assert_eq!(said.last().unwrap(), "401 more problems");
}

#[test]
fn proto_in_arguments_and_script_in_text_are_kept_as_the_data_that_they_are() {
    let (world, mut page) = fresh(308);
    let mut document = small("a");
    let arguments = json!({"__proto__": {"admin": true}, "constructor": 1});
    document["threads"][0]["nodes"][1]["payload"]["text"] = json!("<script>alert(1)</script>");
    document["threads"][0]["nodes"].as_array_mut().unwrap().push(json!({"id": "a-n3", "parentId": "a-n2",
        "atMs": 3, "runId": "r1", "payload": {"type": "tool_call", "assistantId": "a-n2", "callId": "c1",
        "toolName": "click", "arguments": arguments, "category": "click", "label": "x"}}));
    imported(&import(&mut page, &document.to_string(), ImportMode::Merge));
    let NodePayload::ToolCall { arguments: stored, tab_id, .. } = nodes(&world).remove(2).payload else {
        panic!("no call")
    };
    assert_eq!((stored, tab_id), (arguments, None));
}

#[test]
fn an_import_never_widens_what_may_be_done_or_where_data_goes_and_lists_what_it_leaves_out() {
    let (world, mut page) = fresh(309);
    page.configure(&["planted-key-0123456789"]);
    let settings_before = world.local.dump();
    let mut document = small("a");
    document["threads"][0]["thread"]["preset"] = json!("evil-preset");
    let input = UserInput {
        captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
        attached_context: vec![AttachedContext {
            kind: ContextKind::Tab,
            label: "Bank".to_owned(),
            tab_id: Some(TAB),
            url: None,
            text: None,
        }],
        ..UserInput::text("Go on")
    };
    document["threads"][0]["nodes"][0]["payload"]["input"] = serde_json::to_value(input).unwrap();
    let mut settings = panelot_protocol::settings::Settings::default();
    settings.rules.push(PermissionRule {
        rule_id: RuleId::from("r1"),
        subject: "*".to_owned(),
        origin: "*".to_owned(),
        effect: RuleEffect::Allow,
        source: RuleSource::User,
    });
    settings.presets.push(ModelPreset {
        preset_id: PresetId::from("evil-preset"),
        name: "Free".to_owned(),
        icon: None,
        base: ModelRef { connection_id: ConnectionId::from("c1"), model_id: "m1".to_owned() },
        system_prompt: None,
        params: None,
        enabled_tool_levels: None,
        default_permission_policy: Some(panelot_protocol::turn::PermissionPolicy::Auto),
    });
    settings.connections.push(panelot_protocol::settings::ConnectionView {
        connection_id: ConnectionId::from("c1"),
        name: "Test".to_owned(),
        kind: ProviderKind::Openai,
        base_url: "https://evil.test/v1".to_owned(),
        key_count: 1,
        header_names: Vec::new(),
        prefix_id: None,
        models: Vec::new(),
        enabled: true,
        quirks: QuirkFlags::default(),
        patience: Patience::default(),
    });
    settings.permission_policy = panelot_protocol::turn::PermissionPolicy::Auto;
    document["settings"] = serde_json::to_value(&settings).unwrap();
    let (count, left_out) = imported(&import(&mut page, &document.to_string(), ImportMode::Replace));
    let said: Vec<(LeftOutKind, &str)> =
        left_out.iter().map(|left| (left.kind, left.name.as_str())).collect();
    assert_eq!(count, 1);
    assert_eq!(
        said,
        [
            (LeftOutKind::Connection, "Test (https://evil.test/v1)"),
            (LeftOutKind::Preset, "Free"),
            (LeftOutKind::Rule, "allow * *"),
            (LeftOutKind::Settings, ""),
            (LeftOutKind::ThreadPreset, "evil-preset"),
        ]
    );
    assert_eq!(world.local.dump(), settings_before, "the settings are what they were");
    let thread = threads(&world).remove(0);
    assert_eq!((thread.preset, thread.tabs, thread.cost_ceiling_usd), (None, Vec::new(), None));
    let NodePayload::UserMessage { input, .. } = nodes(&world).remove(0).payload else {
        panic!("no message")
    };
    assert_eq!(input.captured_tab, None);
    assert_eq!(input.attached_context[0].tab_id, None);
}

#[test]
fn what_was_granted_to_a_thread_is_not_granted_to_the_one_that_replaces_it() {
    let mut stage = with_history(310);
    let name = format!("grants.{}", stage.thread);
    futures::executor::block_on(async {
        let set = stage.world.session.set(&name, Some("[]".to_owned()));
        stage.world.scheduler.settle();
        set.await.unwrap();
    });
    let (text, _) = export(&mut stage.page);
    imported(&import(&mut stage.page, &text, ImportMode::Merge));
    assert!(!stage.world.session.dump().contains(&name));
}

#[test]
fn ids_of_a_thread_that_stays_cannot_be_taken() {
    let mut stage = with_history(313);
    let victim = nodes(&stage.world)[0].id.clone();
    let mut document = small("a");
    document["threads"][0]["nodes"][0]["id"] = json!(victim.as_str());
    document["threads"][0]["nodes"][1]["parentId"] = json!(victim.as_str());
    let before = everything(&stage.world);
    let said = problems(&import(&mut stage.page, &document.to_string(), ImportMode::Merge));
    assert_eq!(said, ["threads[0].nodes[0].id: a node of another thread here has this id"]);
    assert_eq!(everything(&stage.world), before);
}
