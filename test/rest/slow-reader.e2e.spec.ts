import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoggedEvent } from '../../src/index.js';
import { RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const EVENTS = 500;
/** Together far more than what the system keeps for a connection. */
const TEXT = 'x'.repeat(100_000);
/** Looks in a row that find nothing new mean that it has come to rest. */
const CALM_LOOKS = 15;

describe.each(frameworks)('a slow reader of the live stream on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework);
    await app.sessions.createSession(KEY);
    const content = { role: 'model', parts: [{ text: TEXT }] };
    for (let number = 0; number < EVENTS; number++) {
      await app.sessions.appendEvent({ session: { ...KEY, id: 's' }, event: { author: 'agent', content } });
    }
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  it('is written to no faster than it reads, and misses nothing', async () => {
    const taken = countTaken(app);
    const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
    socket.pause();
    socket.write(`GET /apps/shop/users/ann/sessions/s/events/stream?afterSeq=0 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    while (taken.count === 0) await pause(10);
    expect(await restingPlace(taken)).toBeLessThan(EVENTS / 2);
    expect(await seqsRead(socket)).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
    expect(taken.count).toBe(EVENTS);
    socket.destroy();
  });
});

interface Taken {
  count: number;
}

/** Counts the events that the route takes from the service. */
function countTaken(app: RestApp): Taken {
  const taken = { count: 0 };
  const watch = app.sessions.watch.bind(app.sessions);
  jest.spyOn(app.sessions, 'watch').mockImplementation(async function* (request): AsyncGenerator<
    LoggedEvent,
    undefined
  > {
    for await (const event of watch(request)) {
      taken.count++;
      yield event;
    }
    return undefined;
  });
  return taken;
}

async function restingPlace(taken: Taken): Promise<number> {
  let before = -1;
  for (let calm = 0; calm < CALM_LOOKS; calm++) {
    if (taken.count !== before) calm = 0;
    before = taken.count;
    await pause(20);
  }
  return before;
}

async function seqsRead(socket: Socket): Promise<number[]> {
  const seqs: number[] = [];
  let rest = '';
  for await (const chunk of socket) {
    rest += String(chunk);
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('id: ')) seqs.push(Number(line.slice(4)));
    if (seqs.length === EVENTS) return seqs;
  }
  return seqs;
}
