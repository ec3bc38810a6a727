import { ClaudeSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { SessionService } from '../../../src/index.js';
import { foldSessionSummary } from '@anthropic-ai/claude-agent-sdk';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { KEY, USER, prompt } from './support/transcripts.js';

const BATCHES = 12;

describeSharedStores('Two instances that append to one transcript on a $name store', ({ create }) => {
  it('lose and double nothing, keep the order of each, and fold all titles', async () => {
    const store = await create();
    const instances = await Promise.all(
      ['a', 'b'].map(async () => new SessionService({ storage: await openDescribed(store.description) })),
    );
    const common = [prompt('common 1'), prompt('common 2')];
    const written = await Promise.all(
      instances.map(async (sessions, writer) => {
        const transcripts = new ClaudeSessionStore({ sessions, ...USER, foldSessionSummary });
        const own = Array.from({ length: BATCHES }, (_, index) => [
          prompt(`${writer} ${index}`),
          { type: 'mode', index },
        ]);
        for (const [index, batch] of own.entries()) {
          await transcripts.append(KEY, index === 5 ? [...batch, ...common] : batch);
        }
        await transcripts.append(KEY, [{ type: writer === 0 ? 'custom-title' : 'tag', customTitle: 'T', tag: 'x' }]);
        return own.flat();
      }),
    );
    const [sessions] = instances;
    if (!sessions) throw new Error('There are two');
    const transcripts = new ClaudeSessionStore({ sessions, ...USER, foldSessionSummary });
    const loaded = (await transcripts.load(KEY)) ?? [];
    expect(loaded).toHaveLength(2 * BATCHES * 2 + common.length + 2);
    for (const own of written) {
      const uuids = own.flatMap((entry) => ('uuid' in entry ? [entry.uuid] : []));
      expect(loaded.flatMap(({ uuid }) => (uuid !== undefined && uuids.includes(uuid) ? [uuid] : []))).toEqual(uuids);
    }
    const [summary] = (await transcripts.listSessionSummaries?.(KEY.projectKey)) ?? [];
    expect(summary?.data).toMatchObject({ customTitle: 'T', tag: 'x' });
    for (const each of instances) await each.close();
    await store.destroy();
  });
});
