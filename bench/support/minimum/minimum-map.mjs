/**
 * The least of a store in memory that shares no object with its callers: each event becomes text, and the caller gets a
 * copy of it.
 *
 * @implements {import('../sides.mjs').Side}
 */
export class MinimumMap {
  #sessions = new Map();

  create(sessionId) {
    this.#sessions.set(sessionId, { updated: Date.now(), events: [], state: new Map([['step', '0']]) });
    return sessionId;
  }

  append(sessionId, event) {
    const session = this.#sessions.get(sessionId);
    const text = JSON.stringify(event);
    session.events.push(text);
    for (const [key, value] of Object.entries(event.actions.stateDelta)) session.state.set(key, JSON.stringify(value));
    session.updated = Date.now();
    return JSON.parse(text);
  }

  fill(sessionId, events) {
    for (const event of events) this.append(sessionId, event);
  }

  readAll(sessionId) {
    return this.readNewest(sessionId, Infinity);
  }

  readNewest(sessionId, count) {
    const { events, state } = this.#sessions.get(sessionId);
    return { state: parsed(state), events: events.slice(-count).map((text) => JSON.parse(text)) };
  }

  list(count) {
    return [...this.#sessions]
      .sort(([, a], [, b]) => b.updated - a.updated)
      .slice(0, count)
      .map(([id, { updated, state }]) => ({ id, updated, state: parsed(state) }));
  }

  close() {
    this.#sessions.clear();
  }
}

function parsed(state) {
  return Object.fromEntries([...state].map(([key, value]) => [key, JSON.parse(value)]));
}
