// Says what was typed, by which key, and whether the click was the user's own.
const out = document.querySelector('#out');
document.querySelector('#go').addEventListener('click', (event) => {
  out.textContent = `clicked ${event.isTrusted} ${document.querySelector('#name').value}`;
});
document.querySelector('#name').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.shiftKey) out.textContent = 'shift enter';
});
