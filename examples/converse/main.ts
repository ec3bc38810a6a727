// An adapter of one's own: a conversation with Amazon Bedrock's Converse API goes on with a model of another vendor.
import { InMemorySessionService } from 'nestjs-agent-sessions';
import { toMessages } from 'nestjs-agent-sessions/agents';
import { ConverseHistory } from './converse-history.js';

const sessions = new InMemorySessionService();
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };
const history = new ConverseHistory(sessions, key);

await history.add([
  { role: 'user', content: [{ text: 'Where is my order?' }] },
  { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'find_order', input: { id: 7 } } }] },
  { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ json: { state: 'sent' } }] } }] },
  { role: 'assistant', content: [{ text: 'It was sent.' }] },
]);

// Everything else reads the session, and writes to it.
const session = await sessions.getSession(key);
for (const { role, content } of toMessages(session?.events ?? [], { format: 'openai' }))
  console.log(role, content ?? 'calls a tool');
if (session) {
  const content = { parts: [{ text: 'When does it come?' }] };
  await sessions.appendEvent({ session, event: { author: 'user', content } });
}

for (const { role, content } of await history.messages()) console.log(role, JSON.stringify(content));
await sessions.close();
