import { SessionService, type SessionFilter } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore } from '../support/stores.js';

const USER = { appName: 'shop', userId: 'ann' };

describe.each(firstStore)('a list within the filter of a rule', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    opened = await open({ clock: new ManualClock() });
    sessions = new SessionService({ storage: opened.storage });
    for (const [sessionId, team] of Object.entries({ a: 'north', b: 'south', c: 'north', d: 'north' })) {
      await sessions.createSession({ ...USER, sessionId, metadata: { status: 'open', labels: { team } } });
    }
  });

  afterEach(async () => {
    await sessions.close();
    await opened.destroy();
  });

  it('is refused if a part of the filter has no value: it would show everything', async () => {
    for (const [within, path] of [
      [{ labels: { team: undefined } }, 'within.labels.team'],
      [{ status: undefined }, 'within.status'],
      [{}, 'within'],
    ] as const) {
      const listed = sessions.listSessions({ ...USER, within: within as SessionFilter });
      await expect(listed).rejects.toMatchObject({ code: 'INVALID_INPUT', path });
    }
  });

  it('goes on at its cursor, also with a filter of the request', async () => {
    const request = {
      ...USER,
      limit: 1,
      order: 'asc',
      filter: { status: 'open' },
      within: { labels: { team: 'north' } },
    } as const;
    const found: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await sessions.listSessions({ ...request, cursor });
      found.push(...page.sessions.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(found).toEqual(['a', 'c', 'd']);
  });
});
