//! Sites on which the agent never writes: payment, banks, brokers, government, and what the user adds.

use super::origins::{Origin, OriginPattern, UrlProblem};

/// Why a site is on the built-in list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensitiveKind {
    /// Moves money.
    Payment,
    /// Holds money.
    Bank,
    /// Trades.
    Broker,
    /// Acts for the state.
    Government,
    /// Added by the user.
    User,
}

impl SensitiveKind {
    /// The kind in a sentence: "... is a payment site".
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Payment => "a payment site",
            Self::Bank => "a bank",
            Self::Broker => "a broker or exchange",
            Self::Government => "a government site",
            Self::User => "a site that the user protects",
        }
    }
}

/// The built-in list. Each entry means the host and all hosts below it. It holds the services with the most users
/// and the registries that only governments get; it cannot be complete, which is why the user's patterns stand
/// beside it and why payloads are inspected everywhere.
const BUILT_IN: [(SensitiveKind, &[&str]); 4] = [
    (
        SensitiveKind::Payment,
        &[
            "paypal.com",
            "checkout.stripe.com",
            "dashboard.stripe.com",
            "wise.com",
            "venmo.com",
            "cash.app",
            "klarna.com",
            "payoneer.com",
            "skrill.com",
            "alipay.com",
            "pay.weixin.qq.com",
            "unionpay.com",
            "95516.com",
            "pay.google.com",
            "pay.amazon.com",
            "revolut.com",
            "zellepay.com",
            "adyen.com",
        ],
    ),
    (
        SensitiveKind::Bank,
        &[
            "chase.com",
            "bankofamerica.com",
            "wellsfargo.com",
            "citi.com",
            "citibank.com",
            "capitalone.com",
            "usbank.com",
            "americanexpress.com",
            "hsbc.com",
            "hsbc.co.uk",
            "barclays.co.uk",
            "lloydsbank.com",
            "natwest.com",
            "santander.com",
            "deutsche-bank.de",
            "commerzbank.de",
            "sparkasse.de",
            "ing.com",
            "ing.de",
            "n26.com",
            "bnpparibas.com",
            "credit-agricole.fr",
            "ubs.com",
            "rbc.com",
            "td.com",
            "commbank.com.au",
            "icbc.com.cn",
            "ccb.com",
            "abchina.com",
            "boc.cn",
            "bankcomm.com",
            "cmbchina.com",
            "spdb.com.cn",
            "mufg.jp",
            "smbc.co.jp",
            "dbs.com",
            "hdfcbank.com",
            "onlinesbi.sbi",
            "itau.com.br",
        ],
    ),
    (
        SensitiveKind::Broker,
        &[
            "fidelity.com",
            "schwab.com",
            "vanguard.com",
            "etrade.com",
            "robinhood.com",
            "interactivebrokers.com",
            "tdameritrade.com",
            "traderepublic.com",
            "etoro.com",
            "coinbase.com",
            "binance.com",
            "kraken.com",
            "okx.com",
            "futunn.com",
            "eastmoney.com",
        ],
    ),
    (
        SensitiveKind::Government,
        &[
            "gov",
            "mil",
            "gov.uk",
            "gov.au",
            "gov.cn",
            "gov.in",
            "gov.br",
            "gov.sg",
            "gov.hk",
            "gov.tw",
            "govt.nz",
            "gc.ca",
            "canada.ca",
            "gouv.fr",
            "bund.de",
            "elster.de",
            "gob.es",
            "gob.mx",
            "gov.it",
            "gov.pl",
            "go.jp",
            "go.kr",
            "admin.ch",
            "europa.eu",
        ],
    ),
];

/// The sites on which nothing is written.
#[derive(Debug, Clone, Default)]
pub struct SensitiveOrigins {
    lifted: Vec<String>,
    own: Vec<OriginPattern>,
}

impl SensitiveOrigins {
    /// The built-in list without what the user has lifted by name, and the user's own patterns.
    ///
    /// # Errors
    /// The place in `own_patterns` and the problem of the first pattern that cannot be read.
    pub fn new(lifted: &[String], own_patterns: &[String]) -> Result<Self, (usize, UrlProblem)> {
        let parse = |(place, text): (usize, &String)| OriginPattern::parse(text).map_err(|why| (place, why));
        let own = own_patterns.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
        let lifted = lifted.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        Ok(Self { lifted, own })
    }

    /// Whether nothing may be written on an origin, and why. The user's own patterns cannot be lifted.
    pub fn kind_of(&self, origin: &Origin) -> Option<SensitiveKind> {
        if self.own.iter().any(|pattern| pattern.matches(Some(origin))) {
            return Some(SensitiveKind::User);
        }
        let is_at = |name: &&str| {
            let host = origin.host();
            host == *name || host.strip_suffix(*name).is_some_and(|front| front.ends_with('.'))
        };
        let is_lifted = |name: &&str| self.lifted.iter().any(|lifted| lifted == name);
        BUILT_IN.iter().find_map(|(kind, names)| {
            names.iter().any(|name| is_at(name) && !is_lifted(name)).then_some(*kind)
        })
    }

    /// The names on the built-in list, for the options page.
    pub fn built_in() -> impl Iterator<Item = (SensitiveKind, &'static str)> {
        BUILT_IN.iter().flat_map(|(kind, names)| names.iter().map(move |name| (*kind, *name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sensitive: &SensitiveOrigins, origin: &str) -> Option<SensitiveKind> {
        sensitive.kind_of(&Origin::parse(origin).unwrap())
    }

    #[test]
    fn every_built_in_name_is_a_host_that_a_pattern_can_name() {
        for (_, name) in SensitiveOrigins::built_in() {
            assert_eq!(OriginPattern::parse(&format!("*.{name}")), Ok(OriginPattern::Below(name.to_owned())));
        }
    }

    #[test]
    fn a_site_is_sensitive_with_all_hosts_below_it_and_no_look_alike() {
        let sensitive = SensitiveOrigins::default();
        let table = [
            ("https://www.paypal.com", Some(SensitiveKind::Payment)),
            ("http://paypal.com:8080", Some(SensitiveKind::Payment)),
            ("https://secure.chase.com", Some(SensitiveKind::Bank)),
            ("https://kraken.com", Some(SensitiveKind::Broker)),
            ("https://www.irs.gov", Some(SensitiveKind::Government)),
            ("https://paypal.com.evil.test", None),
            ("https://notpaypal.com", None),
            ("https://gov.test", None),
        ];
        for (origin, expected) in table {
            assert_eq!(kind(&sensitive, origin), expected, "{origin}");
        }
    }

    #[test]
    fn the_user_lifts_one_built_in_site_by_name_and_adds_patterns() {
        let lifted = ["PayPal.com ".to_owned()];
        let own = ["*.work.test".to_owned()];
        let sensitive = SensitiveOrigins::new(&lifted, &own).unwrap();
        assert_eq!(kind(&sensitive, "https://www.paypal.com"), None);
        assert_eq!(kind(&sensitive, "https://wise.com"), Some(SensitiveKind::Payment));
        assert_eq!(kind(&sensitive, "https://hr.work.test"), Some(SensitiveKind::User));
        let refused = SensitiveOrigins::new(&[], &["*".to_owned(), "work.test".to_owned()]);
        assert_eq!(refused.err(), Some((1, UrlProblem::BareHost)));
    }
}
