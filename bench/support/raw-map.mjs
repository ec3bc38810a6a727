/**
 * The least that an in-memory store can do without sharing objects with its callers: JSON text in a Map.
 * It checks nothing, so it bounds what is possible; it is no competitor.
 *
 * @implements {import('./sides.mjs').Side}
 */
export class RawMap {
  #sessions = new Map();

  create(sessionId) {
    this.#sessions.set(sessionId, { lastUpdateTime: Date.now(), events: [], state: new Map([['step', '0']]) });
    return sessionId;
  }

  /** The session with this id, for classes that append in another way. */
  sessionOf(sessionId) {
    return this.#sessions.get(sessionId);
  }

  append(sessionId, event) {
    const session = this.sessionOf(sessionId);
    session.events.push(JSON.stringify(event));
    session.state.set('step', JSON.stringify(event.actions.stateDelta.step));
    session.lastUpdateTime = Date.now();
  }

  fill(sessionId, events) {
    for (const event of events) this.append(sessionId, event);
  }

  readAll(sessionId) {
    return this.readNewest(sessionId, Infinity);
  }

  readNewest(sessionId, count) {
    const { events, state } = this.sessionOf(sessionId);
    return { state: parsedState(state), events: events.slice(-count).map((text) => JSON.parse(text)) };
  }

  list(count) {
    return [...this.#sessions]
      .sort(([, a], [, b]) => b.lastUpdateTime - a.lastUpdateTime)
      .slice(0, count)
      .map(([id, { lastUpdateTime, state }]) => ({ id, lastUpdateTime, state: parsedState(state) }));
  }

  close() {
    this.#sessions.clear();
  }
}

function parsedState(state) {
  return Object.fromEntries([...state].map(([name, value]) => [name, JSON.parse(value)]));
}
