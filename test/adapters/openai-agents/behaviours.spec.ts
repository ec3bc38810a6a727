import type { AgentInputItem, SessionHistoryTransactionArgs } from '@openai/agents-core';
import {
  isOpenAIResponsesCompactionAwareSession,
  isRunContextAwareSession,
  isSessionHistoryRewriteAwareSession,
  isSessionHistoryTransactionAwareSession,
} from '@openai/agents-core';
import { AgentsSession, OperationConflictError, StaleHistoryError } from '../../../src/adapters/openai-agents/index.js';
import { InvalidInputError } from '../../../src/index.js';
import { describeSuite } from '../support/describe-suite.js';
import { KEY, answered, called, said, sessionsOn, textsOf } from './support/sessions.js';

const suite = {
  framework: 'OpenAI Agents',
  peer: '@openai/agents-core',
  suite: "behaviours of @openai/agents-core's session tests",
};

/** What the tests of the SDK demand of its session in memory, on every store. */
describeSuite(suite, (store) => {
  const { open } = sessionsOn(store);

  it('stores items in their order, and returns the newest ones of a limit', async () => {
    const { session } = await open();
    expect(await session.getSessionId()).toBe(KEY.sessionId);
    expect(await session.getItems()).toEqual([]);
    await session.addItems([said('hello')]);
    await session.addItems([said('one'), said('two')]);
    await session.addItems([]);
    expect(await session.getItems()).toEqual([said('hello'), said('one'), said('two')]);
    expect(await session.getItems(2)).toEqual([said('one'), said('two')]);
    expect(await session.getItems(9)).toHaveLength(3);
    for (const none of [0, -1, Number.NaN]) expect(await session.getItems(none)).toEqual([]);
  });

  it('takes items back one by one, from the last, and then has none', async () => {
    const { session, sessions } = await open();
    await session.addItems([said('one'), answered('two'), called('c1')]);
    expect(await session.popItem()).toEqual(called('c1'));
    expect(await session.getItems()).toEqual([said('one'), answered('two')]);
    await session.addItems([said('three')]);
    expect(await session.popItem()).toEqual(said('three'));
    expect(await session.popItem()).toEqual(answered('two'));
    expect(await session.getItems()).toEqual([said('one')]);
    await session.popItem();
    expect(await session.popItem()).toBeUndefined();
    // The log keeps them.
    const { events } = await sessions.listEvents(KEY);
    expect(events.flatMap(({ content }) => content?.parts?.map(({ text }) => text) ?? [])).toContain('three');
  });

  it('is empty after it was cleared, and goes on', async () => {
    const { session, sessions } = await open();
    await session.clearSession();
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([said('one'), answered('two')]);
    await session.clearSession();
    expect([await session.getItems(), await session.getItems(3)]).toEqual([[], []]);
    expect((await sessions.getSession(KEY))?.events).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([said('three')]);
    expect(textsOf(await session.getItems())).toEqual(['three']);
    expect((await sessions.listEvents(KEY)).events).toHaveLength(4);
  });

  it('shares no object with its caller', async () => {
    const { session } = await open();
    const item = said('start');
    await session.addItems([item]);
    item.content = 'changed';
    const [read] = await session.getItems();
    Object.assign(read ?? {}, { content: 'changed' });
    expect(await session.getItems()).toEqual([said('start')]);
  });

  it('replaces a function call, and removes its repetitions', async () => {
    const { session } = await open();
    await session.addItems([said('start'), called('c1', { ok: 1 }), called('c2'), called('c1'), said('end')]);
    const replacement = { ...called('c1', { ok: 2 }), id: 'fc_2' };
    await session.applyHistoryMutations({ mutations: [] });
    const change = { mutations: [{ type: 'replace_function_call' as const, callId: 'c1', replacement }] };
    await session.applyHistoryMutations(change);
    expect(await session.getItems()).toEqual([said('start'), replacement, called('c2'), said('end')]);
    await session.applyHistoryMutations(change);
    await session.applyHistoryMutations({
      mutations: [{ type: 'replace_function_call', callId: 'nobody', replacement }],
    });
    expect(await session.getItems()).toEqual([said('start'), replacement, called('c2'), said('end')]);
  });

  it('applies an append once for each operation id', async () => {
    const { session } = await open();
    await session.addItems([said('start')]);
    const item = said('committed');
    const append = appending('op', [item]);
    const applying = session.applyHistoryTransaction(append);
    item.content = 'changed';
    await applying;
    await session.addItems([said('later')]);
    await session.applyHistoryTransaction(appending('op', [said('committed')]));
    expect(await session.getItems()).toEqual([said('start'), said('committed'), said('later')]);
    const other = session.applyHistoryTransaction(appending('op', [said('other')]));
    await expect(other).rejects.toThrow('already applied with a different transaction');
    await expect(other).rejects.toThrow(OperationConflictError);
    await session.applyHistoryTransaction(appending('empty', []));
    await expect(session.applyHistoryTransaction(appending('empty', [said('more')]))).rejects.toThrow('different');
    expect(await session.getItems()).toHaveLength(3);
  });

  it('replaces a suffix once, if the history ends with it', async () => {
    const { session, sessions } = await open();
    await session.addItems([said('start'), answered('blocked'), called('c1')]);
    const replace = replacing('op', [answered('blocked'), called('c1')], [answered('accepted')]);
    const wrong = session.applyHistoryTransaction(replacing('op', [answered('blocked')], [answered('no')]));
    await expect(wrong).rejects.toThrow('no longer matches');
    await expect(wrong).rejects.toThrow(StaleHistoryError);
    const tooLong = replacing('op', [said('x'), said('start'), answered('blocked'), called('c1')], []);
    await expect(session.applyHistoryTransaction(tooLong)).rejects.toThrow(StaleHistoryError);
    await session.applyHistoryTransaction(replace);
    await session.addItems([said('later')]);
    await session.applyHistoryTransaction(replace);
    expect(await session.getItems()).toEqual([said('start'), answered('accepted'), said('later')]);
    // Nobody sees what was blocked, but the log has it.
    const view = await sessions.getSession(KEY);
    expect(JSON.stringify(view?.events)).not.toContain('blocked');
    expect(JSON.stringify((await sessions.listEvents(KEY)).events)).toContain('blocked');
    await session.applyHistoryTransaction(replacing('all', await session.getItems(), []));
    expect(await session.getItems()).toEqual([]);
  });

  it('forgets operation ids when it is cleared', async () => {
    const { session } = await open();
    await session.applyHistoryTransaction(appending('op', [said('one')]));
    await session.clearSession();
    await session.applyHistoryTransaction(appending('op', [said('one')]));
    expect(await session.getItems()).toEqual([said('one')]);
  });

  it('refuses transactions that cannot be repeated and compared, and stores nothing of them', async () => {
    const { session } = await open();
    await session.addItems([said('start')]);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const hidden = said('hidden');
    Object.defineProperty(hidden, 'providerData', { enumerable: false, value: { secret: true } });
    const wrong: unknown[] = [
      null,
      { operationId: '   ', transaction: appending('x', []).transaction },
      { operationId: 'op', transaction: null },
      { operationId: 'op', transaction: { type: 'unknown' } },
      { operationId: 'op', transaction: { type: 'append_items', items: [], metadata: {} } },
      { operationId: 'op', transaction: { type: 'replace_suffix', expectedSuffix: [], replacement: [], more: 1 } },
      { operationId: 'op', transaction: { type: 'append_items', items: 'none' } },
      appending('op', [42 as unknown as AgentInputItem]),
      appending('op', Object.assign<AgentInputItem[], object>([], { length: 1 })),
      appending('op', new Proxy([said('proxied')], {})),
      appending('op', [hidden]),
      ...[new Date(0), cycle, 42n, Symbol('api-key-secret'), new Uint16Array([300])].map((value) =>
        appending('op', [{ ...said('unsupported'), providerData: { value } }]),
      ),
    ];
    for (const args of wrong) {
      const applying = session.applyHistoryTransaction(args as SessionHistoryTransactionArgs);
      await expect(applying).rejects.toThrow(InvalidInputError);
      await expect(applying).rejects.not.toThrow('api-key-secret');
    }
    await session.applyHistoryTransaction(appending('op', [said('accepted')]));
    expect(await session.getItems()).toEqual([said('start'), said('accepted')]);
  });

  it('copies bytes, and reads what surrounds a transaction once', async () => {
    const { session } = await open();
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    shared.set([3, 7]);
    let reads = 0;
    const args = appending('bytes', [{ ...said('binary'), providerData: { bytes: shared } }]);
    Object.defineProperty(args, 'operationId', { enumerable: true, get: () => (reads++ === 0 ? 'bytes' : 'changed') });
    const applying = session.applyHistoryTransaction(args);
    shared[0] = 9;
    await applying;
    expect(reads).toBe(1);
    const again = { ...said('binary'), providerData: { bytes: new Uint8Array([3, 7]) } };
    await session.applyHistoryTransaction(appending('bytes', [again]));
    expect(await session.getItems()).toEqual([again]);
    const plain = { ...said('plain'), providerData: Object.assign(Object.create(null), { source: 'provider' }) };
    await session.applyHistoryTransaction(appending('plain', [plain]));
    await session.applyHistoryTransaction(appending('plain', await session.getItems(1)));
    await session.applyHistoryTransaction(replacing('replace', [plain], [said('replaced')]));
    expect(await session.getItems()).toEqual([again, said('replaced')]);
  });

  it('tells the SDK what it can do', async () => {
    const { session } = await open();
    expect(isSessionHistoryRewriteAwareSession(session)).toBe(true);
    expect(isSessionHistoryTransactionAwareSession(session)).toBe(true);
    expect(isRunContextAwareSession(session)).toBe(true);
    expect(isOpenAIResponsesCompactionAwareSession(session)).toBe(true);
    expect(await session.runCompaction({ force: true })).toBeNull();
    expect(session.prepareHistoryItemForModelInput(said('x'))).toEqual(said('x'));
    expect(session.prepareHistoryItemsForPersistenceComparison([said('x')])).toEqual([said('x')]);
    expect(session.preserveReasoningItemIdsForPersistence()).toBe(false);
  });

  it('replaces its history by a compaction, which others do not see', async () => {
    const { session, sessions } = await open();
    const compaction: AgentInputItem = { type: 'compaction', encrypted_content: 'secret', id: 'cmp_1' };
    await session.addItems([said('old'), answered('older'), said('kept')]);
    await session.getItems();
    await session.addItems([answered('meanwhile')]);
    await session.replaceHistoryWithCompaction([compaction, said('kept')]);
    await session.addItems([said('new')]);
    const expected = [compaction, said('kept'), answered('meanwhile'), said('new')];
    expect(await session.getItems()).toEqual(expected);
    for (const limit of [1, 2, 3, 4]) expect(await session.getItems(limit)).toEqual(expected.slice(-limit));
    const view = (await sessions.getSession(KEY))?.events ?? [];
    const texts = view.flatMap(({ content }) => content?.parts?.map(({ text }) => text) ?? []);
    expect(texts).toEqual(['old', 'older', 'kept', 'meanwhile', 'new']);
    for (const item of expected.toReversed()) expect(await session.popItem()).toEqual(item);
    expect(await session.popItem()).toBeUndefined();
    expect(await session.getItems()).toEqual([]);
  });

  it('is another one for each user, and after it expired or was deleted', async () => {
    const { session, sessions } = await open();
    const other = new AgentsSession({ sessions, ...KEY, userId: 'bob' });
    await session.addItems([said('one')]);
    expect(await other.getItems()).toEqual([]);
    await other.popItem();
    await sessions.deleteSession(KEY);
    expect(await session.getItems()).toEqual([]);
    await session.addItems([said('two')]);
    expect(await session.getItems()).toEqual([said('two')]);
    expect(() => new AgentsSession({ sessions, ...KEY, sessionId: ' ' })).toThrow(InvalidInputError);
  });
});

function appending(operationId: string, items: AgentInputItem[]): SessionHistoryTransactionArgs {
  return { operationId, transaction: { type: 'append_items', items } };
}

function replacing(
  operationId: string,
  expectedSuffix: AgentInputItem[],
  replacement: AgentInputItem[],
): SessionHistoryTransactionArgs {
  return { operationId, transaction: { type: 'replace_suffix', expectedSuffix, replacement } };
}
