// The service worker's entry. Every listener is added in the first turn; what happens before the engine is up waits in
// order. `import()` does not exist here, so the glue is imported statically.
import init, * as engine from './engine.js';

const waiting = [];
let call = (happening) => waiting.push(happening);
const ports = new Set();

// An engine that did not start, or that died, must not leave a page waiting: it answers in the one message that every
// version of a page can read.
const refuse = (reason) => {
  console.error('Panelot: the engine is not running:', reason);
  call = () => {};
  for (const port of ports) {
    port.postMessage(JSON.stringify({
      type: 'fatal.reload_required', submissionId: '', protocol: '', schemaHash: '',
      message: `The engine could not start: ${reason}. Reload the extension.`,
    }));
    port.disconnect();
  }
  ports.clear();
};

const guarded = (happening) => {
  try {
    happening();
  } catch (error) {
    refuse(String(error));
  }
};

init({ module_or_path: new URL('engine_bg.wasm', import.meta.url) }).then(() => {
  engine.start();
  call = guarded;
  for (const happening of waiting.splice(0)) call(happening);
}).catch((error) => refuse(String(error)));

let connections = 0;
chrome.runtime.onConnect.addListener((port) => {
  const key = ++connections;
  ports.add(port);
  port.onMessage.addListener((message) => call(() => engine.port_message(key, String(message))));
  port.onDisconnect.addListener(() => {
    ports.delete(port);
    call(() => engine.port_closed(key));
  });
  call(() => engine.port_opened(key, port));
});

chrome.alarms.onAlarm.addListener((alarm) => call(() => engine.alarm(alarm.name)));
chrome.tabs.onUpdated.addListener((_id, change) => {
  if (change.status || change.title || change.url) call(() => engine.tabs_changed());
});
chrome.tabs.onActivated.addListener(() => call(() => engine.tabs_changed()));
chrome.tabs.onRemoved.addListener((id) => call(() => engine.tab_removed(id)));
chrome.notifications.onClicked.addListener((id) => call(() => {
  const page = engine.notification_page(id);
  if (page) chrome.tabs.create({ url: page });
}));
// Starting the browser or the extension starts the engine, which looks for unfinished work.
chrome.runtime.onInstalled.addListener(() => call(() => {}));
chrome.runtime.onStartup.addListener(() => call(() => {}));

// In the gesture itself, not queued: this also grants activeTab, which a panel opened by Chrome's own setting lacks.
chrome.action.onClicked.addListener((tab) => {
  chrome.sidePanel.open({ windowId: tab.windowId });
});
