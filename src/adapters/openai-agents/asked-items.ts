import { Logger } from '@nestjs/common';
import type { AgentInputItem } from '@openai/agents-core';
import { type EventInput, givenRanges, type ModelRequest } from '../../index.js';
import { foundIn, type Told } from '../shared/given-events.js';
import type { Entry } from './item-history.js';
import type { AskedRequest } from './noted-model.js';

/** An item, and the events that will say it. */
export interface WrittenItem {
  readonly item: AgentInputItem;
  readonly events: readonly EventInput[];
}

/** What models were asked, until what they answered is stored. */
export class AskedRequests {
  readonly #logger = new Logger('AgentsSession');
  #asked: AskedRequest[] = [];
  #hasGivenUp = false;

  note(asked: AskedRequest): void {
    // Of runs that store nothing, the last ones are kept.
    this.#asked = [...this.#asked, asked].slice(-MOST_ASKED);
  }

  /** Which of the items begins the answer to which request. Both are in the order of the run. */
  answersIn(items: readonly AgentInputItem[]): Map<AgentInputItem, AskedRequest> {
    const answers = new Map<AgentInputItem, AskedRequest>();
    let from = 0;
    for (const asked of this.#asked) {
      const output = new Set(asked.output.map(formatItemKey));
      const place = items.findIndex((item, index) => index >= from && output.has(formatItemKey(item)));
      const answer = items[place];
      if (!answer) continue;
      answers.set(answer, asked);
      from = place + 1;
    }
    return answers;
  }

  /** Says it once: apps would look for what answers do not say. */
  giveUp(why: string): void {
    if (this.#hasGivenUp) return;
    this.#hasGivenUp = true;
    this.#logger.warn(
      `An answer does not say what its model was given: ${why}. It is said once for each session object.`,
    );
  }

  /** What was answered up to these is no longer needed. */
  drop(stored: Iterable<AskedRequest>): void {
    const last = Math.max(-1, ...[...stored].map((asked) => this.#asked.indexOf(asked)));
    this.#asked = this.#asked.slice(last + 1);
  }
}

const MOST_ASKED = 100;

/** Items as runs send them, and by what they say. */
interface ToldItems extends Told {
  readonly events: { readonly seq: number }[];
  readonly messages: string[];
  readonly items: AgentInputItem[];
}

/** An item of a model, by what a run leaves of it when it stores it. */
function formatItemKey(item: unknown): string {
  const { id: _id, ...said } = item as Record<string, unknown>;
  return JSON.stringify(said);
}

/**
 * The events of the items. Those that begin an answer say what the model was given.
 *
 * @param history that the items continue
 * @param version of the session: the first event that is written has the next number
 */
export function withRequests(
  written: readonly WrittenItem[],
  answers: ReadonlyMap<AgentInputItem, AskedRequest>,
  history: readonly Entry[],
  version: number,
): EventInput[] {
  const told = toldBy(history);
  let seq = version;
  return written.flatMap(({ item, events }) => {
    const asked = answers.get(item);
    const modelRequest = asked && describeAskedRequest(asked, told);
    const numbered = events.map(() => ({ seq: ++seq }));
    told.push({ events: numbered, messages: [formatItemKey(item)], items: [item] });
    const [first, ...rest] = events;
    return first && modelRequest ? [{ ...first, modelRequest }, ...rest] : events;
  });
}

/** Items of one event belong together. */
function toldBy(history: readonly Entry[]): ToldItems[] {
  const told = new Map<number, ToldItems>();
  for (const { item, event, completion } of history) {
    const known = told.get(event.seq);
    known?.messages.push(formatItemKey(item));
    known?.items.push(item);
    const events = completion ? [event, completion] : [event];
    if (!known) told.set(event.seq, { events, messages: [formatItemKey(item)], items: [item] });
  }
  return [...told.values()];
}

function describeAskedRequest({ request, durationMs }: AskedRequest, told: readonly ToldItems[]): ModelRequest {
  const { input, systemInstructions: instructions, tools, handoffs, conversationId, previousResponseId } = request;
  const { found, isExact } = foundIn(typeof input === 'string' ? [input] : input.map(formatItemKey), told);
  const offered: unknown[] = [...tools, ...handoffs];
  // A run that goes on after a call has ids of it that are not stored.
  const isSame = isExact && JSON.stringify(found.flatMap(({ items }) => items)) === JSON.stringify(input);
  // The vendor adds what it keeps of the conversation.
  const isContinued = conversationId !== undefined || previousResponseId !== undefined;
  return {
    ...givenRanges(found.flatMap(({ events }) => events)),
    ...((!isSame || isContinued) && { isExact: false }),
    ...(instructions !== undefined && { instructions }),
    ...(offered.length > 0 && { tools: JSON.parse(JSON.stringify(offered)) as unknown[] }),
    durationMs,
  };
}
