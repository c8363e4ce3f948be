// Starts the pages' wasm. A stored choice of theme is applied before the first paint, so that nothing flashes.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be refused; the system's theme is right then.
}

const { default: init } = await import('./ui.js');
try {
  await init({ module_or_path: new URL('ui_bg.wasm', import.meta.url) });
} catch (error) {
  const message = document.createElement('p');
  message.className = 'start-failed';
  message.setAttribute('role', 'alert');
  message.textContent = `Panelot could not start this page (${error}). Reload the extension. / Panelot 无法启动此页面，请重新加载扩展。`;
  document.body.append(message);
  throw error;
}
