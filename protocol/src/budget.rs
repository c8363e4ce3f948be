//! What one message may cost: measured over its text in one pass, before anything is parsed.

use std::fmt;

/// The resources that one message may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The name that the manifest knows.
    pub name: &'static str,
    /// Arrays and objects inside each other.
    pub depth_max: u32,
    /// Values in all: containers, strings, numbers, booleans and nulls.
    pub values_max: u32,
    /// Items of one array.
    pub items_max: u32,
    /// Keys of one object.
    pub keys_max: u32,
    /// The message's text in UTF-8, with all that it carries as text.
    pub bytes_max: u64,
}

/// What client and engine may send as one Op.
pub const COMMAND: Budget = Budget {
    name: "command",
    depth_max: 32,
    values_max: 20_000,
    items_max: 4_096,
    keys_max: 512,
    bytes_max: 8 << 20,
};

/// What the engine may send as one event.
pub const EVENT: Budget = Budget {
    name: "event",
    depth_max: 64,
    values_max: 1_000_000,
    items_max: 100_000,
    keys_max: 100_000,
    bytes_max: 48 << 20,
};

/// What engine and content script may say to each other in one message.
pub const CONTENT: Budget = Budget {
    name: "content",
    depth_max: 64,
    values_max: 1_000_000,
    items_max: 100_000,
    keys_max: 100_000,
    bytes_max: 64 << 20,
};

/// The JSON parser gives up at 128 containers inside each other, with an error that names no budget.
const _: () = assert!(COMMAND.depth_max < 128 && EVENT.depth_max < 128 && CONTENT.depth_max < 128);

/// Most bytes of a message that a sender hands to Chrome, which refuses 64 MiB.
pub const SEND_BYTES_MAX: u64 = 48 << 20;

/// The resource that a message would have overdrawn, with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdraft {
    /// Too many containers inside each other.
    Depth(u32),
    /// Too many values.
    Values(u32),
    /// An array with too many items.
    Items(u32),
    /// An object with too many keys.
    Keys(u32),
    /// Too much text, in bytes.
    Bytes(u64),
}

impl fmt::Display for Overdraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(max) => write!(f, "nested deeper than {max}"),
            Self::Values(max) => write!(f, "more than {max} values"),
            Self::Items(max) => write!(f, "an array of more than {max} items"),
            Self::Keys(max) => write!(f, "an object of more than {max} keys"),
            Self::Bytes(max) => write!(f, "more than {max} bytes"),
        }
    }
}

