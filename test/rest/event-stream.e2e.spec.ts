import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { RestApp, frameworks } from './rest-app.js';
import { type Sent, sentBy } from './sent-events.js';

const SESSION = '/apps/shop/users/ann/sessions/s';
const REFERENCE = { id: 's', appName: 'shop', userId: 'ann' };

describe.each(frameworks)('the live stream on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework);
    await app.request('POST', SESSION);
  });

  afterEach(async () => {
    await app.close();
  });

  const append = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) {
      await app.sessions.appendEvent({ session: REFERENCE, event: { author: 'agent' } });
    }
  };

  async function openStream(headers: Record<string, string> = {}, query = ''): Promise<Stream> {
    const gone = new AbortController();
    const response = await fetch(`${app.url}${SESSION}/events/stream${query}`, { headers, signal: gone.signal });
    return { response, events: sentBy(response), close: () => gone.abort() };
  }

  it('sends new events, with their numbers as ids', async () => {
    await append(2);
    const { response, events, close } = await openStream();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await append(2);
    expect((await events.next()).value).toMatchObject({ id: '3', data: { seq: 3, author: 'agent' } });
    expect((await events.next()).value).toMatchObject({ id: '4' });
    close();
  });

  it('resumes after each disconnect without loss or repetition', async () => {
    const appending = append(200);
    const seen: number[] = [];
    while (seen.length < 200) {
      const { events, close } = await openStream({ 'last-event-id': String(seen.at(-1) ?? 0) });
      // Four at a time, so that it is disconnected 50 times.
      for (let number = 0; number < 4; number++) {
        const next = await events.next();
        if (next.done) break;
        seen.push(Number(next.value.id));
      }
      close();
    }
    await appending;
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it('sends a problem when the session is deleted', async () => {
    const { events } = await openStream({}, '?afterSeq=0');
    await app.request('DELETE', SESSION);
    expect((await events.next()).value).toMatchObject({ event: 'problem', data: { code: 'SESSION_NOT_FOUND' } });
    expect((await events.next()).done).toBe(true);
  });

  it('completes a HEAD request immediately, without a watch', async () => {
    const watch = jest.spyOn(app.sessions, 'watch');
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const head = (path: string): string => `HEAD ${path} HTTP/1.1\r\nHost: ${hostname}\r\n`;
    socket.write(`${head(`${SESSION}/events/stream`)}\r\n${head(SESSION)}Connection: close\r\n\r\n`);
    expect((await text(socket)).match(/^HTTP.+$/gm)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
    expect(watch).not.toHaveBeenCalled();
  });

  it('does not keep the app from closing', async () => {
    const { events } = await openStream();
    const next = events.next();
    await app.close();
    expect((await next).done).toBe(true);
    app = await RestApp.start(framework);
  });
});

interface Stream {
  readonly response: Response;
  readonly events: AsyncGenerator<Sent>;
  readonly close: () => void;
}
