import { type ComponentPlace, componentPrefixOf, componentSessionsOf } from '../sessions/domain/stored/component.js';
import { NEVER } from '../sessions/domain/values/expiry.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import { componentSessionsWith } from '../sessions/storage/component-sessions.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { inBatches } from '../sessions/domain/stored/batches.js';
import type { ComponentLine, TransferFilter } from './transfer-records.js';

/** Limits the length of a line. */
const ITEMS_PER_LINE = { items: 500, weight: 1_048_576, weightOf: ({ length }: string) => length };

/** The values and lists of a store, session by session. One of them is in memory at a time. */
export async function* exportComponents(store: ComponentStore, filter: TransferFilter): AsyncGenerator<ComponentLine> {
  for await (const session of findComponentSessions(store, filter)) {
    const { places, expiresAt = NEVER } = await store.places(session);
    for (const place of places.toSorted(byName)) yield* readComponentLines(store, place, expiresAt);
  }
}

async function* findComponentSessions(store: ComponentStore, filter: TransferFilter): AsyncGenerator<string> {
  const { appName, userId, sessionId } = filter;
  if (appName !== undefined && userId !== undefined && sessionId !== undefined) {
    yield* componentSessionsOf({ appName, userId, sessionId });
    return;
  }
  yield* componentSessionsWith(componentPrefixOf(filter), store);
}

/** Nothing if it was deleted in the meantime. */
async function* readComponentLines(
  store: ComponentStore,
  place: ComponentPlace,
  expiry: number,
): AsyncGenerator<ComponentLine> {
  const found = await store.read(place);
  if (!found) return;
  const { session, name, kind: type } = place;
  const expiresAt = expiry < NEVER ? expiry : undefined;
  const { length, digest, texts } = found;
  const whole = { kind: 'component', session, name, type, expiresAt, length, digest } as const;
  let from = 0;
  for (const items of texts.length > 0 ? inBatches(texts, ITEMS_PER_LINE) : [[]]) {
    yield { ...whole, from, items };
    from += items.length;
  }
}

function byName(a: ComponentPlace, b: ComponentPlace): number {
  if (a.name === b.name) return a.kind < b.kind ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** Sessions of components that an app named itself belong to no app and no user. */
export function isComponentWanted(session: string, filter: TransferFilter): boolean {
  const { appName, userId, sessionId } = filter;
  if (sessionId === undefined) return session.startsWith(componentPrefixOf(filter));
  return componentSessionsOf({ appName, userId, sessionId } as SessionKey).includes(session);
}
