// A form of controlled inputs: what the page shows is React's state, not what was put into the DOM.
// With `?send=blocking` the page stands still until the server has answered.
const { createElement: h, useState } = React;
const blocking = new URLSearchParams(location.search).get('send') === 'blocking';

function send(values, done) {
  const request = new XMLHttpRequest();
  request.open('POST', '/submit/react', !blocking);
  request.setRequestHeader('content-type', 'application/json');
  request.onload = () => done(JSON.parse(request.responseText).number);
  request.send(JSON.stringify(values));
}

function SignUp() {
  const [values, setValues] = useState({ name: '', track: '', dinner: false });
  const [said, setSaid] = useState('');
  const set = (field, value) => setValues((before) => ({ ...before, [field]: value }));
  const complete = values.name.trim() !== '' && values.track !== '';
  const submit = (event) => {
    event.preventDefault();
    setSaid('Sending...');
    send(values, (number) => setSaid(`Welcome, ${values.name}. You are number ${number}.`));
  };
  return h('main', null,
    h('h1', null, 'Conference sign-up'),
    h('form', { onSubmit: submit },
      h('p', null, h('label', null, 'Full name ',
        h('input', { value: values.name, onChange: (event) => set('name', event.target.value) }))),
      h('p', null, h('label', null, 'Track ',
        h('select', { value: values.track, onChange: (event) => set('track', event.target.value) },
          h('option', { value: '' }, 'Choose a track'),
          h('option', { value: 'systems' }, 'Systems'),
          h('option', { value: 'languages' }, 'Languages'),
          h('option', { value: 'design' }, 'Design')))),
      h('p', null, h('label', null,
        h('input', { type: 'checkbox', checked: values.dinner, onChange: (event) => set('dinner', event.target.checked) }),
        ' Conference dinner')),
      h('button', { disabled: !complete }, 'Sign up')),
    h('p', { role: 'status' }, said));
}

ReactDOM.createRoot(document.getElementById('root')).render(h(SignUp));
