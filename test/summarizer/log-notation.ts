import { Event, type EventInput, type LoggedEvent } from '../../src/index.js';
import { answeredCalls, callsIn } from '../../src/sessions/domain/view/tool-pairs.js';
import { agent, user } from './summarized-sessions.js';

/**
 * Events of a log in short notation: `u` user message, `a` agent message, `+x` call `x`, `-x` response to `x`, `+x+y`
 * two calls in one event, `s` event with `skipSummarization`. Each text contains the index of its event.
 */
export function eventsOf(log: string): EventInput[] {
  return words(log).map((word, place) => {
    if (word === 'u') return user(`u${place}`);
    if (word === 'a') return agent(`a${place}`);
    if (word === 's') return { ...agent(`s${place}`), actions: { skipSummarization: true } };
    const parts = Array.from(word.matchAll(/([+-])(\w+)/g), ([, sign, id]) => {
      const tool = { id: String(id), name: 'look' };
      return sign === '+' ? { functionCall: tool } : { functionResponse: { ...tool, response: { found: id } } };
    });
    return { author: 'agent', content: { role: 'model', parts } };
  });
}

export function loggedEventsOf(log: string): LoggedEvent[] {
  return eventsOf(log).map((event, index) => Object.assign(new Event(event), { seq: index + 1 }));
}

/** The log with its cut: `u a | u a`; unchanged if there is no cut. */
export function withCut(log: string, place: number): string {
  const cut = words(log);
  return (place > 0 ? cut.toSpliced(place, 0, '|') : cut).join(' ');
}

/** Whether a cut at `place` separates a call from its response. */
export function isTornAt(events: readonly LoggedEvent[], place: number): boolean {
  const made = new Set<string>();
  for (const [index, event] of events.entries()) {
    if (index >= place && answeredCalls(event).some((key) => made.has(key))) return true;
    for (const key of callsIn(event)) {
      if (index < place) made.add(key);
      else made.delete(key);
    }
  }
  return false;
}

function words(log: string): string[] {
  return log.split(' ').filter((word) => word !== '' && word !== '|');
}
