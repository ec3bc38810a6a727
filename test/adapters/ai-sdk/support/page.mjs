import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

const id = new URLSearchParams(location.search).get('chat');
const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;

/** Whether an answer to what was loaded may be on its way. */
function lacksAnswer(messages) {
  return messages.at(-1)?.role !== 'assistant' || sendAutomaticallyWhen({ messages });
}

function button(label, onClick) {
  return h('button', { onClick }, label);
}

function Chat({ initial }) {
  const [text, setText] = useState('');
  const { messages, sendMessage, regenerate, stop, status, error, addToolApprovalResponse } = useChat({
    id,
    messages: initial,
    resume: lacksAnswer(initial),
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen,
  });
  const halt = async () => {
    await fetch(`/api/chat/${id}/stop`, { method: 'POST' });
    await stop();
  };
  const partOf = (part, index) => {
    if (part.type === 'text') return h('span', { key: index }, part.text);
    if (part.state === 'approval-requested') {
      const { id: approvalId } = part.approval;
      return h(
        'i',
        { key: index },
        button('Approve', () => addToolApprovalResponse({ id: approvalId, approved: true })),
      );
    }
    return part.output ? h('b', { key: index }, part.output) : null;
  };
  return h(
    'main',
    null,
    messages.map(({ id: key, role, parts }) => h('p', { key, className: role }, parts.map(partOf))),
    h('input', { value: text, onChange: ({ target }) => setText(target.value) }),
    button('Send', () => void sendMessage({ text })),
    button('Stop', () => void halt()),
    button('Again', () => void regenerate()),
    h('output', null, error ? `error ${error.message}` : status),
  );
}

void fetch(`/api/chat/${id}`)
  .then((response) => response.json())
  .then((initial) => createRoot(document.querySelector('#root')).render(h(Chat, { initial })));
