// Sends the order and says what came back.
const form = document.querySelector('form');
const said = document.querySelector('output');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { name, drink, size, oat, note } = form.elements;
  const values = { name: name.value, drink: drink.value, size: size.value, oat: oat.checked, note: note.value };
  const answer = await fetch('/submit/order', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(values),
  });
  const { number } = await answer.json();
  const what = drink.selectedOptions[0].textContent.toLowerCase();
  said.textContent = `Thank you, ${values.name}. Order ${number}: a ${what}, ready in ten minutes.`;
  form.reset();
});
