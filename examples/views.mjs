// What a reader sees of a conversation: recent turns, a summary, a rewind. The log keeps everything.
import { InMemorySessionService } from 'nestjs-agent-sessions';

const sessions = new InMemorySessionService();
const key = { appName: 'shop', userId: 'ann', sessionId: 'long' };
const session = await sessions.createSession(key);

const say = (author, text, actions) =>
  sessions.appendEvent({ session, event: { author, content: { parts: [{ text }] }, actions } });
const show = (title, { events }) =>
  console.log(title.padEnd(24), events.map(({ seq, content }) => `${seq} ${content?.parts[0].text ?? ''}`).join(' | '));

for (let turn = 1; turn <= 4; turn++) {
  await say('user', `question ${turn}`);
  await say('agent', `answer ${turn}`);
}
show('the whole conversation', await sessions.getSession(key));
show('the last three events', await sessions.getSession({ ...key, config: { numRecentEvents: 3 } }));

// A summary stands in place of what it covers.
await say('system', 'Ann asked three things.', { compaction: { fromSeq: 1, toSeq: 6 } });
show('with a summary', await sessions.getSession(key));

// A rewind takes the conversation back to a moment, here to before the summary.
show('rewound to event 4', await sessions.rewindSession({ ...key, toSeq: 4 }));
show('and that undone', await sessions.rewindSession({ ...key, toSeq: 9 }));

const { events } = await sessions.listEvents(key);
console.log('the log still has'.padEnd(24), `${events.length} events`);
await sessions.close();
