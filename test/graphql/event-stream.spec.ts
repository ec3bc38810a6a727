import type { LoggedEvent } from '../../src/index.js';
import { StreamAccess } from '../../src/sessions/transport/stream-access.js';
import { EventStream } from '../../src/sessions/graphql/event-stream.js';

/** Far more than are taken until somebody else has a turn. */
const MANY = 10_000;

async function* manyEvents(): AsyncGenerator<LoggedEvent, undefined> {
  for (let seq = 1; seq <= MANY; seq++) yield { seq } as LoggedEvent;
  return undefined;
}

describe('a subscription with many events at hand', () => {
  it('lets others have a turn, so that the end of its connection is heard', async () => {
    const access = new StreamAccess(async () => undefined);
    const stream = new EventStream(manyEvents(), access);
    const heard: number[] = [];
    let seq = 0;
    setImmediate(() => heard.push(seq));
    for await (const event of stream) {
      ({ seq } = event);
      if (heard.length > 0 || seq === MANY) break;
    }
    expect(heard).toHaveLength(1);
    expect(seq).toBeLessThan(MANY);
  });
});
