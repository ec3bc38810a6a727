import { givenRanges, type ModelRequest } from '../../index.js';

/** Events, and the messages that a framework makes of them together. */
export interface Told {
  readonly events: readonly { readonly seq: number }[];
  readonly messages: readonly unknown[];
}

/** What a request has of what was told. */
export interface FoundTold<Of extends Told> {
  /** In the order of the conversation, each as a whole. */
  readonly found: Of[];
  /** Whether the request has nothing else, and nothing that is left over says the same: then it cannot be told which one it was. */
  readonly isExact: boolean;
}

/**
 * Which of these events a model was given, found by what their messages say.
 *
 * @param messages that the model was given
 * @param told what a framework could have made of the conversation, in its order
 */
export function foundIn<Of extends Told>(messages: readonly unknown[], told: readonly Of[]): FoundTold<Of> {
  const wanted = messages.map((message) => JSON.stringify(message));
  const found: Of[] = [];
  const others = new Set<string>();
  let isExact = true;
  let next = 0;
  for (const each of told) {
    const said = each.messages.map((message) => JSON.stringify(message));
    if (said.length === 0) continue;
    const place = findSequenceStart(said, wanted, next);
    if (place === -1) {
      for (const message of said) others.add(message);
      continue;
    }
    isExact &&= place === next;
    next = place + said.length;
    found.push(each);
  }
  isExact &&= next === wanted.length && !wanted.some((message) => others.has(message));
  return { found, isExact };
}

/**
 * The same as a part of a fact.
 *
 * @example const modelRequest = { ...givenEvents(request.contents, told), instructions, tools };
 */
export function givenEvents(
  messages: readonly unknown[],
  told: readonly Told[],
): Pick<ModelRequest, 'given' | 'isExact'> {
  const { found, isExact } = foundIn(messages, told);
  return { ...givenRanges(found.flatMap(({ events }) => events)), ...(!isExact && { isExact: false }) };
}

function findSequenceStart(said: readonly string[], wanted: readonly string[], from: number): number {
  const last = wanted.length - said.length;
  for (let place = from; place <= last; place += 1) {
    if (said.every((message, index) => message === wanted[place + index])) return place;
  }
  return -1;
}
