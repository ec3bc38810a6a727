import type { AgentInputItem } from '@openai/agents-core';
import { AgentsSession, StaleHistoryError } from '../../../src/adapters/openai-agents/index.js';
import { SessionService } from '../../../src/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { KEY, answered, said, textsOf } from './support/sessions.js';

const WRITERS = ['a', 'b'];
const ITEMS = 8;

describeSharedStores('Two instances with one session of the SDK on a $name store', ({ create }) => {
  it('lose nothing and store nothing twice', async () => {
    const store = await create();
    const instances = await Promise.all(
      WRITERS.map(async () => new SessionService({ storage: await openDescribed(store.description) })),
    );
    const [first, second] = instances.map((sessions) => new AgentsSession({ sessions, ...KEY }));
    if (!first || !second) throw new Error('There are two');

    await Promise.all([addAll(first, 'a'), addAll(second, 'b')]);
    const added = textsOf(await second.getItems());
    for (const writer of WRITERS) {
      const own = added.filter((text) => text.startsWith(writer));
      expect(own).toEqual(Array.from({ length: 2 * ITEMS }, (_, index) => `${writer}${index}`));
    }
    // The two items of a call stay together.
    for (let index = 0; index < added.length; index += 2) expect(added[index]?.[0]).toBe(added[index + 1]?.[0]);

    const popped = (await Promise.all([popAll(first), popAll(second)])).flat();
    expect(textsOf(popped).toSorted()).toEqual(added.toSorted());
    expect(await first.getItems()).toEqual([]);

    // Both send the same transactions, each of which counts once.
    await Promise.all([applyAll(first), applyAll(second)]);
    expect(await second.getItems()).toEqual(Array.from({ length: ITEMS }, (_, index) => said(`op ${index}`)));

    // Of two that replace the same items, one is refused.
    const expectedSuffix = await first.getItems(1);
    const outcomes = await Promise.allSettled(
      [first, second].map((session, index) =>
        session.applyHistoryTransaction({
          operationId: `replace ${index}`,
          transaction: { type: 'replace_suffix', expectedSuffix, replacement: [answered(`by ${index}`)] },
        }),
      ),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused).toEqual([expect.any(StaleHistoryError)]);
    expect(await first.getItems()).toHaveLength(ITEMS);

    // At once: items are added, taken back, cleared and appended by transactions.
    await Promise.all([
      addAll(first, 'c'),
      first.clearSession(),
      second.applyHistoryTransaction(appending('last', [said('last')])),
      popAll(second, 3),
    ]);
    await first.clearSession();
    expect(await second.getItems()).toEqual([]);
    for (const sessions of instances) await sessions.close();
    await store.destroy();
  });
});

async function addAll(session: AgentsSession, writer: string): Promise<void> {
  for (let index = 0; index < 2 * ITEMS; index += 2) {
    await session.addItems([said(`${writer}${index}`), answered(`${writer}${index + 1}`)]);
  }
}

async function popAll(session: AgentsSession, most = Infinity): Promise<AgentInputItem[]> {
  const popped: AgentInputItem[] = [];
  while (popped.length < most) {
    const item = await session.popItem();
    if (!item) break;
    popped.push(item);
  }
  return popped;
}

async function applyAll(session: AgentsSession): Promise<void> {
  for (let index = 0; index < ITEMS; index++) {
    await session.applyHistoryTransaction(appending(`op ${index}`, [said(`op ${index}`)]));
  }
}

function appending(operationId: string, items: AgentInputItem[]) {
  return { operationId, transaction: { type: 'append_items' as const, items } };
}
