import type { KnownCheckpoint, KnownItem } from '../../../src/adapters/langgraph/channel-writer.js';
import { ThreadMemory } from '../../../src/adapters/langgraph/thread-memory.js';
import type { ThreadAddress } from '../../../src/adapters/langgraph/thread-address.js';
import { InMemorySessionService } from '../../../src/index.js';

const MEGABYTE = 1_048_576;
/** What a list of ten thousand messages and its checkpoint take about. */
const TWO_MEGABYTES: readonly KnownItem[] = Array.from({ length: 10_000 }, (_, index) => ({
  fingerprint: `${index}`,
  isCounted: false,
}));

function addressOf(thread: number, ns = ''): ThreadAddress {
  return { key: { appName: 'shop', userId: 'ann', sessionId: `t${thread}` }, ns };
}

function checkpointOf(id: string, items: readonly KnownItem[], text = ''): KnownCheckpoint {
  const metadata = { type: 'json', text: '{}' };
  const values = { note: { value: { type: 'json', text } } };
  const record = { kind: 'checkpoint', thread: 't', id, ns: '', v: 4, ts: '', versions: {}, seen: {} } as const;
  return { seq: 1, record: { ...record, metadata, values }, lists: new Map([['messages', items]]) };
}

/** How many checkpoints of the threads are remembered. */
function kept(memory: ThreadMemory, threads: number, namespaces: readonly string[] = ['']): number {
  let count = 0;
  for (let thread = 0; thread < threads; thread++)
    for (const ns of namespaces) count += memory.checkpoints(addressOf(thread, ns)).length;
  return count;
}

describe('What a process remembers of threads', () => {
  it('takes at most 32 MB, however many messages they have', () => {
    const memory = new ThreadMemory();
    for (let thread = 0; thread < 100; thread++) {
      for (const id of ['a', 'b', 'c', 'd', 'e']) memory.remember(addressOf(thread), checkpointOf(id, TWO_MEGABYTES));
    }
    expect(memory.checkpoints(addressOf(99)).map(({ record }) => record.id)).toEqual(['e', 'd', 'c', 'b']);
    expect(kept(memory, 100)).toBeGreaterThanOrEqual(8);
    expect(kept(memory, 100)).toBeLessThanOrEqual(16);
  });

  it('takes no more with values that are long, or with many subgraphs', () => {
    const memory = new ThreadMemory();
    const namespaces = Array.from({ length: 100 }, (_, index) => `graph:${index}`);
    const text = 'x'.repeat(MEGABYTE);
    for (const thread of [0, 1])
      for (const ns of namespaces) memory.remember(addressOf(thread, ns), checkpointOf('a', [], text));
    expect(kept(memory, 2, namespaces)).toBeGreaterThanOrEqual(15);
    expect(kept(memory, 2, namespaces)).toBeLessThanOrEqual(32);
  });

  it('has the newest checkpoint of a thread that is larger than that', () => {
    const memory = new ThreadMemory();
    const large = Array.from({ length: 20 }, () => TWO_MEGABYTES).flat();
    for (const id of ['a', 'b']) memory.remember(addressOf(0), checkpointOf(id, large));
    expect(memory.checkpoints(addressOf(0)).map(({ record }) => record.id)).toEqual(['b']);
  });

  it('takes no more with the state of sessions, and has many that are small', async () => {
    const sessions = new InMemorySessionService();
    const sizes = [MEGABYTE - 100, 100];
    const counts = [];
    for (const size of sizes) {
      const memory = new ThreadMemory();
      const state = { text: 'x'.repeat(size) };
      const session = await sessions.createSession({ appName: 'shop', userId: 'ann', state });
      const keys = Array.from({ length: 1_000 }, (_, thread) => addressOf(thread).key);
      for (const key of keys) memory.setSession(key, session);
      counts.push(keys.filter((key) => memory.session(key)).length);
    }
    expect(counts).toEqual([expect.any(Number), 1_000]);
    expect(counts[0]).toBeGreaterThanOrEqual(15);
    expect(counts[0]).toBeLessThanOrEqual(32);
  });

  it('keeps nothing of a thread that was deleted', () => {
    const memory = new ThreadMemory();
    for (const ns of ['', 'graph:1']) memory.remember(addressOf(0, ns), checkpointOf('a', []));
    memory.remember(addressOf(1), checkpointOf('a', []));
    memory.forget(addressOf(0).key);
    memory.setSession(addressOf(0).key, undefined);
    expect([kept(memory, 1, ['', 'graph:1']), memory.checkpoint(addressOf(1), 'a')?.record.id]).toEqual([0, 'a']);
  });
});
