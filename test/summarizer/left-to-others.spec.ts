import type { SessionKey } from '../../src/index.js';
import type { DueTrigger } from '../../src/summarizer/index.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { storeOfEachKind } from '../support/stores.js';
import { KEY, SESSION, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 7, keepRecentEvents: 2 };

/** A process that only notes what is due, and one that writes it. */
async function bothOn(
  store: (typeof storeOfEachKind)[number],
  options: SummarizerOptions,
): Promise<[SummarizedSessions, SummarizedSessions]> {
  const noting = await SummarizedSessions.open(store, { ...options, leaveToOthers: true });
  return [noting, noting.restarted(options)];
}

describe.each(storeOfEachKind)('summaries that a process leaves to others, on $name', (store) => {
  it('are not written by it, and by another one in its next sweep, also while the session is in use', async () => {
    const [noting, writing] = await bothOn(store, OPTIONS);
    try {
      await noting.append(...turns(1, 4));
      await noting.settle();
      expect(noting.summaries.sweepIntervalMs).toBe(0);
      await noting.append(...turns(5, 5));
      await noting.settle();
      expect(noting.model.requests).toHaveLength(0);

      expect(await writing.summaries.sweep()).toBe(1);
      await writing.settle();
      expect(await noting.view()).toEqual(['= summary 1', 'q5', 'a5']);
      expect(noting.summaries.counts.stored).toBe(0);
    } finally {
      await writing.destroy();
      await noting.destroy();
    }
  });

  it('are found by what made them due, also if later events do not', async () => {
    const [noting, writing] = await bothOn(store, { importantLength: 100, keepRecentEvents: 2 });
    try {
      await noting.append(...turns(1, 2), user('x'.repeat(101)));
      await noting.settle();
      await noting.append(...turns(3, 3));
      await noting.settle();
      await writing.summaries.sweep();
      await writing.settle();
      expect(noting.model.requests).toHaveLength(1);
      expect((await noting.view())[0]).toBe('= summary 1');
    } finally {
      await writing.destroy();
      await noting.destroy();
    }
  });

  it('are announced once each, with what another process needs to write them', async () => {
    const options = { importantLength: 100, keepRecentEvents: 2 };
    const [noting, writing] = await bothOn(store, options);
    try {
      const due: [SessionKey, DueTrigger][] = [];
      noting.summaries.hooks.onDue((...given) => void due.push(given));
      await noting.append(...turns(1, 2), user('x'.repeat(101)), agent('y'.repeat(101)), ...turns(3, 3));
      await noting.settle();
      expect(due).toEqual([[KEY, { incarnation: expect.any(String), seq: 5 }]]);

      expect(await writing.summaries.createSessionSummary({ session: SESSION })).toBeUndefined();
      const dueSince = due[0]?.[1];
      const both = [writing, writing].map(({ summaries }) =>
        summaries.createSessionSummary({ session: SESSION, dueSince }),
      );
      expect((await Promise.all(both)).filter((summary) => summary !== undefined)).toHaveLength(1);
      await noting.append(user('x'.repeat(101)));
      await noting.settle();
      expect(due.map(([, { seq }]) => seq)).toEqual([5, 10]);
    } finally {
      await writing.destroy();
      await noting.destroy();
    }
  });

  it.each([null, 7, {}, { incarnation: 'i' }, { incarnation: 'i', seq: -1 }])(
    'are not written by what nobody announced: %j',
    async (dueSince) => {
      const open = await SummarizedSessions.open(store, OPTIONS);
      const request = { session: SESSION, dueSince } as never;
      await expect(open.summaries.createSessionSummary(request)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await open.destroy();
    },
  );

  it('are written by it on request', async () => {
    const [noting, writing] = await bothOn(store, OPTIONS);
    try {
      await noting.append(...turns(1, 4));
      const session = { appName: 'shop', userId: 'ann', id: 'one' };
      const both = [noting, writing].map(({ summaries }) => summaries.createSessionSummary({ session }));
      expect((await Promise.all(both)).map((summary) => summary?.toSeq)).toContain(6);
      expect(noting.model.requests).toHaveLength(1);
    } finally {
      await writing.destroy();
      await noting.destroy();
    }
  });
});
