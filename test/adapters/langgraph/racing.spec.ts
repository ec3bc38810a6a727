import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { SessionSaver, StaleThreadError } from '../../../src/adapters/langgraph/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { USER, messagesIn, openSaver, putMessage } from './support/threads.js';

const WRITERS = ['a', 'b'];
const MESSAGES = 12;

/** Reads, adds a message and writes, as runs do, until all messages are acknowledged. */
async function writeAll(saver: BaseCheckpointSaver, writer: string): Promise<void> {
  for (let index = 0; index < MESSAGES;) {
    try {
      await putMessage(saver, `${writer}${index}`);
      index++;
    } catch (error) {
      if (!(error instanceof StaleThreadError)) throw error;
    }
  }
}

async function expectAllIn(saver: BaseCheckpointSaver): Promise<void> {
  const messages = await messagesIn(saver);
  for (const writer of WRITERS) {
    const own = messages.filter((text) => text.startsWith(writer));
    expect(own).toEqual(Array.from({ length: MESSAGES }, (_, index) => `${writer}${index}`));
  }
}

describeSharedStores('Two instances that write to one thread on a $name store', ({ create }) => {
  it('lose nothing: what was overtaken is refused, and turns make it wait', async () => {
    const store = await create();
    const instances = await Promise.all(
      WRITERS.map(async () => new SessionService({ storage: await openDescribed(store.description) })),
    );
    const savers = instances.map((sessions) => new SessionSaver({ sessions, ...USER }));
    const [first, second] = savers;
    if (!first || !second) throw new Error('There are two');
    await Promise.all([writeAll(first, 'a'), writeAll(second, 'b')]);
    await expectAllIn(second);

    // In turns nobody is refused.
    const inTurns = { configurable: { thread_id: 'in turns' } };
    const wait = { waitMs: 60_000 };
    const write = async (saver: SessionSaver, writer: string): Promise<void> => {
      for (let index = 0; index < 3; index++) {
        await saver.inTurn(inTurns, (config) => putMessage(saver, `${writer}${index}`, config), wait);
      }
    };
    await Promise.all([write(first, 'a'), write(second, 'b')]);
    expect((await messagesIn(first, inTurns)).toSorted()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);

    for (const sessions of instances) await sessions.close();
    await store.destroy();
  });
});

describe('Two writers in one process', () => {
  it('lose nothing in memory', async () => {
    const storage = new InMemorySessionStorage();
    const [first, second] = [openSaver({}, storage), openSaver({}, storage)];
    await Promise.all([writeAll(first.saver, 'a'), writeAll(second.saver, 'b')]);
    await expectAllIn(first.saver);
  });

  it('lose messages with MemorySaver, which is why', async () => {
    const saver = new MemorySaver();
    await Promise.all(WRITERS.map((writer) => writeAll(saver, writer)));
    expect((await messagesIn(saver)).length).toBeLessThan(WRITERS.length * MESSAGES);
  });
});
