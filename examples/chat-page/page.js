const chat = new URLSearchParams(location.search).get('chat') ?? 'chat-1';
const user = '/apps/shop/users/ann';
const session = `${user}/sessions/${encodeURIComponent(chat)}`;
const log = document.querySelector('#log');
const approvals = document.querySelector('#approvals');
/** The lines by the ids of their events. Anybody may have chosen those, so they name no elements of the page. */
const lines = new Map();

const send = (path, body) =>
  fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** The session may be there: then the response is 409. */
await fetch(session).then((response) => (response.ok ? response : send(session, {})));

// The stream is the log, and what is said but not stored yet. The browser reconnects with the last position by itself.
const stream = new EventSource(`${session}/events/stream?afterSeq=0&partials=true`);
stream.addEventListener('message', ({ data }) => show(JSON.parse(data)));

function show(event) {
  const text = (event.content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
  // Pieces that are in no message any more: its process died, and the answer begins anew.
  if (event.actions?.discarded) {
    lines.get(event.id)?.remove();
    lines.delete(event.id);
  }
  if (text === '') return void showApprovals();
  const line = lines.get(event.id) ?? log.appendChild(document.createElement('p'));
  lines.set(event.id, line);
  line.className = event.author === 'user' ? 'user' : '';
  line.classList.toggle('partial', event.partial === true);
  line.classList.toggle('interrupted', event.interrupted === true);
  if (event.partial && event.offset > 0) line.textContent += text;
  else line.textContent = text;
  if (!event.partial) void showApprovals();
}

async function showApprovals() {
  const list = (await (await fetch(`${user}/approvals`)).json()).approvals.filter((each) => each.sessionId === chat);
  approvals.replaceChildren(...list.map(rowOf));
}

function rowOf({ approvalId, hint }) {
  const row = document.createElement('p');
  row.append(`${hint} `);
  for (const [name, confirmed] of [
    ['Approve', true],
    ['Decline', false],
  ]) {
    const button = document.createElement('button');
    button.textContent = name;
    button.addEventListener('click', () => {
      void send(`${session}/approvals/${encodeURIComponent(approvalId)}`, { confirmed });
    });
    row.append(button, ' ');
  }
  return row;
}

document.querySelector('form').addEventListener('submit', (submitted) => {
  submitted.preventDefault();
  const { text } = submitted.target.elements;
  void send(`${session}/run`, { newMessage: { role: 'user', parts: [{ text: text.value }] }, policy: 'enqueue' });
  text.value = '';
});
// Until here the browser would have sent the form itself, and left the chat.
document.querySelector('form button').disabled = false;
document.querySelector('#stop').addEventListener('click', () => void send(`${session}/stop`, {}));
void showApprovals();
