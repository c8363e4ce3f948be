//! Child processes: each in a group of its own, so that nothing outlives a command, whichever way it ends.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Process groups that must not outlive this process.
static LIVE_GROUPS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// What must be put away when this process is asked to end; each is called once.
static CLEAN_UPS: Mutex<Vec<Box<dyn FnOnce() + Send>>> = Mutex::new(Vec::new());

/// How long a group may take to end by itself after SIGTERM, in milliseconds.
const GRACE_MS: u64 = 1_500;

/// Ends all children when the user or the system asks this process to end.
///
/// # Errors
/// When the signal handler cannot be installed.
pub fn end_children_on_signals() -> Result<()> {
    ctrlc::set_handler(|| {
        let clean_ups =
            std::mem::take(&mut *CLEAN_UPS.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for clean_up in clean_ups {
            clean_up();
        }
        let groups = live_groups().clone();
        for group in &groups {
            signal_group(*group, Signal::SIGTERM);
        }
        let deadline = Instant::now() + Duration::from_millis(GRACE_MS);
        while groups.iter().any(|group| group_lives(*group)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        for group in groups {
            signal_group(group, Signal::SIGKILL);
        }
        std::process::exit(130);
    })
    .context("install the handler for SIGINT and SIGTERM")
}

/// Calls `clean_up` before this process ends because the user or the system asks it to.
pub fn before_signalled_end(clean_up: impl FnOnce() + Send + 'static) {
    CLEAN_UPS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(Box::new(clean_up));
}

/// Runs a command to its end with inherited output.
///
/// # Errors
/// When it cannot be started, or ends with anything but success.
pub fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if status.success() {
        return Ok(());
    }
    bail!("`{}` failed: {status}", shown(command))
}

/// Runs a command to its end and returns how it ended.
///
/// # Errors
/// When it cannot be started.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    let mut group = spawn(command.stdin(Stdio::null()))?;
    group.child.wait().with_context(|| format!("wait for `{}`", shown(command)))
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// When it cannot be started or fails; the message carries its standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` failed: {}\n{}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A running child and everything that it started; dropping it ends them.
#[derive(Debug)]
pub struct Group {
    /// The child that leads the group.
    pub child: Child,
    id: i32,
}

/// Starts a command as the leader of a new process group.
///
/// # Errors
/// When it cannot be started.
pub fn spawn(command: &mut Command) -> Result<Group> {
    let child = command
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start `{}`: is it installed and on PATH?", shown(command)))?;
    let id = i32::try_from(child.id()).context("process id out of range")?;
    live_groups().push(id);
    Ok(Group { child, id })
}

impl Drop for Group {
    fn drop(&mut self) {
        // The leader may have ended and left children behind: the group is what must be gone.
        signal_group(self.id, Signal::SIGKILL);
        if let Err(error) = self.child.wait() {
            eprintln!("cannot collect process {}: {error}", self.id);
        }
        live_groups().retain(|group| *group != self.id);
    }
}

/// A command as a person would type it, for messages.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn live_groups() -> std::sync::MutexGuard<'static, Vec<i32>> {
    LIVE_GROUPS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A group that has ended already is what we want, so that error is not one.
fn signal_group(group: i32, signal: Signal) {
    match killpg(Pid::from_raw(group), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
        Err(error) => eprintln!("cannot end process group {group}: {error}"),
    }
}

fn group_lives(group: i32) -> bool {
    killpg(Pid::from_raw(group), None).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_names_itself_and_its_standard_error() {
        let error = output(Command::new("sh").args(["-c", "echo wrong >&2; exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c echo wrong >&2; exit 3` failed: exit status: 3\nwrong");
    }

    #[test]
    fn dropping_a_group_ends_grandchildren_too() {
        let group = spawn(
            Command::new("sh").args(["-c", "sleep 600 & wait"]).stdin(Stdio::null()).stdout(Stdio::null()),
        )
        .unwrap();
        let id = group.id;
        assert!(group_lives(id));
        drop(group);
        // The kernel has delivered SIGKILL; the orphan disappears once it is collected by init.
        let deadline = Instant::now() + Duration::from_secs(10);
        while group_lives(id) && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(!group_lives(id));
    }
}
