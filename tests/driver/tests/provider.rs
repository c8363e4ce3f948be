//! The demo provider over its wire, asked by a plain HTTP client.

#![expect(clippy::indexing_slicing, reason = "a test may fail by a panic")]

use std::time::Duration;

use anyhow::{Context, Result};
use panelot_driver::Provider;
use panelot_driver::provider::{Fault, Outcome, ParsedRequest, Piece, Reply};
use panelot_driver::until;
use serde_json::{Value, json};

const WITHIN: Duration = Duration::from_secs(10);

/// Sends a chat request.
async fn post(provider: &Provider, body: &Value) -> Result<reqwest::Response> {
    let url = format!("{}/chat/completions", provider.base_url());
    Ok(reqwest::Client::new().post(url).bearer_auth("sk-test").json(body).send().await?)
}

fn body(stream: bool) -> Value {
    json!({
        "model": "panelot-demo", "stream": stream, "stream_options": { "include_usage": true },
        "messages": [{ "role": "system", "content": "s" }, { "role": "user", "content": "say hello" }],
    })
}

/// The frames of a stream, without their `data: `.
async fn frames(response: reqwest::Response) -> Result<Vec<String>> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await?;
    let frames = text.split_terminator("\n\n").map(|frame| frame.strip_prefix("data: ").map(str::to_owned));
    frames.collect::<Option<Vec<_>>>().context("a frame without data")
}

