//! `wasm-pack` without its look for newer versions, which would need the network.
use clap::Parser;

fn main() -> anyhow::Result<()> {
    env_logger::init();
    let cli = wasm_pack::Cli::parse();
    wasm_pack::PBAR.set_log_level(cli.log_level);
    if cli.quiet {
        wasm_pack::PBAR.set_quiet(true);
    }
    wasm_pack::command::run_wasm_pack(cli.cmd)
}
