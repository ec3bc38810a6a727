// A conversation and a stream over the Durable Streams protocol: a page would read both with @durable-streams/client.
import { DurableStream, stream } from '@durable-streams/client';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { mountDurableStreams } from 'nestjs-agent-sessions/durable-streams';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
// Your app looks the token up.
const users = new Map([
  ['Bearer token-of-ann', 'ann'],
  ['Bearer token-of-bob', 'bob'],
]);
mountDurableStreams(app, {
  owner: ({ headers }) => {
    const userId = users.get(headers.authorization ?? '');
    return userId === undefined ? undefined : { appName: 'shop', userId };
  },
});
await app.listen(0, '127.0.0.1');
const base = `${await app.getUrl()}/v1/stream`;
const headers = { Authorization: 'Bearer token-of-ann' };

// A job writes its output, and its reader resumes where it was.
const output = await DurableStream.create({ url: `${base}/jobs/report-1`, contentType: 'text/plain', headers });
await output.append('first line\n');
const first = await stream({ url: output.url, headers, live: false });
console.log(JSON.stringify(await first.text()));
await output.append('second line\n');
await output.close();
const rest = await stream({ url: output.url, headers, offset: first.offset, live: false });
console.log(JSON.stringify(await rest.text()), 'closed:', rest.streamClosed);

// A conversation is a stream of its events, which is only read.
const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'Hello' }] } } });
await sessions.appendEvent({ session, event: { author: 'support', content: { parts: [{ text: 'Hello Ann!' }] } } });
const chat = await stream<{ author: string; content: object }>({ url: `${base}/chat-1`, headers, live: false });
for (const { author, content } of await chat.json()) console.log(author, JSON.stringify(content));

// Nobody reaches the streams of others.
for (const authorization of ['Bearer token-of-bob', 'Bearer wrong']) {
  const { status } = await fetch(`${base}/chat-1`, { headers: { authorization } });
  console.log(authorization, status);
}
await app.close();