/// The text, the calls and the finish reason of a stream, put together as a client does it.
fn assemble(frames: &[String]) -> Result<(String, String, String)> {
    let (mut text, mut arguments, mut finish) = (String::new(), String::new(), String::new());
    for frame in frames.iter().filter(|frame| *frame != "[DONE]") {
        let frame: Value = serde_json::from_str(frame)?;
        let choice = &frame["choices"][0];
        text += choice["delta"]["content"].as_str().unwrap_or_default();
        arguments += choice["delta"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default();
        finish += choice["finish_reason"].as_str().unwrap_or_default();
    }
    Ok((text, arguments, finish))
}

async fn ended(provider: &Provider, outcome: Outcome) -> Result<()> {
    let what = format!("a request that ended as {outcome:?}");
    provider.wait_for_request(&what, WITHIN, |one| one.outcome == outcome).await.map(|_| ())
}

#[tokio::test]
async fn a_stream_holds_the_text_the_call_the_usage_and_the_end() -> Result<()> {
    let provider = Provider::start_with(|_: &ParsedRequest| {
        Reply::text("A text that is longer than one frame.").and_call("click", json!({ "ref": "a1" }))
    })
    .await?;
    let frames = frames(post(&provider, &body(true)).await?).await?;
    let expected =
        ("A text that is longer than one frame.".into(), r#"{"ref":"a1"}"#.into(), "tool_calls".into());
    assert_eq!(assemble(&frames)?, expected);
    assert_eq!(frames.last().map(String::as_str), Some("[DONE]"));
    let usage: Value = serde_json::from_str(&frames[frames.len() - 2])?;
    assert_eq!((&usage["choices"], usage["usage"]["completion_tokens"].is_u64()), (&json!([]), true));
    ended(&provider, Outcome::Sent).await?;
    assert_eq!(provider.violations(), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_request_without_a_stream_gets_one_body() -> Result<()> {
    let provider = Provider::start().await?;
    let answer: Value = post(&provider, &body(false)).await?.json().await?;
    assert_eq!(answer["choices"][0]["message"]["content"], "say hello");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    Ok(())
}

#[tokio::test]
async fn a_gate_holds_the_stream_until_it_is_opened() -> Result<()> {
    let provider =
        Provider::start_with(|_: &ParsedRequest| Reply::text("before").then_wait_at("middle").say("after"))
            .await?;
    let gate = provider.gate("middle");
    let request = body(true);
    let asked = post(&provider, &request);
    let opened = async {
        gate.reached(WITHIN).await?;
        assert_eq!(provider.requests()[0].outcome, Outcome::Running);
        gate.open();
        anyhow::Ok(())
    };
    let (answer, ()) = tokio::try_join!(async { frames(asked.await?).await }, opened)?;
    assert_eq!(assemble(&answer)?.0, "beforeafter");
    Ok(())
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noticed_at_a_gate() -> Result<()> {
    let provider = Provider::start_with(|_: &ParsedRequest| Reply::text("x").then_wait_at("never")).await?;
    let response = post(&provider, &body(true)).await?;
    provider.gate("never").reached(WITHIN).await?;
    drop(response);
    ended(&provider, Outcome::HungUp).await
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noticed_during_a_hang() -> Result<()> {
    let provider = Provider::start().await?;
    provider.fail_next(Fault::Hang);
    let request = body(true);
    {
        let asked = std::pin::pin!(post(&provider, &request));
        let arrived = std::pin::pin!(provider.wait_for_request("the request", WITHIN, |_| true));
        futures::future::select(asked, arrived).await;
    }
    ended(&provider, Outcome::HungUp).await
}

#[tokio::test]
async fn a_cut_breaks_the_connection_after_the_given_bytes() -> Result<()> {
    let provider = Provider::start_with(|_: &ParsedRequest| Reply::text("some text")).await?;
    provider.fail_next(Fault::CutAfterBytes { bytes: 30 });
    let mut response = post(&provider, &body(true)).await?;
    let mut received = Vec::new();
    let failure = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => received.extend(chunk),
            Ok(None) => anyhow::bail!("the stream ended cleanly"),
            Err(failure) => break failure,
        }
    };
    assert_eq!(received.len(), 30, "{failure}");
    ended(&provider, Outcome::Faulted).await
}

#[tokio::test]
async fn faults_of_the_stream_leave_the_rest_as_it_is() -> Result<()> {
    let provider = Provider::start_with(|_: &ParsedRequest| Reply::text("some text")).await?;
    provider.fail_next(Fault::NoDone);
    let without_end = frames(post(&provider, &body(true)).await?).await?;
    assert!(!without_end.contains(&"[DONE]".to_owned()));
    assert_eq!(assemble(&without_end)?.0, "some text");

    provider.fail_next(Fault::Malformed);
    let malformed = frames(post(&provider, &body(true)).await?).await?;
    let broken = malformed.iter().filter(|frame| serde_json::from_str::<Value>(frame).is_err());
    assert_eq!(broken.collect::<Vec<_>>(), [r#"{"choices": [{"delta": {"conte"#, "[DONE]"]);

    provider.fail_next(Fault::Drip { bytes: 7, every_ms: 0 });
    let dripped = frames(post(&provider, &body(true)).await?).await?;
    assert_eq!(assemble(&dripped)?.0, "some text");
    Ok(())
}

#[tokio::test]
async fn faults_of_the_answer_have_their_status_and_headers() -> Result<()> {
    let provider = Provider::start().await?;
    provider.fail_next(Fault::rate_limit(Duration::from_secs(2)));
    let limited = post(&provider, &body(true)).await?;
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"2".parse()?));
    assert_eq!(limited.json::<Value>().await?["error"]["code"], "rate_limit_exceeded");

    provider.fail_next(Fault::Html);
    let html = post(&provider, &body(true)).await?;
    assert_eq!(
        (html.status().as_u16(), &html.headers()["content-type"]),
        (200, &"text/html; charset=utf-8".parse()?)
    );

    provider.refuse_key("sk-test");
    let refused = post(&provider, &body(true)).await?;
    assert_eq!(refused.status().as_u16(), 401);
    assert_eq!(refused.json::<Value>().await?["error"]["code"], "invalid_api_key");
    Ok(())
}

#[tokio::test]
async fn a_malformed_request_is_refused_by_the_name_of_its_field() -> Result<()> {
    let provider = Provider::start().await?;
    let request = json!({ "model": "m", "messages": [{ "role": "robot", "content": "x" }] });
    let refused = post(&provider, &request).await?;
    assert_eq!(refused.status().as_u16(), 400);
    assert_eq!(refused.json::<Value>().await?["error"]["message"], "messages[0]: role: `robot` is unknown");
    assert_eq!(provider.violations(), ["request 0: messages[0]: role: `robot` is unknown"]);
    Ok(())
}

#[tokio::test]
async fn the_admin_side_sets_faults_and_shows_requests() -> Result<()> {
    let provider = Provider::start().await?;
    let client = reqwest::Client::new();
    let admin = |path: &str| format!("{}/admin/{path}", provider.origin());
    let set = client.post(admin("fault")).body(r#""html""#).send().await?;
    assert_eq!(set.status().as_u16(), 204);
    let wrong = client.post(admin("fault")).body(r#""fire""#).send().await?;
    assert_eq!(wrong.status().as_u16(), 400);
    assert_eq!(post(&provider, &body(true)).await?.headers()["content-type"], "text/html; charset=utf-8");
    let requests: Value = client.get(admin("requests")).send().await?.json().await?;
    assert_eq!((&requests[0]["outcome"], &requests[0]["body"]), (&json!("Faulted"), &body(true)));
    Ok(())
}

#[tokio::test]
async fn a_name_that_is_not_loopback_is_refused() -> Result<()> {
    let provider = Provider::start().await?;
    let url = format!("{}/models", provider.base_url());
    let client = reqwest::Client::new();
    let status =
        async |host: &str| anyhow::Ok(client.get(&url).header("host", host).send().await?.status().as_u16());
    assert_eq!((status("evil.example").await?, status("localhost:80").await?), (403, 200));
    Ok(())
}

#[tokio::test]
async fn the_built_in_script_plays_a_whole_form_from_what_it_is_shown() -> Result<()> {
    let provider = Provider::start().await?;
    let page = "- textbox \"Your name\" [ref=n1]\n- button \"Place order\" [ref=n2]";
    let tool = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } });
    let mut messages = vec![
        json!({ "role": "system", "content": "s" }),
        json!({ "role": "user", "content": "Order something for Mei Chen, please." }),
    ];
    let mut played = Vec::new();
    loop {
        let request = json!({ "model": "m", "messages": messages, "tools": [tool("read_page"), tool("type"), tool("click")] });
        let mut answer: Value = post(&provider, &request).await?.json().await?;
        let message = answer["choices"][0]["message"].take();
        let Some(call) = message["tool_calls"].get(0).cloned() else {
            assert_eq!(message["content"], "Done. The page says: *Thank you*");
            break;
        };
        let name = call["function"]["name"].as_str().context("a call without a name")?.to_owned();
        let result = if name != "read_page" {
            "done".to_owned()
        } else if played.is_empty() {
            page.to_owned()
        } else {
            format!("{page}\n- status: Thank you")
        };
        played.push(format!("{name} {}", call["function"]["arguments"].as_str().unwrap_or_default()));
        messages.push(message);
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
    }
    let expected =
        ["read_page {}", r#"type {"ref":"n1","text":"Mei Chen"}"#, r#"click {"ref":"n2"}"#, "read_page {}"];
    assert_eq!(played, expected);
    assert_eq!(provider.violations(), Vec::<String>::new());
    until("all requests sent", WITHIN, || async {
        Ok(provider.requests().iter().all(|one| one.outcome == Outcome::Sent).then_some(()))
    })
    .await
}

#[tokio::test]
async fn pauses_reasoning_and_frames_are_sent_in_order() -> Result<()> {
    let provider = Provider::start_with(|_: &ParsedRequest| {
        Reply::new()
            .with(Piece::Reasoning("hm".into()))
            .with(Piece::Pause(Duration::from_millis(1)))
            .with(Piece::Frame("a frame that stays whole".into()))
    })
    .await?;
    let frames = frames(post(&provider, &body(true)).await?).await?;
    let deltas = frames.iter().filter(|frame| *frame != "[DONE]").map(|frame| {
        let frame: Value = serde_json::from_str(frame)?;
        anyhow::Ok(frame["choices"][0]["delta"].clone())
    });
    let expected = [
        json!({ "role": "assistant", "content": "" }),
        json!({ "reasoning_content": "hm" }),
        json!({ "content": "a frame that stays whole" }),
        json!({}),
        Value::Null,
    ];
    assert_eq!(deltas.collect::<Result<Vec<_>>>()?, expected);
    Ok(())
}
