// Another process that follows a session: node demo/tail.mjs <url> <app> <user> <session> <afterSeq>
import { SessionsClient } from 'nestjs-agent-sessions/client';
import { speakerOf, textOf } from './screen.mjs';

const [url, appName, userId, sessionId, afterSeq] = process.argv.slice(2);
const client = new SessionsClient({ url });
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());

for await (const event of client.watch({
  appName,
  userId,
  sessionId,
  afterSeq: Number(afterSeq),
  signal: stop.signal,
})) {
  console.log(`${event.seq}  ${speakerOf(event)}: ${textOf(event)}`);
}
