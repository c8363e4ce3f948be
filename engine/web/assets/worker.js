// The service worker's entry. Every listener is added in the first turn; what happens while no engine is up waits in
// order. `import()` does not exist here, so the glue is imported statically.
import init, * as engine from './engine.js';

// A worker cannot end itself, so an engine that died is replaced by a new instance of the module in the same worker:
// so often within this time, then no more.
const RESTARTS_COUNT_MAX = 3;
const RESTARTS_WINDOW_MS = 60_000;

const WAITING_COUNT_MAX = 4096;

const waiting = [];
const wait = (happening) => {
  if (waiting.length < WAITING_COUNT_MAX) waiting.push(happening);
};
let call = wait;
let started = false;
let life = new AbortController();
let restarts = [];
// Of a panic that has no new instance yet, and how many traps are to follow panics.
let lastWords = '';
let trapsAnnounced = 0;
const ports = new Set();

const dropPorts = (message) => {
  for (const port of ports) {
    if (message) port.postMessage(message);
    port.disconnect();
  }
  ports.clear();
};

// An engine that does not start, or dies again and again, must not leave a page waiting: it answers in the one message
// that every version of a page can read.
const refuse = (reason) => {
  console.error('Panelot: the engine is not running:', reason);
  const message = JSON.stringify({
    type: 'fatal.reload_required', submissionId: '', protocol: '', schemaHash: '',
    message: `The engine could not start: ${String(reason).split('\n')[0]}. Reload the extension.`,
  });
  started = false;
  waiting.length = 0;
  life.abort();
  call = () => dropPorts(message);
  call();
};

const begin = (death) => {
  engine.start(life.signal, death);
  started = true;
  call = (happening) => {
    try {
      happening();
    } catch (error) {
      died(error);
    }
  };
  for (const happening of waiting.splice(0)) call(happening);
};

// The pages connect again by themselves and find a new engine, which goes on from what is stored. Calls that the old
// instance still awaits are refused by the glue; its requests are aborted here.
const restart = (error) => {
  if (!started) return;
  const now = Date.now();
  restarts = restarts.filter((at) => now - at < RESTARTS_WINDOW_MS);
  const death = lastWords || String(error?.stack ?? error);
  lastWords = '';
  if (restarts.push(now) > RESTARTS_COUNT_MAX) return refuse(death);
  console.warn('Panelot: the engine died and is started again:', death);
  started = false;
  call = wait;
  life.abort();
  life = new AbortController();
  dropPorts();
  try {
    engine.__wbg_reset_state();
    begin(death);
  } catch (failure) {
    refuse(failure);
  }
};

// The panic hook's. The trap that follows ends the call that is under way and is no second death.
self.panelotPanicked = (words) => {
  lastWords ||= `${words}\n${new Error().stack}`;
  trapsAnnounced += 1;
  if (started) call = wait;
  queueMicrotask(() => lastWords && restart());
};
const died = (error) => {
  if (trapsAnnounced > 0) {
    trapsAnnounced -= 1;
    if (!lastWords) return;
  }
  restart(error);
};
const isDeath = (error) => error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
const isStale = (error) => String(error?.message).startsWith('Cannot invoke closure from previous WASM instance');
const uncaught = (event, error) => {
  if (isDeath(error) || isStale(error)) event.preventDefault();
  if (isDeath(error)) died(error);
};
self.addEventListener('error', (event) => uncaught(event, event.error));
self.addEventListener('unhandledrejection', (event) => uncaught(event, event.reason));

init({ module_or_path: new URL('engine_bg.wasm', import.meta.url) }).then(() => begin()).catch(refuse);

let connections = 0;
chrome.runtime.onConnect.addListener((port) => {
  const key = ++connections;
  const ifOpen = (happening) => call(() => ports.has(port) && happening());
  ports.add(port);
  port.onMessage.addListener((message) => ifOpen(() => engine.port_message(key, String(message))));
  port.onDisconnect.addListener(() => {
    ports.delete(port);
    call(() => engine.port_closed(key));
  });
  ifOpen(() => engine.port_opened(key, port));
});

chrome.runtime.onUpdateAvailable.addListener(() => call(() => engine.update_available()));
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
