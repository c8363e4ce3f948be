// Does this page's CSP let an isolated world compile WebAssembly? The smallest module, eight bytes, decides.
(() => {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    return 'content.js';
  } catch {
    return 'content-strict.js';
  }
})();
