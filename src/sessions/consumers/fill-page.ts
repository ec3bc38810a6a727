import { compareBytes, sessionKeyOf } from '../domain/ids.js';
import { type SessionRecord, NOTHING_WAITS } from '../domain/session-record.js';
import type { DispatchRequest, NewWork } from '../storage/coordination.js';
import { positionOf } from '../storage/list-order.js';
import type { ListResult, SessionStorage } from '../storage/session-storage.js';
import { type FillPosition, type RegisteredConsumer, settingsText } from './consumer-settings.js';

const PAGE = 100;
const ORDER = { orderBy: 'createTime', order: 'asc' } as const;

/** The next sessions for a consumer that begins at the start, and its position after them. */
export async function fillPage(
  storage: SessionStorage,
  consumer: RegisteredConsumer,
): Promise<Pick<DispatchRequest, 'work' | 'settings'>> {
  const { fill = {}, name, text: expected } = consumer;
  const apps = consumer.apps ?? (await storage.consumers.apps());
  const appName = apps.find((app) => isLeft(fill, app));
  if (appName === undefined) {
    return { work: [], settings: { name, expected, next: settingsText({ ...consumer, fill: undefined }) } };
  }
  const after = appName === fill.appName ? fill.after : undefined;
  const page = await storage.list({ appName, ...ORDER, after, limit: PAGE, withState: false });
  const next = settingsText({ ...consumer, fill: positionAfter(appName, page) });
  const work = page.sessions.map(({ record }) => workOnLog(record, consumer)).filter(({ upTo }) => upTo > 0);
  return { work, settings: { name, expected, next } };
}

function isLeft({ appName, isAppDone }: FillPosition, app: string): boolean {
  if (appName === undefined) return true;
  const order = compareBytes(app, appName);
  return order > 0 || (order === 0 && !isAppDone);
}

function positionAfter(appName: string, { sessions }: ListResult): FillPosition {
  const last = sessions.at(-1);
  if (!last || sessions.length < PAGE) return { appName, isAppDone: true };
  return { appName, after: positionOf(last.record, ORDER) };
}

/** Events that are not dispatched follow with the dispatch of the session. */
function workOnLog(record: SessionRecord, { name, registeredAt }: RegisteredConsumer): NewWork {
  return {
    consumer: name,
    key: sessionKeyOf(record),
    incarnation: record.incarnation,
    seq: 0,
    upTo: record.waitingSince === NOTHING_WAITS ? record.lastSeq : record.dispatchedSeq,
    since: registeredAt,
  };
}
