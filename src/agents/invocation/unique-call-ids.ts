import type { FunctionCall, FunctionResponse, Part } from '../../sessions/domain/event/content.js';
import { type EventInput, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';

/** Before the number of a call in its message, in the id that it gets if its message has another call with its id. */
const MARK = '#';
/** Begins the ids of calls that the model gave none, as in ADK: Gemini's API does not get them. */
const MADE = 'adk-';

/** Whether the call in the log is one that the model gave this id, or none. */
export function isIdFor(callId: string | undefined, given: string | undefined): boolean {
  return callId === given || (given ? isDuplicateOf(callId, given) : isMade(callId));
}

function isDuplicateOf(callId: string | undefined, id: string): boolean {
  return callId?.startsWith(`${id}${MARK}`) === true;
}

function isMade(callId: string | undefined): boolean {
  return callId?.startsWith(MADE) === true;
}

/**
 * The event, so that each of its calls has an id, and no two the same one: some models give none, or the same one again, and
 * otherwise nobody could tell whose response is whose. Responses follow their calls, in their order.
 *
 * @param open the calls that wait for their responses, in their order
 */
export function withUniqueCallIds<E extends EventInput>(
  event: E,
  open: readonly FunctionCall[],
  newId: () => string,
): E {
  // Calls of partial events do not count. The whole event says them again.
  const ids = new CallIds(open, event.partial === true ? undefined : newId);
  const given: unknown = event.content?.parts;
  // The rules for events refuse what is no list of parts.
  if (!Array.isArray(given)) return event;
  const parts = (given as Part[]).map((part) => ids.renamed(part));
  if (!ids.hasRenamed) return event;
  const lasting = event.longRunningToolIds;
  const renamed = {
    ...event,
    content: { ...event.content, parts },
    ...(lasting && { longRunningToolIds: lasting.flatMap((id) => ids.of(id)) }),
  };
  keepFilledInTimestamp(event, renamed);
  return renamed;
}

class CallIds {
  readonly #made = new Map<string, string[]>();
  readonly #open: Pick<FunctionCall, 'id' | 'name'>[];
  /** What the calls of the event have instead of an id. */
  #shared: string | undefined;
  hasRenamed = false;

  constructor(
    open: readonly FunctionCall[],
    private readonly newId: (() => string) | undefined,
  ) {
    this.#open = [...open];
  }

  of(id: string): string[] {
    return this.#made.get(id) ?? [id];
  }

  renamed(part: Part): Part {
    const { functionCall, functionResponse } = (part as Part | null) ?? {};
    if (isObject(functionCall)) return { ...part, functionCall: this.#withId(functionCall, this.#newId(functionCall)) };
    if (!isObject(functionResponse)) return part;
    return { ...part, functionResponse: this.#withId(functionResponse, this.#openId(functionResponse)) };
  }

  #withId<Has extends { id?: string }>(has: Has, id: string | undefined): Has {
    if (!id || id === has.id) return has;
    this.hasRenamed = true;
    return { ...has, id };
  }

  #newId({ id: given, name }: FunctionCall): string | undefined {
    const id = given || (this.#shared ??= this.newId && MADE + this.newId());
    if (!id) return undefined;
    const made = this.#made.get(id) ?? [];
    const unique = made.length === 0 ? id : id + MARK + String(made.length + 1);
    this.#made.set(id, [...made, unique]);
    this.#open.push({ id: unique, name });
    return unique;
  }

  /** A response without id is for a call that was made without one, by the name of the tool. */
  #openId({ id, name = '' }: FunctionResponse): string | undefined {
    const meant = this.#open.filter((call) => isIdFor(call.id, id) && (Boolean(id) || (call.name ?? '') === name));
    const open = meant.find((call) => call.id === id) ?? meant[0];
    if (!open) return id;
    this.#open.splice(this.#open.indexOf(open), 1);
    return open.id;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
