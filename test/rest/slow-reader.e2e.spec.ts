import { type Socket, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoggedEvent } from '../../src/index.js';
import { OpenAccess, type StreamLimits } from '../../src/sessions/rest/index.js';
import { until } from '../support/until.js';
import { RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const EVENTS = 500;
/** All events together are far larger than the socket buffers. */
const TEXT = 'x'.repeat(100_000);
/** The count is stable after this many equal readings. */
const STABLE_READINGS = 15;

describe.each(frameworks)('a slow reader of the live stream on %s', (framework) => {
  let app: RestApp;

  async function start(streams: StreamLimits = {}): Promise<void> {
    app = await RestApp.start(framework, { access: OpenAccess, streams });
    await app.sessions.createSession(KEY);
    const content = { role: 'model', parts: [{ text: TEXT }] };
    for (let number = 0; number < EVENTS; number++) {
      await app.sessions.appendEvent({ session: { ...KEY, id: 's' }, event: { author: 'agent', content } });
    }
  }

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  it('applies backpressure and misses no event', async () => {
    await start();
    const taken = countTaken(app);
    const socket = pausedStream(app);
    while (taken.count === 0) await pause(10);
    expect(await stableCount(taken)).toBeLessThan(EVENTS / 2);
    expect(await seqsRead(socket)).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
    expect(taken.count).toBe(EVENTS);
    socket.destroy();
  });

  it('gets the reason when its stream is ended, and can resume', async () => {
    await start({ stallSeconds: 0.3 });
    const taken = countTaken(app);
    const socket = pausedStream(app);
    await until(() => taken.isOver);
    const said = await text(socket);
    const seqs = [...said.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(Array.from({ length: taken.count }, (_, index) => index + 1));
    expect(taken.count).toBeLessThan(EVENTS / 2);
    expect(said).toMatch(/event: problem\ndata: .+"code":"STREAM_STALLED"/);
    const rest = pausedStream(app, `Last-Event-ID: ${seqs.length}\r\n`);
    expect((await seqsRead(rest, 1))[0]).toBe(seqs.length + 1);
    rest.destroy();
  });

  it('loses its connection in the end', async () => {
    await start({ stallSeconds: 0.3 });
    const socket = pausedStream(app);
    await until(async () => (await app.connections()) === 1);
    await until(async () => (await app.connections()) === 0);
    socket.destroy();
  });
});

function pausedStream(app: RestApp, headers = ''): Socket {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
  socket.pause();
  socket.write(
    `GET /apps/shop/users/ann/sessions/s/events/stream?afterSeq=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`,
  );
  return socket.on('error', () => undefined);
}

interface Taken {
  count: number;
  /** Whether the route has ended the watch. */
  isOver: boolean;
}

/** Counts the events that the route takes from the service. */
function countTaken(app: RestApp): Taken {
  const taken = { count: 0, isOver: false };
  const watch = app.sessions.watch.bind(app.sessions);
  jest.spyOn(app.sessions, 'watch').mockImplementation(async function* (request): AsyncGenerator<
    LoggedEvent,
    undefined
  > {
    try {
      for await (const event of watch(request)) {
        taken.count++;
        yield event;
      }
    } finally {
      taken.isOver = true;
    }
    return undefined;
  });
  return taken;
}

async function stableCount(taken: Taken): Promise<number> {
  let before = -1;
  for (let stable = 0; stable < STABLE_READINGS; stable++) {
    if (taken.count !== before) stable = 0;
    before = taken.count;
    await pause(20);
  }
  return before;
}

async function seqsRead(socket: Socket, count = EVENTS): Promise<number[]> {
  const seqs: number[] = [];
  let rest = '';
  for await (const chunk of socket) {
    rest += String(chunk);
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('id: ')) seqs.push(Number(line.slice(4)));
    if (seqs.length >= count) return seqs;
  }
  return seqs;
}
