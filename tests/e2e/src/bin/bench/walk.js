// A plain walk of the page that collects what a snapshot needs: role, name, state, text, place of what can be acted on.
// Frozen: the numbers of different builds are compared with it.
() => {
  const start = performance.now();
  const roles = { A: 'link', BUTTON: 'button', INPUT: 'textbox', SELECT: 'combobox', TEXTAREA: 'textbox', H1: 'heading', H2: 'heading', H3: 'heading', UL: 'list', LI: 'listitem' };
  const lines = [];
  const nameOf = (element) => {
    const label = element.getAttribute('aria-label');
    if (label) return label;
    const by = element.getAttribute('aria-labelledby');
    if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
    if (element.labels?.length) return element.labels[0].textContent.trim();
    return element.textContent.trim();
  };
  const stack = [[document.body, 0]];
  while (stack.length > 0) {
    const [node, depth] = stack.pop();
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.trim();
      if (text) lines.push([depth, 'text', text]);
      continue;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    if (!node.checkVisibility({ visibilityProperty: true })) continue;
    const role = (node.hasAttributes() && node.getAttribute('role')) || roles[node.tagName];
    if (role) {
      const interactive = role !== 'heading' && role !== 'list' && role !== 'listitem';
      const place = interactive ? node.getBoundingClientRect() : null;
      const state = interactive ? [node.disabled, node.checked, node.getAttribute('aria-expanded'), node.value] : [];
      lines.push([depth, role, nameOf(node), state, place && [place.x, place.y, place.width, place.height]]);
    }
    for (let child = node.lastChild; child; child = child.previousSibling) stack.push([child, depth + 1]);
  }
  return [performance.now() - start, lines.length];
}
