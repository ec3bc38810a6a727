import { givenRanges, type ModelRequest } from '../../index.js';

/** An event, and the message that a framework makes of it. */
export interface ToldEvent {
  readonly seq: number;
  readonly message: unknown;
}

/**
 * Which of these events a model was given, found by what their messages say. It is exact only if each message is that of one event, in
 * the order of the events, and no event that is left over says the same: then it cannot be told which one it was.
 *
 * @param messages that the model was given
 * @param events of which a framework could have made them, in the order of the conversation
 * @example const modelRequest = { ...givenEvents(request.contents, told), instructions, tools };
 */
export function givenEvents(
  messages: readonly unknown[],
  events: readonly ToldEvent[],
): Pick<ModelRequest, 'given' | 'isExact'> {
  const wanted = messages.map((message) => JSON.stringify(message));
  const given: ToldEvent[] = [];
  const others = new Set<string>();
  let isExact = true;
  let next = 0;
  for (const event of events) {
    const said = JSON.stringify(event.message);
    const place = wanted.indexOf(said, next);
    if (place === -1) {
      others.add(said);
      continue;
    }
    isExact &&= place === next;
    next = place + 1;
    given.push(event);
  }
  isExact &&= next === wanted.length && !wanted.some((message) => others.has(message));
  return { ...givenRanges(given), ...(!isExact && { isExact: false }) };
}
