import type { LoggedEvent } from '../../src/index.js';
import { StreamAccess } from '../../src/sessions/transport/stream-access.js';
import { EventStream } from '../../src/sessions/graphql/event-stream.js';

/** Far more events than are delivered before the stream yields to the event loop. */
const MANY = 10_000;

async function* manyEvents(): AsyncGenerator<LoggedEvent, undefined> {
  for (let seq = 1; seq <= MANY; seq++) yield { seq } as LoggedEvent;
  return undefined;
}

describe('a subscription with many pending events', () => {
  it('yields to the event loop, so that the close of its connection is noticed', async () => {
    const access = new StreamAccess(async () => undefined);
    const stream = new EventStream(manyEvents(), access);
    const ran: number[] = [];
    let seq = 0;
    setImmediate(() => ran.push(seq));
    for await (const event of stream) {
      ({ seq } = event);
      if (ran.length > 0 || seq === MANY) break;
    }
    expect(ran).toHaveLength(1);
    expect(seq).toBeLessThan(MANY);
  });
});
