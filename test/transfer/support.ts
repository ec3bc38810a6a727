import { ComponentSession } from '../../src/components/index.js';
import { InMemorySessionStorage, type SessionKey, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { type ImportOptions, type ImportResult, exportSessions, importSessions } from '../../src/transfer/index.js';

export const USER = { appName: 'shop', userId: 'ann|ä{}*' };
export const KEY = { ...USER, sessionId: 's-1' };
const DAY_MS = 86_400_000;
/** Longer than a line of an export. */
const LONG_LIST = Array.from({ length: 1_203 }, (_, index) => ({ index }));
/** Values and lists of the filled store. */
export const COMPONENTS = 5;

export const text = (value: string) => ({ role: 'user', parts: [{ text: value }] });

/** A store in memory with one of everything that an export has, and with times that differ. */
export async function filledStore(): Promise<{ storage: SessionStorage; clock: ManualClock }> {
  const clock = new ManualClock(Date.UTC(2026, 9, 30, 12));
  const storage = new InMemorySessionStorage({ clock });
  const sessions = new SessionService({ storage, clock, history: { maxEvents: 6 } });
  const metadata = { title: 'A "cart"', status: 'open', tags: ['vip'], labels: { team: 'ä' } };
  const session = await sessions.createSession({ ...KEY, state: { a: 1, kept: null, 'user:theme': 'dark' }, metadata });
  for (let index = 1; index <= 12; index++) {
    clock.advanceSeconds(60);
    const usageMetadata = { promptTokenCount: index, candidatesTokenCount: 2 };
    const stateDelta = { step: index, __proto__x: { '\u0000': [index, 1e21] } };
    const event =
      index % 3 === 1 ? { author: 'user', content: text(`say ${index} \u2028"`) } : { author: 'agent', usageMetadata };
    await sessions.appendEvent({
      session,
      event: { id: `e-${index}`, invocationId: `i-${index}`, ...event, actions: { stateDelta } },
    });
  }
  await sessions.whenIdle();
  clock.advanceSeconds(5 * (DAY_MS / 1_000));
  const other = await sessions.createSession({ ...USER, sessionId: 's-2', turnsOnly: false });
  const events = Array.from({ length: 30 }, (_, index) => ({
    id: `o-${index}`,
    author: index % 4 ? 'agent' : 'user',
    content: text(`${index}`),
  }));
  const whole = new SessionService({ storage, clock });
  for (const event of events) await whole.appendEvent({ session: other, event });
  await whole.rewindSession({ ...USER, sessionId: 's-2', toSeq: 24 });
  const compaction = {
    fromSeq: 1,
    toSeq: 8,
    model: 'm',
    promptVersion: 1,
    originalEventCount: 8,
    compressedEventCount: 1,
  };
  const summary = { id: 'summary:8', author: 'system', content: text('before'), actions: { compaction } };
  await whole.appendEvent({ session: { ...USER, id: 's-2' }, event: summary as never });
  await trimTo(storage, whole, KEY, 4);
  await trimTo(storage, whole, { ...USER, sessionId: 's-2' }, 6);
  await whole.updateUserState({ ...USER, stateDelta: { name: 'Ann', '1': true } });
  await whole.updateUserState({ appName: 'shop', userId: 'without sessions', stateDelta: { theme: 'light' } });
  await whole.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
  await whole.createSession({ appName: 'other/app', userId: 'bob', sessionId: '../x' });
  const components = new ComponentSession({ store: storage.components });
  await components.save(KEY, 'plan', { 'ä"': [1e21, null], 1: '\u2028' });
  await components.saveList(KEY, 'plan', ['a', { b: 1 }, 3]);
  await components.saveList({ ...USER, sessionId: 's-2' }, 'emptied', []);
  await components.saveList({ appName: 'other/app', userId: 'bob', sessionId: '../x' }, 'long', LONG_LIST);
  const brief = new ComponentSession({ store: storage.components, ttlMs: 40 * DAY_MS });
  await brief.save('a name of the app: ["shop"', 'memory', 'kept for a while');
  return { storage, clock };
}

/** Removes the events before this one, as `keepHistory: false` does. */
async function trimTo(
  storage: SessionStorage,
  sessions: SessionService,
  key: SessionKey,
  newFirstSeq: number,
): Promise<void> {
  const record = (await storage.read({ key }))?.record;
  if (!record) throw new Error('no session');
  const { incarnation, firstSeq, marksSeq } = record;
  const { state } = await sessions.stateAt({ ...key, seq: newFirstSeq - 1 });
  const own = Object.entries(state).filter(([name]) => !name.startsWith('user:'));
  const baseState = JSON.stringify(Object.fromEntries(own));
  const digests = Array.from({ length: newFirstSeq - firstSeq }, () => 'digest');
  await storage.trim({ key, incarnation, firstSeq, marksSeq, newFirstSeq, digests, baseState });
}

export async function linesOf(storage: SessionStorage): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportSessions(storage)) lines.push(line);
  return lines;
}

/** Imports lines. */
export async function importLines(
  target: SessionStorage,
  lines: readonly string[],
  options?: ImportOptions,
): Promise<ImportResult> {
  return importSessions(target, lines, options);
}

/** The records of an export without what differs between exports: header, footer, and the order of records and of state keys. */
export function comparable(lines: readonly string[]): string[] {
  return lines
    .slice(1, -1)
    .map((line) => JSON.stringify(sorted(JSON.parse(line))))
    .toSorted();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** The store as one without the optional interface. */
export function withoutTransfer(storage: SessionStorage): SessionStorage {
  return overridden(storage, { transfer: undefined });
}

/** The same object with some members of its own. */
export function overridden<Target extends object>(target: Target, members: Partial<Target>): Target {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
