// A worker that answers, counts its lives in storage, and can be told to fail.
const born = crypto.randomUUID();
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (message === 'born') answer(born);
  if (message === 'fail') setTimeout(() => { throw new Error('told to fail'); }, 0);
});
chrome.runtime.onConnect.addListener((port) => port.onMessage.addListener(() => port.postMessage('hello')));
