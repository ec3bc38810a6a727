import type { FunctionCall } from './content.js';
import type { EventInput } from './event.js';

/** Who spoke. */
export interface Speaker {
  readonly author: string;
  readonly branch?: string | undefined;
}

/** A tool call without response, and who made it. */
export interface OpenCall extends Speaker {
  readonly call: FunctionCall;
}

/** A tool call with name and arguments, which models may leave out. */
export interface NamedCall extends FunctionCall {
  name: string;
  args: Record<string, unknown>;
}

/** The call with what it lacks. */
export function namedCall(call: FunctionCall): NamedCall {
  return { ...call, name: call.name ?? '', args: call.args ?? {} };
}

/** An open call, among those of its invocation. */
export interface NumberedCall extends OpenCall {
  readonly call: NamedCall;
  /** Its place among all calls. */
  readonly number: number;
  /** Its place among the calls with its id: some models count calls again in each step. */
  readonly nth: number;
  /** It has no arguments, since its event was redacted. */
  readonly isRedacted: boolean;
}

/** What a response says if nobody can tell it better: the process that ran the tool is gone. */
export const DIED = 'The process of the agent ended before the answer.';

/** The name of a speaker, among those of an invocation. */
export function formatSpeakerName({ author = '', branch = '' }: Partial<Speaker>): string {
  return `${author}\u0000${branch}`;
}

/** An event of a speaker, without content. */
export function eventBy({ author, branch }: Speaker, invocationId: string | undefined): EventInput {
  return { ...(invocationId && { invocationId }), author, ...(branch !== undefined && { branch }) };
}

/** Responses that say why there is no other one, in an event for each speaker. Models refuse a call without response. */
export function problemResponses(
  calls: Iterable<OpenCall>,
  invocationId: string | undefined,
  problem: string,
): EventInput[] {
  const bySpeaker = new Map<string, OpenCall[]>();
  for (const call of calls)
    bySpeaker.set(formatSpeakerName(call), [...(bySpeaker.get(formatSpeakerName(call)) ?? []), call]);
  return [...bySpeaker.values()].flatMap((ofSpeaker) => {
    const [first] = ofSpeaker;
    if (!first) return [];
    const parts = ofSpeaker.map(({ call: { id, name } }) => ({
      functionResponse: { ...(id !== undefined && { id }), name: name ?? '', response: { error: problem } },
    }));
    return [{ ...eventBy(first, invocationId), content: { role: 'user', parts } }];
  });
}
