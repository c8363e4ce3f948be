// The service worker's entry. Listeners are added in the first turn; messages wait until the engine is up.
import init, { engine_version } from './engine.js';

const ready = init({ module_or_path: new URL('engine_bg.wasm', import.meta.url) });

chrome.runtime.onConnect.addListener((port) => {
  ready.then(
    () => port.postMessage({ type: 'version', version: engine_version() }),
    (error) => {
      port.postMessage({ type: 'fatal', message: String(error) });
      port.disconnect();
    },
  );
});

// In the gesture itself, not queued: this also grants activeTab.
chrome.action.onClicked.addListener((tab) => {
  chrome.sidePanel.open({ windowId: tab.windowId });
});
