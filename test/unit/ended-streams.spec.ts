import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import type { CurrentExchange } from '../../src/sessions/rest/http-exchange.js';
import { sendEvents } from '../../src/sessions/rest/sent-events.js';
import type { StreamAccess } from '../../src/sessions/transport/stream-access.js';
import { untilCollected } from '../support/collected.js';

const STREAMS = 20;

/** What was read, as long as somebody keeps it. */
const kept: WeakRef<object>[] = [];

function open(_: unknown, signal: AbortSignal): AsyncIterator<string> {
  const reading = { next: async () => ({ done: true as const, value: undefined }) };
  signal.addEventListener('abort', () => void reading.next());
  kept.push(new WeakRef(reading));
  return reading;
}

it('a stream that has ended leaves nothing of what listened to its end', async () => {
  const app = createServer((request, response) => {
    const access = { signal: new AbortController().signal, close: jest.fn(), place: {} } as unknown as StreamAccess;
    const exchange = { request, takeOver: () => response } as unknown as CurrentExchange;
    void sendEvents(exchange, access, new Logger(), { open, textOf: String });
  }).listen(0, '127.0.0.1');
  await once(app, 'listening');
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  for (let count = 0; count < STREAMS; count++) await (await fetch(url)).text();
  // The last request of a connection that is kept open stays.
  await untilCollected(kept, 1, 'Streams are kept');
  app.closeAllConnections();
  app.close();
});
