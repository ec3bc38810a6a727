import { METADATA_LIMITS } from '../../../src/sessions/domain/metadata/metadata-limits.js';
import type { TestStore } from '../../support/stores.js';
import { USER, expectRefusals, load, sharedSession, waysIn } from './harness.js';
import { EXCESSIVE_VALUES, ILLEGAL_VALUES, LEGAL_VALUES } from './tables/values.js';

/** A session has less metadata than state. */
const METADATA_VALUES = LEGAL_VALUES.filter(([, value]) => JSON.stringify(value).length < METADATA_LIMITS.bytes / 3);

export function acceptedValues(store: TestStore): void {
  describe('values', () => {
    const opened = sharedSession(store);

    it.each(LEGAL_VALUES)('%s comes back', async (_name, ...[value, normalised]) => {
      const expected = normalised === undefined ? value : normalised;
      const { sessions } = await opened();
      const state = { v: value, 'user:v': value, 'app:v': value };
      const session = await sessions.createSession({ ...USER, state });
      await sessions.appendEvent({
        session,
        event: { author: 'user', customMetadata: { v: value }, actions: { stateDelta: { w: value } } },
      });
      await sessions.appendEvents({
        session,
        events: [
          { author: 'agent', customMetadata: { v: value }, actions: { stateDelta: { x: value, y: 0 } } },
          { author: 'agent', actions: { stateDelta: { y: value } } },
        ],
      });
      const read = await load(sessions, { ...USER, sessionId: session.id });
      for (const { state: seen } of [session, read]) {
        for (const key of ['v', 'w', 'x', 'y', 'user:v', 'app:v']) {
          expect(JSON.stringify(seen.get(key))).toBe(JSON.stringify(expected));
          expect(seen.get(key)).toEqual(expected);
        }
      }
      for (const [index, key] of ['w', 'x'].entries()) {
        expect(read.events[index]?.customMetadata?.v).toEqual(expected);
        expect(JSON.stringify(read.events[index]?.actions.stateDelta[key])).toBe(JSON.stringify(expected));
      }
    });

    it.each(METADATA_VALUES)('%s comes back as a field of metadata', async (_name, ...[value, normalised]) => {
      const expected = normalised === undefined ? value : normalised;
      const { sessions } = await opened();
      const session = await sessions.createSession({ ...USER, metadata: { fields: { v: value } } });
      const actions = { metadataDelta: { fields: { w: value } } };
      await sessions.appendEvent({ session, event: { author: 'user', actions } });
      const read = await load(sessions, { ...USER, sessionId: session.id });
      for (const { metadata } of [session, read]) {
        for (const name of ['v', 'w']) {
          expect(JSON.stringify(metadata.fields[name])).toBe(JSON.stringify(expected));
          expect(metadata.fields[name]).toEqual(expected);
        }
      }
    });
  });
}

/** Refusals happen above the stores, so one store is enough. */
export function refusedValues(store: TestStore): void {
  describe('values', () => {
    const opened = sharedSession(store);

    it.each(ILLEGAL_VALUES)('%s is refused', async (_name, value, path) => {
      const refusals = waysIn(value).map(([where, request]) => ({
        code: 'INVALID_INPUT' as const,
        path: `${where}${path}`,
        request,
      }));
      await expectRefusals(await opened(), refusals);
    });

    it.each(EXCESSIVE_VALUES)('%s are too much', async (_name, value) => {
      const refusals = waysIn(value).map(([, request]) => ({ code: 'LIMIT_EXCEEDED' as const, request }));
      await expectRefusals(await opened(), refusals);
    });
  });
}
