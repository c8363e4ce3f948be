//! The texts, one line for each, all languages side by side: a text that lacks one does not compile.

use panelot_protocol::settings::Language;

macro_rules! catalogue {
    ($($key:ident: $english:literal, $chinese:literal;)+) => {
        /// One text of the interface.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Key {
            $(#[doc = $english] $key,)+
        }

        impl Key {
            /// Every text.
            pub const ALL: &'static [Self] = &[$(Self::$key,)+];

            /// The text in a language, placeholders as `{name}` and, for names that must stand out, `{*name}`.
            #[must_use]
            pub const fn text(self, language: Language) -> &'static str {
                match (self, language) {
                    $(
                        (Self::$key, Language::English) => $english,
                        (Self::$key, Language::Chinese) => $chinese,
                    )+
                }
            }
        }
    };
}

catalogue! {
    // Header and navigation.
    NewChat: "New chat", "新对话";
    Chats: "Chats", "对话列表";
    CloseList: "Close the list", "关闭列表";
    OpenFullPage: "Open as a full page", "在完整页面中打开";
    OpenSettings: "Settings", "设置";
    Conversation: "Conversation", "对话内容";

    // Empty state.
    EmptyTitle: "What should be done?", "需要做什么？";
    EmptyHint: "Panelot reads the page beside it and asks before it changes anything.", "Panelot 会读取旁边的页面，在改动任何内容前都会先询问你。";
    SuggestSummary: "Summarise this page", "总结这个页面";
    SuggestFacts: "List the facts, figures and dates on this page", "列出页面上的事实、数字和日期";
    SuggestForm: "Fill in the form on this page", "填写页面上的表单";
    SuggestTabs: "Compare my open tabs", "比较我打开的标签页";

    // Composer.
    ComposerLabel: "Message", "消息";
    ComposerPlaceholder: "Ask, or say what to do on the page", "提问，或说出要在页面上做什么";
    ComposerPlaceholderRunning: "Add something while it works", "运行时可以补充说明";
    Send: "Send", "发送";
    SendSteer: "Add to the running turn", "补充到当前任务";
    Stop: "Stop", "停止";
    TabMeant: "Page: {title}", "页面：{title}";
    TabLeaveOut: "Leave this page out", "不使用此页面";
    TabUse: "Use the page in front", "使用当前页面";
    Model: "Model", "模型";
    ModelNone: "No model", "未选模型";
    Policy: "Permissions", "权限";
    PolicyAlways: "Ask for everything", "全部询问";
    PolicyUntrusted: "Ask before changes", "改动前询问";
    PolicyAuto: "Ask only for what is sensitive", "仅敏感操作询问";
    PolicyAlwaysHint: "Reading a page asks too.", "读取页面也会询问。";
    PolicyUntrustedHint: "Reading is free, every change asks.", "读取无需询问，每次改动都会询问。";
    PolicyAutoHint: "Ordinary changes pass; payments, credentials and sensitive sites still ask or are refused.", "普通改动直接执行；付款、凭据和敏感网站仍会询问或被拒绝。";

    // Messages.
    You: "You", "你";
    Assistant: "Panelot", "Panelot 助手";
    Reasoning: "Reasoning", "思考过程";
    ReasoningRunning: "Thinking", "正在思考";
    Copy: "Copy", "复制";
    Copied: "Copied", "已复制";
    Edit: "Edit", "编辑";
    EditLabel: "Edit the message", "编辑消息";
    EditSend: "Send again", "重新发送";
    Cancel: "Cancel", "取消";
    Regenerate: "Answer again", "重新回答";
    BranchPrevious: "Previous version", "上一个版本";
    BranchNext: "Next version", "下一个版本";
    BranchPosition: "Version {index} of {count}", "第 {index} 个版本，共 {count} 个";
    OlderMessages: "Show earlier messages", "显示更早的消息";
    BackToEnd: "Back to the latest", "回到最新";
    EmptyAnswer: "The model answered with nothing. Answer again, or choose another model.", "模型没有返回内容。请重新回答，或换一个模型。";
    PartialAnswer: "The answer ended before it was complete.", "回答在完成前中断。";
    ImageNotLoaded: "image, not loaded", "图片，未加载";
    AnswerMore: "Show more ({count} paragraphs are left)", "显示更多（还有 {count} 段）";
    AnswerReady: "The answer is complete.", "回答已完成。";
    SentMessage: "Sending", "正在发送";
    WaitingMessage: "Waiting for the next step", "等待下一步时补充";
    WaitingMessagePlace: "Waiting for the next step, {index} of {count}", "等待下一步时补充，第 {index}/{count} 条";
    LinkOpen: "Open {address} in a new tab", "在新标签页中打开 {address}";

    // Tools. Running, done, failed, and for a change: not done at all.
    ToolTabsRunning: "Looking at the open tabs", "正在查看打开的标签页";
    ToolTabsDone: "Looked at the open tabs", "已查看打开的标签页";
    ToolTabsFailed: "Could not look at the tabs", "无法查看标签页";
    ToolOpenRunning: "Opening {target}", "正在打开 {target}";
    ToolOpenDone: "Opened {target}", "已打开 {target}";
    ToolOpenFailed: "Could not open {target}", "无法打开 {target}";
    ToolOpenNotDone: "Did not open {target}", "未打开 {target}";
    ToolNavigateRunning: "Going to {target}", "正在前往 {target}";
    ToolNavigateDone: "Went to {target}", "已前往 {target}";
    ToolNavigateFailed: "Could not go to {target}", "无法前往 {target}";
    ToolNavigateNotDone: "Did not go to {target}", "未前往 {target}";
    ToolReadRunning: "Reading {target}", "正在读取 {target}";
    ToolReadDone: "Read {target}", "已读取 {target}";
    ToolReadFailed: "Could not read {target}", "无法读取 {target}";
    ToolClickRunning: "Clicking {target}", "正在点击 {target}";
    ToolClickDone: "Clicked {target}", "已点击 {target}";
    ToolClickFailed: "Could not click {target}", "无法点击 {target}";
    ToolClickNotDone: "Did not click {target}", "未点击 {target}";
    ToolTypeRunning: "Typing into {target}", "正在输入到 {target}";
    ToolTypeDone: "Typed into {target}", "已输入到 {target}";
    ToolTypeFailed: "Could not type into {target}", "无法输入到 {target}";
    ToolTypeNotDone: "Did not type into {target}", "未输入到 {target}";
    ToolSelectRunning: "Choosing in {target}", "正在选择 {target}";
    ToolSelectDone: "Chose in {target}", "已选择 {target}";
    ToolSelectFailed: "Could not choose in {target}", "无法选择 {target}";
    ToolSelectNotDone: "Did not choose in {target}", "未选择 {target}";
    ToolWaitRunning: "Waiting for {target}", "正在等待 {target}";
    ToolWaitDone: "Waited for {target}", "已等到 {target}";
    ToolWaitFailed: "{target} did not come", "没有等到 {target}";
    ToolAskRunning: "Asking you: {target}", "正在向你提问：{target}";
    ToolAskDone: "Asked you: {target}", "已向你提问：{target}";
    ToolAskFailed: "Asked you, without an answer: {target}", "已向你提问，未获回答：{target}";
    ToolActRunning: "Waiting until you have done: {target}", "等待你完成：{target}";
    ToolActDone: "You did: {target}", "你已完成：{target}";
    ToolActFailed: "Not done by you: {target}", "你未完成：{target}";
    ToolWatchRunning: "Watching the page for {target}", "正在留意页面：{target}";
    ToolWatchDone: "Watched the page for {target}", "已留意页面：{target}";
    ToolWatchFailed: "Watched the page in vain for {target}", "留意页面未果：{target}";
    ToolLaterRunning: "Goes on later: {target}", "稍后继续：{target}";
    ToolLaterDone: "Went on: {target}", "已继续：{target}";
    ToolLaterFailed: "Did not wait: {target}", "未等待：{target}";
    ToolOtherRunning: "Using {tool} {target}", "正在使用 {tool} {target}";
    ToolOtherDone: "Used {tool} {target}", "已使用 {tool} {target}";
    ToolOtherFailed: "{tool} failed {target}", "{tool} 失败 {target}";
    ToolNotCertain: "{what} (not certain)", "{what}（不确定）";
    ToolWaitsForYou: "waits for you", "等待你确认";
    ThePage: "the page", "页面";
    RoleButton: "button {name}", "按钮{name}";
    RoleCheckbox: "checkbox {name}", "复选框{name}";
    RoleField: "field {name}", "输入框{name}";
    RoleLink: "link {name}", "链接{name}";
    RoleList: "list {name}", "列表{name}";
    RoleMenuItem: "menu item {name}", "菜单项{name}";
    RoleOption: "option {name}", "选项{name}";
    RoleRadio: "option {name}", "单选项{name}";
    RoleSlider: "slider {name}", "滑块{name}";
    RoleSwitch: "switch {name}", "开关{name}";
    RoleTab: "tab {name}", "选项卡{name}";
    QuotedName: "“{name}”", "“{name}”";
    ToolGroupRunning: "{count} steps, now: {current}", "{count} 步，当前：{current}";
    ToolGroupDone: "{count} steps done", "已完成 {count} 步";
    ToolGroupFailed: "{count} steps, {failed} failed", "{count} 步，其中 {failed} 步失败";
    ToolParameters: "Parameters", "参数";
    ToolResult: "Result", "结果";
    ToolUncertain: "It is not certain that this happened.", "无法确定此操作是否已发生。";
    StateRunning: "running", "进行中";
    StateDone: "done", "已完成";
    StateFailed: "failed", "失败";
    StateWaiting: "waiting", "等待中";

    // Status line.
    StatusStarting: "Starting", "正在启动";
    StatusThinking: "Thinking", "正在思考";
    StatusWriting: "Writing", "正在回答";
    StatusWaitingForYou: "Waiting for you", "等待你确认";
    StatusForYouUntil: "Waiting for you until {time}", "等待你处理，截至 {time}";
    StatusForYouIn: "Waiting for you: {seconds} s left", "等待你处理，还剩 {seconds} 秒";
    StatusWatching: "Watching the page", "正在留意页面";
    StatusWatchingUntil: "Watching the page until {time}", "正在留意页面，截至 {time}";
    StatusWatchingIn: "Watching the page: {seconds} s left", "正在留意页面，还剩 {seconds} 秒";
    StatusLater: "Goes on soon", "即将继续";
    StatusLaterAt: "Goes on at {time}", "将于 {time} 继续";
    StatusLaterIn: "Goes on in {seconds} s", "{seconds} 秒后继续";
    StatusRateLimit: "The provider asked for a pause", "服务商要求暂停";
    StatusRateLimitUntil: "The provider asked for a pause until {time}", "服务商要求暂停至 {time}";
    StatusRateLimitIn: "The provider asked for a pause: {seconds} s left", "服务商要求暂停，还剩 {seconds} 秒";
    StatusRetry: "Trying again soon", "即将重试";
    StatusRetryUntil: "Trying again at {time}", "将于 {time} 重试";
    StatusRetryIn: "Trying again in {seconds} s", "{seconds} 秒后重试";
    StatusSlowProvider: "The provider has not answered yet", "服务商尚未响应";
    StatusPageLoading: "Waiting for the page to load", "正在等待页面加载";
    StatusSlowTool: "The page takes its time", "页面响应较慢";
    StatusStopping: "Stopping", "正在停止";
    StatusInterrupted: "Interrupted: needs your decision", "已中断：需要你决定";
    StatusBudget: "Paused: the budget is used up", "已暂停：预算已用完";
    StatusUncertain: "Needs your decision", "需要你决定";
    StatusReconnecting: "The connection to the engine was lost. Connecting again; nothing is lost.", "与引擎的连接已断开，正在重新连接，内容不会丢失。";
    StatusReconnectingSlow: "Still connecting. If this lasts, reload the extension.", "仍在连接。若持续如此，请重新加载扩展。";

    // How a turn ended.
    EndMaxTokens: "The answer was cut at the model's length limit. Ask it to go on.", "回答达到模型的长度上限被截断。可以让它继续。";
    EndContentFilter: "The provider withheld the answer. Put it in other words, or choose another model.", "服务商拦截了回答。请换一种说法，或换一个模型。";
    EndInterrupted: "Stopped.", "已停止。";
    EndBudget: "Your budget is used up. Continue, or change it in the settings.", "预算已用完。可以继续，或在设置中修改。";

    // Notices of the engine.
    NoticeInterrupted: "You stopped this.", "你停止了任务。";
    NoticeWorkerRestarted: "Chrome restarted the extension in the middle of this answer. What was written is kept.", "Chrome 在回答过程中重启了扩展。已写出的内容已保留。";
    NoticeProviderFailed: "The provider failed: {detail}", "服务商出错：{detail}";
    NoticeIncomplete: "The answer ended without the provider's closing mark. It may be incomplete.", "回答缺少服务商的结束标记，可能不完整。";
    NoticeToolFailures: "Several steps failed in a row. The model was told to change its approach.", "连续多步失败，已提示模型调整做法。";
    NoticeRepeated: "The same step came three times without progress.", "同一步骤重复三次仍无进展。";
    NoticeTree: "The stored conversation was damaged. The newest sound branch is shown.", "存储的对话已损坏。当前显示最新的完好分支。";
    NoticeUncertain: "It is not certain that the last change happened.", "无法确定上一次改动是否已发生。";
    NoticeBudget: "The budget is used up.", "预算已用完。";
    NoticeContinued: "Going on from where the answer stopped.", "从回答中断处继续。";
    NoticeOther: "{detail}", "{detail}";

    // Approval card.
    AskTitle: "Panelot asks", "Panelot 请求确认";
    AskClick: "Click {*target} on {*site}", "在 {*site} 上点击 {*target}";
    AskType: "Type {*text} into {*target} on {*site}", "在 {*site} 的 {*target} 中输入 {*text}";
    AskTypeSubmit: "Type {*text} into {*target} on {*site} and press Enter", "在 {*site} 的 {*target} 中输入 {*text} 并按 Enter";
    AskSelect: "Choose {*text} in {*target} on {*site}", "在 {*site} 的 {*target} 中选择 {*text}";
    AskNavigate: "Go to {*target}", "前往 {*target}";
    AskOpen: "Open {*target} in a new tab", "在新标签页中打开 {*target}";
    AskRead: "Read {*target} on {*site}", "读取 {*site} 上的 {*target}";
    AskWatch: "Watch {*site} for the change {*target}", "留意 {*site} 的变化 {*target}";
    AskOther: "Use {*tool} on {*site}: {*target}", "在 {*site} 上使用 {*tool}：{*target}";
    AskOtherNoSite: "Use {*tool}: {*target}", "使用 {*tool}：{*target}";
    ThisBrowser: "this browser", "此浏览器";
    RiskSensitive: "This sends something that looks like a password, a card number or an address.", "此操作会发送疑似密码、卡号或地址的内容。";
    RiskEscalation: "The ordinary way had no effect. This uses Chrome's debugger.", "常规方式没有生效。此操作将使用 Chrome 调试器。";
    RiskHost: "Panelot has no access to this site yet. Chrome will ask you.", "Panelot 尚无此网站的访问权限，Chrome 会询问你。";
    RiskCrossSite: "This takes text from one site to another.", "此操作会把一个网站的文字带到另一个网站。";
    Allow: "Allow", "允许";
    AllowSession: "Allow {doing} on {site} in this chat", "在此对话中允许在 {site} 上{doing}";
    AllowSessionNoSite: "Allow {doing} in this chat", "在此对话中允许{doing}";
    AllowSite: "Always allow {doing} on {site}", "始终允许在 {site} 上{doing}";
    AllowSiteNone: "Always allow on this site", "始终允许此网站";
    DoClick: "every click", "所有点击";
    DoType: "all typing", "所有输入";
    DoSelect: "every choice", "所有选择";
    DoNavigate: "going to any page", "前往任意页面";
    DoOpen: "opening any tab", "打开任意标签页";
    DoRead: "all reading", "所有读取";
    DoOther: "every use of {tool}", "所有 {tool} 操作";
    Decline: "Decline", "拒绝";
    DeclineStop: "Decline and stop", "拒绝并停止";
    DeclineNote: "Why, or what to do instead (optional)", "原因，或改做什么（可选）";
    More: "More", "更多";
    Less: "Less", "收起";
    TimeLeft: "Declines itself in {time}", "{time} 后自动拒绝";
    QueuePosition: "{index} of {count}", "第 {index}/{count} 项";
    AskAnnounce: "Panelot asks for your permission: {sentence}", "Panelot 请求你的许可：{sentence}";
    AskKeys: "Keys work while the focus is on this card: Y, N, S, A, Esc.", "焦点在此卡片上时可用按键：Y、N、S、A、Esc。";

    // Recovery card.
    RecoverInterrupted: "The answer was interrupted before it was complete.", "回答在完成前被中断。";
    RecoverBudget: "The turn stopped because the budget is used up.", "预算用完，任务已停止。";
    RecoverEnvironment: "Something changed since this began: the model, the page or a permission.", "任务开始后，模型、页面或权限发生了变化。";
    RecoverUncertain: "It is not certain whether this happened: {*target}. Look at the page, then decide.", "无法确定此操作是否已发生：{*target}。请查看页面后再决定。";
    Continue: "Continue", "继续";
    Retry: "It did not happen: do it again", "没有发生：重做";
    MarkDone: "It happened: go on", "已经发生：继续";
    Fail: "Leave it and stop", "放弃并停止";

    // Interactions.
    InteractAsk: "Panelot asks you", "Panelot 向你提问";
    InteractAction: "Only you can do this", "此步骤需要你亲自完成";
    InteractTakeover: "You acted in this tab, so Panelot waits.", "你操作了该标签页，Panelot 已暂停等待。";
    InteractWatch: "Watching the page for this change", "正在留意页面的这一变化";
    InteractSchedule: "Goes on at {time}", "将于 {time} 继续";
    InteractServer: "{server} asks", "{server} 请求信息";
    InteractDone: "Done, go on", "已完成，继续";
    InteractGoOn: "Go on now", "立即继续";
    InteractAnswer: "Answer", "回答";
    InteractAnswerOwn: "Another answer", "其他回答";
    InteractSubmit: "Send the answer", "发送回答";
    InteractDecline: "Not now", "暂不";
    InteractStop: "Stop the task", "停止任务";
    InteractLeft: "{time} left", "剩余 {time}";
    InteractUntil: "until {time}", "截至 {time}";
    InteractAnnounce: "{title}: {detail}", "{title}：{detail}";
    InteractKeys: "Keys work while the focus is on this card: digits for the answers, Y, N, Esc.", "焦点在此卡片上时可用按键：数字选择回答，Y、N、Esc。";

    // Waits that have ended.
    WaitAnswered: "{detail} You answered: {answer}", "{detail} 你的回答：{answer}";
    WaitDone: "You said that it is done: {detail}", "你表示已完成：{detail}";
    WaitGoOn: "You let it go on: {detail}", "你让其继续：{detail}";
    WaitDeclined: "You declined: {detail}", "你已拒绝：{detail}";
    WaitDeclinedNote: "You declined: {detail} ({answer})", "你已拒绝：{detail}（{answer}）";
    WaitStopped: "Stopped while it waited: {detail}", "等待中已停止：{detail}";
    WaitUnanswered: "Nobody answered in time: {detail}", "无人及时回应：{detail}";
    WaitNotSeen: "The change of the page did not come in time: {detail}", "页面未及时变化：{detail}";
    WaitMet: "The change of the page came: {detail}", "页面已变化：{detail}";
    WaitClosed: "The page was closed while it was watched: {detail}", "留意期间页面已关闭：{detail}";
    WaitNavigated: "The tab shows another site and is watched no longer: {detail}", "标签页已转到其他网站，不再留意：{detail}";
    WaitForbidden: "A rule forbids watching the page: {detail}", "规则禁止留意该页面：{detail}";
    WaitDue: "Went on at the time that was set: {detail}", "已按设定时间继续：{detail}";

    // Queue dock.
    QueueTitle: "{count} waiting", "{count} 条排队中";
    QueueHeld: "On hold since you stopped", "停止后已暂挂";
    QueueRelease: "Send them now", "立即发送";
    QueueRemove: "Remove from the queue", "从队列移除";

    // Thread list.
    ListSearch: "Search chats", "搜索对话";
    ListEmpty: "No chats yet. What you write starts one.", "还没有对话。写下内容即可开始。";
    ListNoMatch: "No chat matches.", "没有匹配的对话。";
    ListMore: "Show more", "显示更多";
    GroupPinned: "Pinned", "已置顶";
    GroupToday: "Today", "今天";
    GroupYesterday: "Yesterday", "昨天";
    GroupWeek: "This week", "最近 7 天";
    GroupOlder: "Earlier", "更早";
    Rename: "Rename", "重命名";
    RenameLabel: "New title", "新标题";
    Save: "Save", "保存";
    Delete: "Delete", "删除";
    DeleteQuestion: "Delete this chat and everything in it?", "删除此对话及其全部内容？";
    Keep: "Keep", "保留";
    Untitled: "Untitled", "无标题";
    MarkRunning: "Running", "运行中";
    MarkWaiting: "Waiting for you", "等待你确认";
    MarkRecovery: "Needs your decision", "需要你决定";

    // Errors, each with a next step.
    ErrAuth: "{name} refused the key ({status}). Check it under Models.", "{name} 拒绝了密钥（{status}）。请在“模型”中检查。";
    ErrRateLimit: "{name} had too many requests ({status}). Try again in a while.", "{name} 请求过多（{status}）。请稍后再试。";
    ErrQuota: "The account at {name} has no credit left. Add credit there, or choose another model.", "{name} 账户余额不足。请充值，或换一个模型。";
    ErrOverloaded: "{name} is overloaded or has failed ({status}). Try again in a while.", "{name} 负载过高或发生故障（{status}）。请稍后再试。";
    ErrContext: "This chat is longer than the model takes. Start a new chat, or choose a model with a larger context.", "对话超出模型的上下文长度。请新建对话，或换用更大上下文的模型。";
    ErrFilter: "{name} refused the content. Put it in other words.", "{name} 拒绝了内容。请换一种说法。";
    ErrNetwork: "{name} was not reached, or the connection broke off. Try again; if it stays so, check the network and the address under Models.", "无法连接 {name}，或连接中断。请重试；若仍失败，请检查网络和“模型”中的地址。";
    ErrProtocol: "{name} answered in a form that is not its protocol's. Check the address under Models.", "{name} 的响应不符合其协议。请检查“模型”中的地址。";
    ErrTimeout: "{name} sent nothing for too long. Try again.", "{name} 长时间没有响应。请重试。";
    ErrHost: "Chrome does not let Panelot reach {name} yet. Allow it under Models.", "Chrome 尚未允许 Panelot 访问 {name}。请在“模型”中允许。";
    ErrBadRequest: "{name} refused the request as wrong: {detail}", "{name} 认为请求有误：{detail}";
    ErrNotConfigured: "No model is set up. Add one under Models.", "尚未设置模型。请在“模型”中添加。";
    ErrOverload: "Too much is waiting. Your message is back in the composer; send it again in a moment.", "等待的内容过多。消息已放回输入框，请稍后再发送。";
    ErrQueueFull: "The queue is full. Your message is back in the composer.", "队列已满。消息已放回输入框。";
    ErrThreadGone: "This chat does not exist any more.", "此对话已不存在。";
    ErrTurnMismatch: "The turn had ended already. Your message is back in the composer.", "任务已结束。消息已放回输入框。";
    ErrInvalid: "The engine refused this: {detail}", "引擎拒绝了此操作：{detail}";
    ErrKeptAsDraft: "A message could not be sent. It is kept as a draft where it was written.", "有一条消息未能发送，已作为草稿保留在原处。";
    ErrMismatch: "A message between page and engine could not be read: {detail}. Reload the extension.", "页面与引擎之间的消息无法读取：{detail}。请重新加载扩展。";
    ErrStorageFull: "There is no room left to store this. Free some space on the disk, or delete chats.", "存储空间已满，无法保存。请释放磁盘空间，或删除部分对话。";
    ErrStorageBlocked: "A window of an older version keeps the data open. Close it, then try again.", "旧版本的窗口占用了数据。请关闭该窗口后重试。";
    ErrStorageNewer: "The stored data is of a newer version of Panelot. Update the extension.", "已存储的数据来自更新版本的 Panelot。请更新扩展。";
    ErrStorageDamaged: "Stored data cannot be read: {detail}. Export what is left under “Your data”.", "存储的数据无法读取：{detail}。请在“你的数据”中导出剩余内容。";
    ErrStorageFailed: "The browser did not store this: {detail}. Try again.", "浏览器未能保存：{detail}。请重试。";
    ErrImportInterrupted: "An import was cut off. Nothing was changed: start it again.", "导入被中断。没有任何改动，请重新导入。";
    ErrInternal: "The engine failed: {detail}. What you wrote is kept; try again.", "引擎出错：{detail}。你写的内容已保留，请重试。";
    TheProvider: "The provider", "服务商";
    OpenModels: "Open Models", "打开“模型”";
    TryAgain: "Try again", "重试";
    Dismiss: "Dismiss", "关闭提示";
    ReloadTitle: "Panelot was updated", "Panelot 已更新";
    ReloadText: "This page and the engine are of different versions. Reload the extension to go on; your chats are kept.", "此页面与引擎版本不一致。请重新加载扩展以继续，对话已保留。";
    LimitsTitle: "Limits", "用量上限";
    LimitsText: "When a limit is reached, the turn stops and you are asked whether it should go on. An empty field means no limit.", "达到上限时任务会暂停，并询问你是否继续。留空表示不限。";
    LimitTokens: "Tokens per turn", "每轮令牌数";
    LimitCost: "Cost per chat in US dollars", "每个对话的费用（美元）";
    LimitTokensWrong: "Enter a whole number of tokens above zero, or leave the field empty.", "请输入大于零的整数令牌数，或留空。";
    LimitCostWrong: "Enter an amount above zero and at most 1,000,000, or leave the field empty.", "请输入大于零且不超过 1,000,000 的金额，或留空。";
    LimitNoPrice: "The price of {names} is not known, so this limit has no effect there.", "{names} 的价格未知，因此该上限对其不起作用。";
    GoneTitle: "Panelot is no longer there", "Panelot 已不在";
    GoneText: "The extension was updated, turned off or removed while this page was open. Open the page again to go on.", "此页面打开期间，扩展已被更新、停用或移除。请重新打开此页面以继续。";
    GoneButton: "Open the page again", "重新打开页面";
    RestartedText: "Panelot had a fault and started again. What was running is stopped where it was and can be continued.", "Panelot 出现故障并已重新启动。正在运行的任务已在原处停止，可以继续。";
    RestartedCopy: "Copy a report", "复制报告";
    RestartedCopied: "Copied. The report holds no text of yours and none of a page.", "已复制。报告不包含你的文字，也不包含网页内容。";
    UpdateReady: "An update is ready. It is put in place when nothing runs and no draft is open.", "更新已就绪。没有任务运行且没有草稿时将自动应用。";
    UpdateNow: "Update now", "立即更新";
    ReloadButton: "Reload the extension", "重新加载扩展";

    // First run and connections.
    FirstRunTitle: "Connect a model", "连接模型";
    FirstRunText: "Panelot uses your own model: a hosted one with your key, or one on this machine.", "Panelot 使用你自己的模型：带密钥的云端模型，或本机模型。";
    ConnTemplate: "Provider", "服务商";
    ConnName: "Name", "名称";
    ConnUrl: "Base URL", "基础 URL";
    ConnKey: "API key", "API 密钥";
    ConnKeyStored: "A key is stored. Leave this empty to keep it.", "已存有密钥。留空则保留。";
    ConnKeyNone: "Not needed for most local servers.", "多数本机服务不需要。";
    ConnModel: "Model", "模型";
    ConnModelHint: "The id that the provider uses, for instance from its model list.", "服务商使用的模型标识，可在其模型列表中查到。";
    ConnVision: "The model sees images", "模型支持图片";
    ConnPatience: "Waiting times", "等待时间";
    ConnFirstByte: "Seconds until an answer begins", "回答开始前的最长秒数";
    ConnFirstByteHint: "Empty for 60. A local model that is loaded first may need more.", "留空为 60。需要先加载的本机模型可能需要更久。";
    ConnSilence: "Seconds of silence in an answer", "回答中途静默的最长秒数";
    ConnSilenceHint: "Empty for 120.", "留空为 120。";
    ConnSave: "Save", "保存";
    ConnSaving: "Saving", "正在保存";
    ConnSaved: "Saved.", "已保存。";
    ConnGoesTo: "What you write, and what is read from pages for it, goes to {*host}.", "你写的内容以及为此读取的页面内容会发送到 {*host}。";
    ConnGoesLocal: "What you write stays on this machine: {*host}.", "你写的内容只留在本机：{*host}。";
    ConnPermission: "Saving asks Chrome for access to {host}.", "保存时会向 Chrome 请求访问 {host}。";
    ConnPermissionDenied: "Chrome did not grant access to {host}. Requests to it may fail until you allow it.", "Chrome 未授予 {host} 的访问权限。允许前对它的请求可能失败。";
    ConnNoAccess: "Chrome does not let Panelot reach {host} yet.", "Chrome 尚未允许 Panelot 访问 {host}。";
    ConnAllowHost: "Allow access", "允许访问";
    ConnAdd: "Add a connection", "添加连接";
    ConnEdit: "Edit {name}", "编辑 {name}";
    ConnDelete: "Delete {name}", "删除 {name}";
    ConnDeleteQuestion: "Delete {name} and its keys?", "删除 {name} 及其密钥？";
    ConnUse: "Use for new chats", "用于新对话";
    ConnDefault: "Used for new chats", "新对话使用";
    ConnEmpty: "No connection yet.", "还没有连接。";
    TemplateCustom: "Other, OpenAI-compatible", "其他，兼容 OpenAI";
    TemplateCustomAnthropic: "Other, Anthropic-compatible", "其他，兼容 Anthropic";
    FieldNameEmpty: "Name: must not be empty.", "名称：不能为空。";
    FieldNameLong: "Name: longer than {max} characters.", "名称：超过 {max} 个字符。";
    FieldUrlScheme: "Base URL: must begin with https:// or http://.", "基础 URL：必须以 https:// 或 http:// 开头。";
    FieldUrlHost: "Base URL: has no host.", "基础 URL：缺少主机名。";
    FieldUrlUser: "Base URL: must not hold a user name, a password or a key.", "基础 URL：不能包含用户名、密码或密钥。";
    FieldUrlPlain: "Base URL: http:// would send everything in the open; it is allowed for this machine and private networks only.", "基础 URL：http:// 会明文发送内容，仅允许用于本机和内网。";
    FieldUrlLong: "Base URL: longer than 2,048 bytes.", "基础 URL：超过 2,048 字节。";
    FieldUrlPart: "Base URL: `{part}` is not part of a usual address.", "基础 URL：`{part}` 不是有效地址的一部分。";
    FieldKeyEmpty: "API key: this provider needs one.", "API 密钥：此服务商需要密钥。";
    FieldNameHidden: "Name: must not hold characters that cannot be seen.", "名称：不能包含不可见字符。";
    FieldModelHidden: "Model: must not hold characters that cannot be seen.", "模型：不能包含不可见字符。";
    FieldKeyAscii: "API key: must hold ASCII letters, digits and signs only.", "API 密钥：只能包含 ASCII 字母、数字和符号。";
    FieldUrlAscii: "Base URL: the host `{part}` has letters outside ASCII; enter its xn-- form.", "基础 URL：主机名 `{part}` 含有非 ASCII 字符，请输入其 xn-- 形式。";
    FieldKeySpace: "API key: must not hold spaces or line breaks.", "API 密钥：不能包含空格或换行。";
    FieldFirstByte: "Seconds until an answer begins: whole seconds from 5 to 3600, or nothing.", "回答开始前的最长秒数：5 到 3600 的整数，或留空。";
    FieldSilence: "Seconds of silence in an answer: whole seconds from 5 to 3600, or nothing.", "回答中途静默的最长秒数：5 到 3600 的整数，或留空。";
    FieldModelEmpty: "Model: must not be empty.", "模型：不能为空。";
    FieldModelLong: "Model: longer than {max} characters.", "模型：超过 {max} 个字符。";

    // Options.
    OptionsTitle: "Panelot settings", "Panelot 设置";
    SectionModels: "Models", "模型";
    SectionPermissions: "Permissions", "权限";
    SectionGeneral: "General", "通用";
    SectionData: "Your data", "你的数据";
    SectionAbout: "About", "关于";
    ModelsText: "Endpoints that you connect. Keys are encrypted on this machine and sent to their own endpoint only.", "你连接的端点。密钥加密保存在本机，只发送给各自的端点。";
    PermissionsText: "How much passes without a question. Sensitive sites and passwords keep their own limits in every mode.", "无需询问即可执行的范围。敏感网站和密码在任何模式下都有单独限制。";
    RulesTitle: "Rules", "规则";
    RulesEmpty: "No rules. “Always allow” in a question makes one.", "没有规则。在请求中选择“始终允许”会新增一条。";
    RuleAllow: "allow", "允许";
    RuleAsk: "ask", "询问";
    RuleDeny: "deny", "拒绝";
    RuleLine: "{subject} on {origin}", "{origin} 上的 {subject}";
    EveryTool: "every tool", "所有工具";
    EverySite: "every site", "所有网站";
    RuleRemove: "Remove the rule {subject} on {origin}", "移除规则 {subject}（{origin}）";
    Language: "Language", "语言";
    LanguageBrowser: "As the browser", "跟随浏览器";
    LanguageEnglish: "English", "English";
    LanguageChinese: "简体中文", "简体中文";
    Theme: "Theme", "主题";
    ThemeSystem: "As the system", "跟随系统";
    ThemeLight: "Light", "浅色";
    ThemeDark: "Dark", "深色";
    AboutVersion: "Version", "版本";
    AboutProtocol: "Engine protocol", "引擎协议";
    AboutContentProtocol: "Page protocol", "页面协议";
    AboutHash: "Schema hash", "结构哈希";
    DataText: "All chats as one file, to keep or to take to another browser.", "把全部对话存成一个文件，用于备份或迁移到其他浏览器。";
    ExportTitle: "Export", "导出";
    ExportText: "The file holds every chat and, to be read only, your settings. It holds no keys and no secret headers.", "文件包含全部对话和供查阅的设置，不含密钥和保密的请求头。";
    ExportAttachments: "With the content of attachments", "包含附件内容";
    ExportStart: "Make the file", "生成文件";
    ExportRunning: "Making the file: {size} so far", "正在生成文件：已有 {size}";
    ExportSave: "Save {name} ({size})", "保存 {name}（{size}）";
    ExportLarge: "This file is larger than an import takes ({size}). Keep it for reading, or delete chats and export again.", "文件超过导入上限（{size}）。可留作查阅，或删除部分对话后重新导出。";
    ImportTitle: "Import", "导入";
    ImportText: "Chats and attachments come in. Connections, presets, permission rules and all other settings of the file are listed and left out.", "导入对话和附件。文件中的连接、预设、权限规则和其他设置只会列出，不会导入。";
    ImportFile: "File of an export", "导出的文件";
    ImportMode: "What happens to the chats that are here", "如何处理现有对话";
    ImportMerge: "Keep the chats that are here", "保留现有对话";
    ImportMergeHint: "A chat that is also in the file is replaced by the file's.", "文件中也有的对话会被文件中的版本替换。";
    ImportReplace: "Delete all chats that are here", "删除全部现有对话";
    ImportReplaceHint: "Every chat that is here now is deleted; only the file's are left.", "现有对话全部删除，只保留文件中的对话。";
    ImportStart: "Import {name}", "导入 {name}";
    ImportStartReplace: "Delete all chats and import {name}", "删除全部对话并导入 {name}";
    ImportSureReplace: "Really delete all chats? Press again to import {name}", "确定删除全部对话？再按一次导入 {name}";
    ImportRunning: "Importing: part {part} of {total}", "正在导入：第 {part} 部分，共 {total} 部分";
    ImportDone: "{count} chats were imported.", "已导入 {count} 个对话。";
    ImportRefused: "Nothing was imported. The file has these problems:", "没有导入任何内容。文件存在以下问题：";
    ImportTooLarge: "The file is too large: {size}. An import takes {limit} at most.", "文件过大：{size}。导入上限为 {limit}。";
    ImportUnreadable: "The file could not be read.", "无法读取文件。";
    ImportLeftOut: "Not taken over from the file:", "文件中未导入的内容：";
    LeftConnection: "Connection {name}", "连接 {name}";
    LeftPreset: "Preset {name}", "预设 {name}";
    LeftRule: "Permission rule {name}", "权限规则 {name}";
    LeftThreadPreset: "A chat's preset {name}, which is not here", "对话所用的预设 {name}（此处不存在）";
    LeftSettings: "All other settings", "其他全部设置";
    AboutText: "An agent beside your own tabs. It reads what you have open, acts with your log-ins, and asks before it writes.", "与你的标签页并排工作的助手。读取你打开的页面，以你的登录状态操作，改动前先询问。";
    OpenChat: "Open the chat", "打开对话";

    // Numbers and times.
    TokensUsed: "{input} in, {output} out", "输入 {input}，输出 {output}";
    CostUnknown: "cost unknown", "费用未知";
}
