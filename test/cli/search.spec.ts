import { SessionSearch } from '../../src/search/index.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { untilIndexed, USER } from '../search/support.js';
import { cli } from './terminal.js';

it('agent-sessions search finds what was said, and search-rebuild makes the index again', async () => {
  const file = new SqliteFile();
  try {
    const sessions = await file.sessions();
    const session = await sessions.createSession({ ...USER, sessionId: 's-1' });
    for (const text of ['my order', 'my refund']) {
      await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text }] } } });
    }
    const run = (...args: string[]) => cli([...args, '--url', `sqlite:${file.path}`], { env: {} });
    const missing = await run('search', 'shop', 'ann', 'order');
    expect(missing.code).toBe(2);
    expect(missing.err).toContain('search index');
    const search = new SessionSearch({ sessions, pollMs: 10 });
    await search.start();
    await untilIndexed(search);
    await search.stop();
    await sessions.whenIdle();
    const found = await run('search', 'shop', 'ann', 'order', '--json');
    expect(JSON.parse(found.out)).toMatchObject({ sessionId: 's-1', seq: 1, snippet: 'my order' });
    expect((await run('search', 'shop', 'ann', 'order refund')).out).toBe('');
    const both = await run('search', 'shop', 'ann', 'order refund', '--any', '--session', 's-1');
    expect(both.out.trim().split('\n')).toHaveLength(2);
    expect((await run('search-rebuild', 'shop')).out).toContain('indexed 2 events of 1 sessions');
    expect((await run('search', 'shop', 'ann', 'my', '--limit', '1')).out.trim().split('\n')).toHaveLength(1);
  } finally {
    await file.remove();
  }
}, 60_000);
