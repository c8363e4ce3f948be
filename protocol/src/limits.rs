//! Every cap on size, count and time of the protocol, as a named constant with its unit last.

/// A user's message.
pub const INPUT_TEXT_CHARS_MAX: u64 = 400_000;
/// Attachments of one message.
pub const INPUT_ATTACHMENTS_COUNT_MAX: u64 = 32;
/// Referenced tabs, selections and resources of one message.
pub const INPUT_CONTEXT_COUNT_MAX: u64 = 32;
/// The label of a referenced thing.
pub const CONTEXT_LABEL_CHARS_MAX: u64 = 512;
/// The text that a referenced thing carries.
pub const CONTEXT_TEXT_CHARS_MAX: u64 = 200_000;
/// A URL wherever one is carried.
pub const URL_CHARS_MAX: u64 = 8_192;
/// A title of a thread, a tab or a document.
pub const TITLE_CHARS_MAX: u64 = 1_024;
/// A short name: connection, preset, tool, model.
pub const NAME_CHARS_MAX: u64 = 256;
/// A sentence for people: a message, a reason, a label.
pub const MESSAGE_CHARS_MAX: u64 = 8_192;
/// A note that the user gives with a refusal.
pub const NOTE_CHARS_MAX: u64 = 4_096;
/// A search text.
pub const QUERY_CHARS_MAX: u64 = 512;
/// An opaque paging cursor.
pub const CURSOR_CHARS_MAX: u64 = 256;
/// One chunk of base64 on its way to an attachment: 1 MiB of bytes.
pub const CHUNK_BASE64_CHARS_MAX: u64 = 1_398_104;
/// One chunk of an export or import.
pub const TRANSFER_CHUNK_CHARS_MAX: u64 = 1_048_576;
/// The document of one import, in bytes of UTF-8. It is held in memory while it comes.
pub const IMPORT_BYTES_MAX: u64 = 64 << 20;
/// Problems of an import that are named; the last one says how many more there are.
pub const IMPORT_PROBLEMS_COUNT_MAX: u64 = 100;
/// Things left out by an import that are named.
pub const LEFT_OUT_COUNT_MAX: u64 = 1_000;
/// One attachment, in bytes.
pub const ATTACHMENT_BYTES_MAX: u64 = 20 << 20;
/// One piece of an attachment, in bytes.
pub const ATTACHMENT_PIECE_BYTES_MAX: u64 = 1 << 20;
/// All attachments together, in bytes; beyond it the oldest lose their content.
pub const ATTACHMENTS_BYTES_MAX: u64 = 200 << 20;
/// How long an attachment may stay that no message refers to.
pub const ORPHAN_LIFETIME_MS: u64 = 24 * 3_600_000;
/// Chunks of one transfer.
pub const TRANSFER_CHUNKS_COUNT_MAX: u64 = 4_096;
/// Items in one page of a thread's path.
pub const ITEMS_PAGE_COUNT_MAX: u64 = 200;
/// Items of the newest end of a path that a snapshot carries.
pub const SNAPSHOT_ITEMS_COUNT_MAX: u64 = 60;
/// Threads in one page of the list.
pub const THREADS_PAGE_COUNT_MAX: u64 = 200;
/// Runs that wait in one thread.
pub const QUEUED_RUNS_COUNT_MAX: u64 = 8;
/// Messages that wait for the next step of one turn.
pub const STEERS_COUNT_MAX: u64 = 8;
/// A report about a fault of the engine.
pub const REPORT_CHARS_MAX: u64 = 8_192;
/// Ops that wait in one thread's mailbox.
pub const MAILBOX_OPS_COUNT_MAX: usize = 32;
/// Approvals or interactions that are pending in one thread.
pub const PENDING_COUNT_MAX: u64 = 64;
/// Tags of a thread.
pub const TAGS_COUNT_MAX: u64 = 32;
/// Connections of a user.
pub const CONNECTIONS_COUNT_MAX: u64 = 64;
/// Keys of one connection.
pub const KEYS_COUNT_MAX: u64 = 16;
/// One key or secret header.
pub const SECRET_CHARS_MAX: u64 = 8_192;
/// Custom headers of one connection.
pub const HEADERS_COUNT_MAX: u64 = 32;
/// Models of one connection.
pub const MODELS_COUNT_MAX: u64 = 5_000;
/// Permission rules.
pub const RULES_COUNT_MAX: u64 = 2_000;
/// Model presets.
pub const PRESETS_COUNT_MAX: u64 = 200;
/// A system prompt or global text of the user.
pub const PROMPT_CHARS_MAX: u64 = 100_000;
/// Stop sequences of a request.
pub const STOP_SEQUENCES_COUNT_MAX: u64 = 8;
/// Tabs in one broadcast.
pub const TABS_COUNT_MAX: u64 = 500;
/// Options chosen in one `select_option`.
pub const SELECT_VALUES_COUNT_MAX: u64 = 256;
/// Text that one `type` carries.
pub const TYPE_TEXT_CHARS_MAX: u64 = 200_000;
/// A ref of an element.
pub const REF_CHARS_MAX: u64 = 64;
/// Lines of evidence of one action.
pub const EVIDENCE_COUNT_MAX: u64 = 32;
/// Tokens that one snapshot may cost.
pub const SNAPSHOT_TOKENS_MAX: u64 = 50_000;
/// Tokens that a snapshot costs unless the caller says otherwise.
pub const SNAPSHOT_TOKENS_DEFAULT: u32 = 3_000;
/// Tokens of what is shown after an action.
pub const ACTION_TOKENS_DEFAULT: u32 = 1_500;
/// A text that an assistant, a tool or a page may carry in one item.
pub const ITEM_TEXT_CHARS_MAX: u64 = 16_777_216;

/// The shortest that a user can let an endpoint be silent.
pub const PATIENCE_S_MIN: u64 = 5;
/// The longest that a user can let an endpoint be silent.
pub const PATIENCE_S_MAX: u64 = 3_600;

/// How often a client pings.
pub const PING_INTERVAL_MS: u64 = 20_000;
/// Window in which deltas of one item are merged into one post.
pub const DELTA_MERGE_MS: u64 = 16;
/// First wait of a reconnecting client.
pub const RECONNECT_MS_MIN: u64 = 250;
/// Longest wait of a reconnecting client.
pub const RECONNECT_MS_MAX: u64 = 8_000;
/// How long a question to the user stays open.
pub const APPROVAL_TIMEOUT_MS: u64 = 300_000;
/// How long a content script has for one action unless the caller says otherwise.
pub const CONTENT_TIMEOUT_MS: u64 = 10_000;
/// How long a receipt is kept.
pub const RECEIPT_LIFETIME_MS: u64 = 7 * 24 * 3_600_000;
/// Longest `wait_for` by time.
pub const WAIT_MS_MAX: u64 = 60_000;
