// Starts the pages' wasm.
import init, { ui_version } from './ui.js';

await init({ module_or_path: new URL('ui_bg.wasm', import.meta.url) });
document.body.append(ui_version());
