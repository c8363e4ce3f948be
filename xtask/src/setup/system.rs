//! Packages of the operating system: said first, installed when allowed, otherwise printed as a command.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{Consent, Setup};
use crate::paths::which;
use crate::{proc, progress};

/// How a package installation may go ahead.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    /// This process is root.
    Root,
    /// The user agreed to sudo.
    Sudo,
    /// Not allowed: print the command.
    Print,
}

/// Installs Debian packages.
///
/// # Errors
/// With the command to type, when this process may not do it or when apt fails.
pub fn install(setup: &Setup, why: &str, packages: &[&str]) -> Result<()> {
    let by_hand = by_hand(packages);
    if which(&["apt-get"]).is_none() {
        bail!(
            "{why} is missing, and this system has no apt-get: install what these Debian packages hold with its own \
             package manager: {}",
            packages.join(" ")
        );
    }
    let way = way(setup.consent, nix::unistd::geteuid().is_root());
    if way == Way::Print {
        bail!("{why} is missing. Run `{by_hand}`, or start this command again with --yes to let it do so");
    }
    progress::step(&format!("installing system packages for {why}: {}", packages.join(" ")));
    apt(&way, &["update", "-qq"])
        .with_context(|| format!("fetch the package lists; by hand: `{by_hand}`"))?;
    let mut args = vec!["install", "-y", "-qq", "--no-install-recommends"];
    args.extend(packages);
    apt(&way, &args).with_context(|| format!("install packages; by hand: `{by_hand}`"))
}

/// The command that a person would type.
pub fn by_hand(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {}", packages.join(" "))
}

/// The installed version of a Debian package, or `None`.
pub fn installed(package: &str) -> Option<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${db:Status-Status} ${Version}", package]);
    let line = proc::output(&mut query).ok()?;
    line.strip_prefix("installed ").map(str::to_owned)
}

fn way(consent: Consent, root: bool) -> Way {
    match (root, consent) {
        (true, Consent::Given | Consent::OnlyAsRoot) => Way::Root,
        (false, Consent::Given) => Way::Sudo,
        (false, Consent::OnlyAsRoot) => Way::Print,
    }
}

/// apt speaks to the terminal (sudo may ask for a password), so it stays in this process group.
fn apt(way: &Way, args: &[&str]) -> Result<()> {
    let mut command = match way {
        Way::Root | Way::Print => Command::new("apt-get"),
        Way::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
            sudo
        }
    };
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    let status = command.status().with_context(|| format!("start `{}`", proc::shown(&command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", proc::shown(&command));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_installed_only_by_root_or_with_consent() {
        assert_eq!(way(Consent::OnlyAsRoot, true), Way::Root);
        assert_eq!(way(Consent::Given, true), Way::Root);
        assert_eq!(way(Consent::Given, false), Way::Sudo);
        assert_eq!(way(Consent::OnlyAsRoot, false), Way::Print);
    }
}
