// What expires when: a session after a day without a read or an append, state of its user never, and events from the view.
import { InMemorySessionService } from 'nestjs-agent-sessions';

const HOUR = 3_600_000;
let now = Date.UTC(2026, 0, 1);

const sessions = new InMemorySessionService({
  clock: { now: () => now }, // hours pass at once here; leave it out, and it is the clock of the machine
  ttl: { enabled: true, sessionSeconds: 86_400, userStateSeconds: 0 },
  history: { eventTtlSeconds: 6 * 3_600 },
});
const ann = { appName: 'shop', userId: 'ann' };
const key = { ...ann, sessionId: 'order-7' };

const say = async (text: string): Promise<void> => {
  const session = await sessions.getOrCreateSession(key);
  const actions = { stateDelta: { 'user:language': 'en' } };
  await sessions.appendEvent({
    session,
    event: { author: 'user', content: { role: 'user', parts: [{ text }] }, actions },
  });
};
const texts = async (): Promise<(string | undefined)[] | undefined> =>
  (await sessions.getSession(key))?.events.map(({ content }) => content?.parts?.[0]?.text);

await say('Where is my order?');
now += 5 * HOUR;
await say('Is it on its way?');
console.log('after  5 hours', await texts());

now += 3 * HOUR;
console.log(
  'after  8 hours',
  await texts(),
  'in the view,',
  (await sessions.listEvents(key)).events.length,
  'in the log',
);

now += 23 * HOUR;
console.log('after 31 hours', (await texts()) ? 'still there: a read began its day anew' : 'gone');

now += 25 * HOUR;
console.log('after 56 hours', (await texts()) ?? 'no session: nobody sees it any more');
console.log('removed       ', await sessions.purgeExpired()); // SessionsModule does this every hour
console.log('of the user   ', await sessions.getUserState(ann));

await sessions.close();
