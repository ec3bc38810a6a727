import { type EventInput, givenRanges, type ModelRequest } from '../../index.js';
import { foundIn, type Told } from '../shared/given-events.js';
import type { AskedRequest, GivenMessage } from './asked-requests.js';
import { type AddedMessage, type KnownItem, identifyMessage } from './channel-writer.js';

/** What events say of the requests that they answer. */
export type AnsweredRequests = ReadonlyMap<EventInput, Pick<EventInput, 'modelRequest' | 'modelVersion'>>;

interface ToldMessage extends Told {
  readonly events: readonly { readonly seq: number }[];
  readonly fingerprint: string;
}

/**
 * What the models were given, by the events that there were and those that come before the answer.
 *
 * @param added messages, in their order
 * @param before items of the checkpoint that the models began with
 * @param version of the session: the first message is written as the event with the next number
 */
export function answeredRequests(
  added: readonly AddedMessage[],
  answers: ReadonlyMap<AddedMessage, AskedRequest>,
  before: readonly KnownItem[],
  version: number,
): AnsweredRequests {
  if (answers.size === 0) return new Map();
  const told = before.flatMap(toldMessage);
  const names = new Set(told.flatMap(({ messages }) => messages));
  const requests = new Map<EventInput, Pick<EventInput, 'modelRequest' | 'modelVersion'>>();
  for (const [index, each] of added.entries()) {
    const asked = answers.get(each);
    if (asked) requests.set(each.event, answered(each.event, asked, told));
    // What follows a message that was changed is written again.
    if (!names.has(identifyMessage(each))) told.push(...toldMessage({ ...each, seq: version + index + 1 }));
  }
  return requests;
}

/** Nothing of an item that is no message. */
function toldMessage({ seq, ...item }: KnownItem): ToldMessage[] {
  if (seq === undefined) return [];
  return [{ events: [{ seq }], messages: [identifyMessage(item)], fingerprint: item.fingerprint }];
}

function answered(
  { modelVersion }: EventInput,
  { messages, tools, model, durationMs }: AskedRequest,
  told: readonly ToldMessage[],
): Pick<EventInput, 'modelRequest' | 'modelVersion'> {
  const names = new Set(told.flatMap((each) => each.messages));
  const first = messages.findIndex(
    (message) => message.instructions === undefined || names.has(identifyMessage(message)),
  );
  const prompt = messages.slice(0, first === -1 ? messages.length : first);
  const given = messages.slice(prompt.length);
  const { found, isExact } = foundIn(given.map(identifyMessage), told);
  // A message that was changed for the model has the same id.
  const isSame = isExact && found.every((each, index) => isEqual(each, given[index]));
  const instructions = instructionsOf(prompt);
  const modelRequest: ModelRequest = {
    ...givenRanges(found.flatMap(({ events }) => events)),
    ...(!isSame && { isExact: false }),
    ...(instructions !== undefined && { instructions }),
    ...(tools && { tools }),
    durationMs,
  };
  return { modelRequest, ...(modelVersion === undefined && model !== undefined && { modelVersion: model }) };
}

function isEqual({ fingerprint }: ToldMessage, given: GivenMessage | undefined): boolean {
  return fingerprint === given?.fingerprint;
}

/** A single text is the text. */
function instructionsOf(prompt: readonly GivenMessage[]): ModelRequest['instructions'] {
  const contents = prompt.flatMap(({ instructions }) => (instructions === undefined ? [] : [instructions]));
  const [only] = contents;
  if (only === undefined) return undefined;
  if (contents.length === 1 && typeof only === 'string') return only;
  const parts = contents.flatMap((content): object[] => (typeof content === 'string' ? [{ text: content }] : content));
  return JSON.parse(JSON.stringify({ parts })) as ModelRequest['instructions'];
}
