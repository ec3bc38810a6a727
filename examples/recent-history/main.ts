// What a reader sees of a conversation: the newest events, a summary, a rewind. The log keeps everything.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type EventActions, type Session, SessionService, SessionsModule } from 'nestjs-agent-sessions';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const key = { appName: 'shop', userId: 'ann', sessionId: 'long' };
const session = await sessions.createSession(key);

const say = (author: string, text: string, actions: Partial<EventActions> = {}) =>
  sessions.appendEvent({ session, event: { author, content: { parts: [{ text }] }, actions } });
const show = (title: string, shown?: Session) =>
  console.log(
    title.padEnd(24),
    shown?.events.map(({ seq, content }) => `${seq} ${content?.parts?.[0]?.text ?? ''}`).join(' | '),
  );

for (let turn = 1; turn <= 4; turn++) {
  await say('user', `question ${turn}`);
  await say('agent', `answer ${turn}`);
}
show('the whole conversation', await sessions.getSession(key));
show('the last three events', await sessions.getSession({ ...key, config: { numRecentEvents: 3 } }));

// A summary replaces the events that it covers.
await say('system', 'Ann asked three things.', { compaction: { fromSeq: 1, toSeq: 6 } });
show('with a summary', await sessions.getSession(key));

// A rewind goes back to an earlier event, here to one before the summary.
show('rewound to event 4', await sessions.rewindSession({ ...key, toSeq: 4 }));
show('and that undone', await sessions.rewindSession({ ...key, toSeq: 9 }));

const { events } = await sessions.listEvents(key);
console.log('the log still has'.padEnd(24), `${events.length} events`);
await app.close();
