import { isDeepStrictEqual } from 'node:util';
import { isControlEvent } from '../../agents/index.js';
import type { EventLike } from '../../sessions/domain/event/event.js';

/** What an event says, as plain data: without ids, times and numbers, so that two runs compare. */
export interface SaidEvent {
  readonly author: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
  readonly responses?: readonly { readonly name: string; readonly response: unknown }[];
  readonly stateDelta?: Readonly<Record<string, unknown>>;
  readonly errorCode?: string;
}

/**
 * What events say, without those that only control turns. Parts that are neither text nor tool calls are left out.
 *
 * @example expect(saidEvents(session.events).at(-1)).toEqual({ author: 'support', text: 'It is on its way.' });
 */
export function saidEvents(events: readonly EventLike[]): SaidEvent[] {
  return events.filter((event) => event.partial !== true && !isControlEvent(event)).map(saidEvent);
}

function saidEvent({ author = '', content, actions, errorCode }: EventLike): SaidEvent {
  const parts = content?.parts ?? [];
  const text = parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('');
  const calls = parts.flatMap(({ functionCall: call }) =>
    call ? [{ name: call.name ?? '', args: call.args ?? {} }] : [],
  );
  const responses = parts.flatMap(({ functionResponse: given }) =>
    given ? [{ name: given.name ?? '', response: given.response ?? {} }] : [],
  );
  const stateDelta = actions?.stateDelta ?? {};
  return {
    author,
    ...(text !== '' && { text }),
    ...(calls.length > 0 && { calls }),
    ...(responses.length > 0 && { responses }),
    ...(Object.keys(stateDelta).length > 0 && { stateDelta: { ...stateDelta } }),
    ...(typeof errorCode === 'string' && { errorCode }),
  };
}

/** A key of state that differs. */
export interface StateDifference {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Which keys of two states differ, ordered by key. */
export function stateDifferences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): StateDifference[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return keys
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({ key, before: before[key], after: after[key] }));
}
