import { ComponentSession } from '../../src/components/index.js';
import { SessionRetention, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { until } from '../support/until.js';

export const CANARY_KEY = { appName: 'shop', userId: 'ann', sessionId: 's-canary' };

const text = (canary: string, more: object = {}) => ({
  author: 'user',
  content: { role: 'user', parts: [{ text: `says ${canary}` }] },
  ...more,
});

/** Writes a word into all that a session and its user can hold. */
export async function writeEverywhere(storage: SessionStorage, canary: string): Promise<void> {
  const sessions = new SessionService({ storage, onBackgroundError: () => undefined });
  const { appName, userId } = CANARY_KEY;
  const session = await sessions.createSession({
    ...CANARY_KEY,
    state: { own: canary, 'user:own': canary, 'app:own': canary },
    metadata: { title: `title ${canary}`, fields: { note: canary } },
  });
  const stateDelta = { changed: canary, 'user:changed': canary, 'app:changed': [canary] };
  await sessions.appendEvent({ session, event: text(canary, { id: 'e-1', actions: { stateDelta } }) });
  const modelRequest = { given: [[1, 1] as const], instructions: `prompt ${canary}`, tools: [{ name: canary }] };
  await sessions.appendEvent({ session, event: { ...text(canary), author: 'agent', modelRequest } });
  const compaction = { fromSeq: 1, toSeq: 2 };
  await sessions.appendEvent({ session, event: { ...text(canary), author: 'system', actions: { compaction } } });
  await sessions.updateUserState({ appName, userId, stateDelta: { updated: canary } });
  const metadataDelta = { title: `title 2 ${canary}`, fields: { second: canary } };
  await sessions.appendEvent({ session, event: text(canary, { actions: { metadataDelta } }) });
  const components = new ComponentSession({ sessions });
  await components.save(CANARY_KEY, 'memory', { value: canary });
  await components.saveList(CANARY_KEY, 'memory', [canary]);
  await components.save('a name of the app', 'memory', { value: canary });

  const turn = await sessions.beginTurn({ ...CANARY_KEY, ttlMs: 60_000 });
  const record = (await storage.read({ key: CANARY_KEY }))?.record;
  const { incarnation = '' } = record ?? {};
  const partial = { key: CANARY_KEY, incarnation, turnToken: turn.token, index: 1, messageId: 'm-1', ttlMs: 60_000 };
  expect(await storage.savePartial({ ...partial, content: JSON.stringify({ text: canary }) })).toMatchObject({
    kind: 'saved',
    partial: { content: JSON.stringify({ text: canary }) },
  });
  await sessions.endTurn(turn);
  const checkpoint = { key: CANARY_KEY, incarnation, seq: 256, text: JSON.stringify({ state: canary }) };
  await storage.saveCheckpoint(checkpoint);

  await sessions.eraseUser({ appName: 'shop', userId: 'erased', reason: `letter of ${canary}` });
  const hold = { labels: { held: canary } };
  const retention = new SessionRetention({ sessions, rules: [], hold });
  await retention.apply();
  await retention.release();

  await sessions.forkSession({ ...CANARY_KEY, atSeq: 2, newSessionId: 's-fork' });
  await sessions.consume({
    name: 'fails',
    from: 'start',
    maxTries: 1,
    pollMs: 20,
    handler: () => {
      throw new Error(`cannot handle ${canary}`);
    },
  });
  await until(async () => ((await sessions.consumers.lag('fails'))?.deadLetters ?? 0) > 0, 'No dead letter');
  const letters = await sessions.consumers.deadLetters({ consumer: 'fails' });
  expect(JSON.stringify(letters)).toContain(`cannot handle ${canary}`);
  await sessions.whenIdle();
  await sessions.finish();
}
