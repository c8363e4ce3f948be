//! Whatever a provider sends: no panic, no event after the end, and the same outcome however it is cut.

use panelot_providers::sse::{SseItem, SseParser};
use panelot_providers::{Kind, Quirks, ResponseHead, Secret, read_failure};
use proptest::prelude::*;

use crate::support::{connection, decode};

/// Bytes that look like a provider's: pieces of real frames in any order, with rubbish between them.
fn provider_bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"data: ",
        b"data: [DONE]\n\n",
        b"\n",
        b"\r\n\r\n",
        b"\r",
        b": ping\n\n",
        b"event: error\n",
        b"event: content_block_delta\n",
        b"{\"choices\":[{\"delta\":{\"content\":\"\xE5\x8C\x97 <think>\"}}]}",
        b"{\"choices\":[{\"delta\":{\"content\":\"</think>\"},\"finish_reason\":\"stop\"}]}",
        b"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"x\":{\"y\":1},\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}",
        b"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
        b"{\"error\":{\"message\":\"m\",\"code\":429}}",
        b"{\"choices\":[],\"usage\":{\"prompt_tokens\":1e300,\"completion_tokens\":-1}}",
        b"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}",
        b"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}",
        b"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}",
        b"{\"type\":\"content_block_start\",\"index\":18446744073709551615,\"content_block\":{\"type\":\"thinking\"}}",
        b"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}",
        b"{\"type\":\"message_stop\"}",
        b"<html><title>x",
        b"\xEF\xBB\xBF",
        b"\xFF\xF0\x9F",
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn quirks(think_tag_reasoning: bool) -> Quirks {
    Quirks { think_tag_reasoning, ..Quirks::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_body_cut_anywhere_gives_the_same_outcome(
        body in provider_bytes(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
        think in any::<bool>(),
        anthropic in any::<bool>(),
    ) {
        let kind = if anthropic { Kind::Anthropic } else { Kind::Openai };
        let connection = connection(kind, quirks(think));
        let whole = decode(&connection, [body.as_slice()]);
        let mut rest = body.as_slice();
        let mut chunks = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*cut).min(rest.len()));
            chunks.push(head);
            rest = tail;
        }
        prop_assert_eq!(decode(&connection, chunks), whole);
    }

    #[test]
    fn the_parser_delivers_the_same_items_however_it_is_fed(body in provider_bytes(), at in any::<prop::sample::Index>()) {
        let parse = |chunks: &[&[u8]]| {
            let mut parser = SseParser::new();
            let mut items: Vec<SseItem> = Vec::new();
            for chunk in chunks {
                parser.push(chunk, &mut items)?;
            }
            parser.finish(&mut items).map(|()| items)
        };
        let (head, tail) = body.split_at(at.index(body.len() + 1));
        prop_assert_eq!(parse(&[head, tail]), parse(&[&body]));
    }

    #[test]
    fn any_refusal_becomes_an_error_of_bounded_size(status in 300_u16..600, body in prop::collection::vec(any::<u8>(), 0..2000)) {
        let connection = connection(Kind::Openai, Quirks::default());
        let key = Secret::new("planted-key-0123");
        let error = read_failure(&connection, [&key], &ResponseHead::new(status), &body, 0);
        prop_assert!(error.detail.is_none_or(|detail| detail.chars().count() <= 501));
    }
}
