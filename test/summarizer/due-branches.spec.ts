import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { DueBranches } from '../../src/summarizer/due-branches.js';
import { CountingStorage } from '../support/counting-storage.js';
import { KEY, agent } from './summarized-sessions.js';

describe('The branches of a session that need a summary', () => {
  let sessions: SessionService;
  let counting: CountingStorage;
  let branches: DueBranches;

  beforeEach(async () => {
    counting = new CountingStorage(new InMemorySessionStorage());
    sessions = new SessionService({ storage: counting.storage });
    branches = new DueBranches({ storage: counting.storage, branchEvents: 2 });
    await sessions.createSession(KEY);
  });

  afterEach(async () => {
    await sessions.close();
  });

  async function append(count: number, branch?: string): Promise<void> {
    const events = Array.from({ length: count }, (_, index) => ({ ...agent(`t${index}`), branch }));
    await sessions.appendEvents({ session: { ...KEY, id: KEY.sessionId }, events });
    await sessions.whenIdle();
  }

  it('are kept until nothing is left to write for them', async () => {
    await append(3, 'a');
    await append(2, 'b');
    await append(4, 'c');
    expect(await branches.find(KEY)).toEqual(['a', 'c']);
    branches.finish(KEY, 'a');
    expect(branches.found(KEY)).toEqual(['c']);
    await sessions.rewindSession({ ...KEY, toSeq: 4 });
    expect(await branches.find(KEY)).toEqual(['a']);
    expect(branches.found(KEY)).toEqual(['a']);
  });

  it('are looked for among a limited number of the newest events', async () => {
    await append(3, 'a');
    for (let batch = 0; batch < 3; batch++) await append(98);
    counting.taken();
    expect(await branches.find(KEY)).toEqual([]);
    expect(counting.taken().events).toBe(200);
    await append(3, 'a');
    expect(await branches.find(KEY)).toEqual(['a']);
  });

  it('are looked for only if there are more events than a branch may have', async () => {
    await append(2, 'a');
    counting.taken();
    expect(await branches.find(KEY)).toEqual([]);
    expect(counting.taken().events).toBe(0);
  });

  it('are none if there is no such session, or it was deleted while it was read', async () => {
    expect(await branches.find({ ...KEY, sessionId: 'other' })).toEqual([]);
    await append(3, 'a');
    const read = counting.storage.read.bind(counting.storage);
    const storage = Object.create(counting.storage) as typeof counting.storage;
    storage.read = (request) => (request.window ? Promise.resolve(undefined) : read(request));
    expect(await new DueBranches({ storage, branchEvents: 2 }).find(KEY)).toEqual([]);
  });
});
