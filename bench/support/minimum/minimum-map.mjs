import { RawMap } from '../raw-map.mjs';

/**
 * The least of a store in memory that shares no object with its callers: each event becomes text, and the caller gets a
 * copy of it.
 *
 * @implements {import('../sides.mjs').Side}
 */
export class MinimumMap extends RawMap {
  append(sessionId, event) {
    const session = this.sessionOf(sessionId);
    const text = JSON.stringify(event);
    session.events.push(text);
    for (const [key, value] of Object.entries(event.actions.stateDelta)) session.state.set(key, JSON.stringify(value));
    session.lastUpdateTime = Date.now();
    return JSON.parse(text);
  }
}
