// A conversation of two turns in a plain program: no Nest, sessions in memory.
import { InMemorySessionService } from 'nestjs-agent-sessions';

const sessions = new InMemorySessionService();
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };

const session = await sessions.createSession(key);
await sessions.appendEvent({
  session,
  event: { author: 'user', content: { role: 'user', parts: [{ text: 'Where is my order?' }] } },
});
await sessions.appendEvent({
  session,
  event: {
    author: 'support-agent',
    content: { role: 'model', parts: [{ text: 'It left our warehouse this morning.' }] },
    actions: { stateDelta: { topic: 'delivery', 'user:language': 'en' } },
  },
});

// Another part of the program, or the next request, loads the session again.
const loaded = await sessions.getSession(key);
for (const { seq, author, content } of loaded?.events ?? [])
  console.log(`${seq}  ${author}: ${content?.parts?.[0]?.text}`);
console.log('state  ', { ...loaded?.state });
console.log('version', loaded?.version);

await sessions.close();