impl Budget {
    /// Measures a message. Reads each byte at most once, stops at the first overdraft, and holds one small frame
    /// per open container, so the cost is bounded by the budget whatever the text holds.
    ///
    /// The text need not be JSON: what is not is left for the parser to name, and what the parser can have built
    /// until then was counted here.
    ///
    /// # Errors
    /// The first resource that is overdrawn.
    pub fn measure(&self, text: &str) -> Result<(), Overdraft> {
        if u64::try_from(text.len()).map_or(true, |length| length > self.bytes_max) {
            return Err(Overdraft::Bytes(self.bytes_max));
        }
        let mut meter = Meter { budget: self, values: 0, open: Vec::new() };
        let mut lexer = Lexer::Between;
        for byte in text.bytes() {
            lexer = meter.step(lexer, byte)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Lexer {
    Between,
    Scalar,
    Text,
    Escape,
}

enum Frame {
    Array { items: u32 },
    Object { keys: u32, at_key: bool },
}

struct Meter<'a> {
    budget: &'a Budget,
    values: u32,
    open: Vec<Frame>,
}

impl Meter<'_> {
    fn step(&mut self, lexer: Lexer, byte: u8) -> Result<Lexer, Overdraft> {
        match lexer {
            Lexer::Escape => return Ok(Lexer::Text),
            Lexer::Text => {
                return Ok(match byte {
                    b'"' => Lexer::Between,
                    b'\\' => Lexer::Escape,
                    _ => Lexer::Text,
                });
            }
            Lexer::Between | Lexer::Scalar => {}
        }
        match byte {
            b'{' => self.open(Frame::Object { keys: 0, at_key: true }),
            b'[' => self.open(Frame::Array { items: 0 }),
            b'}' | b']' => {
                self.open.pop();
                Ok(Lexer::Between)
            }
            b'"' => {
                self.begin()?;
                Ok(Lexer::Text)
            }
            b',' => Ok(self.expect_key(true)),
            b':' => Ok(self.expect_key(false)),
            b' ' | b'\t' | b'\n' | b'\r' => Ok(Lexer::Between),
            _ => {
                if matches!(lexer, Lexer::Between) {
                    self.begin()?;
                }
                Ok(Lexer::Scalar)
            }
        }
    }

    fn open(&mut self, frame: Frame) -> Result<Lexer, Overdraft> {
        self.begin()?;
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if depth >= self.budget.depth_max {
            return Err(Overdraft::Depth(self.budget.depth_max));
        }
        self.open.push(frame);
        Ok(Lexer::Between)
    }

    /// Counts a key, an item or a value that begins here.
    fn begin(&mut self) -> Result<(), Overdraft> {
        match self.open.last_mut() {
            Some(Frame::Object { keys, at_key: true }) => {
                *keys += 1;
                return if *keys > self.budget.keys_max {
                    Err(Overdraft::Keys(self.budget.keys_max))
                } else {
                    Ok(())
                };
            }
            Some(Frame::Array { items }) => {
                *items += 1;
                if *items > self.budget.items_max {
                    return Err(Overdraft::Items(self.budget.items_max));
                }
            }
            Some(Frame::Object { at_key: false, .. }) | None => {}
        }
        self.values += 1;
        if self.values > self.budget.values_max {
            Err(Overdraft::Values(self.budget.values_max))
        } else {
            Ok(())
        }
    }

    fn expect_key(&mut self, expected: bool) -> Lexer {
        if let Some(Frame::Object { at_key, .. }) = self.open.last_mut() {
            *at_key = expected;
        }
        Lexer::Between
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const SMALL: Budget =
        Budget { name: "small", depth_max: 3, values_max: 8, items_max: 4, keys_max: 2, bytes_max: 64 };

    fn check(text: &str, expected: Result<(), Overdraft>) {
        assert_eq!(SMALL.measure(text), expected, "{text}");
    }

    #[test]
    fn depth_counts_open_containers() {
        check("[[[]]]", Ok(()));
        check(r#"[{"a":[1]}]"#, Ok(()));
        check("[[[[]]]]", Err(Overdraft::Depth(3)));
        check("[[],[],[]]", Ok(()));
    }

    #[test]
    fn values_count_everything_but_keys() {
        check(r#"[[1,2],[3,4],5]"#, Ok(()));
        check(r#"[[1,2],[3,4],[5,null]]"#, Err(Overdraft::Values(8)));
        check(r#"{"a":[1,2,3],"b":[1,2]}"#, Ok(()));
    }

    #[test]
    fn items_and_keys_count_per_container() {
        check("[1,2,3,4]", Ok(()));
        check("[1,2,3,4,5]", Err(Overdraft::Items(4)));
        check(r#"[{"a":1,"b":2},{"c":3}]"#, Ok(()));
        check(r#"{"a":1,"b":2,"c":3}"#, Err(Overdraft::Keys(2)));
        check(r#"{"a":1,"a":2,"a":3}"#, Err(Overdraft::Keys(2)));
    }

    #[test]
    fn marks_inside_strings_count_nothing() {
        check(r#"["[[[[[[", "{\"a\":1,", "\\"]"#, Ok(()));
    }

    #[test]
    fn text_counts_in_bytes() {
        let longest = "x".repeat(64);
        let longer = "é".repeat(33);
        check(&longest, Ok(()));
        check(&longer, Err(Overdraft::Bytes(64)));
    }

    #[test]
    fn text_that_is_not_json_is_measured_without_an_error_of_its_own() {
        for text in ["]]]]", "\"", "\\", "{,,,,:::", "}{", "tru e"] {
            check(text, Ok(()));
        }
    }

    #[test]
    fn a_hundred_million_brackets_stop_at_the_budget() {
        let hostile = "[".repeat(100_000_000);
        assert_eq!(COMMAND.measure(&hostile), Err(Overdraft::Bytes(COMMAND.bytes_max)));
        let inside = hostile.get(..8 << 20).unwrap();
        assert_eq!(COMMAND.measure(inside), Err(Overdraft::Depth(COMMAND.depth_max)));
    }

    #[test]
    fn an_overdraft_says_which_limit() {
        let all = [
            Overdraft::Depth(3),
            Overdraft::Values(8),
            Overdraft::Items(4),
            Overdraft::Keys(2),
            Overdraft::Bytes(64),
        ];
        let said: Vec<String> = all.iter().map(ToString::to_string).collect();
        expect![[r#"
            nested deeper than 3
            more than 8 values
            an array of more than 4 items
            an object of more than 2 keys
            more than 64 bytes"#]]
        .assert_eq(&said.join("\n"));
    }
}
