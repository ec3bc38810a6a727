import type { AgentInputItem } from '@openai/agents-core';
import type { LoggedEvent } from '../../index.js';
import type { Entry } from './item-history.js';
import { usageRecordsOf } from './item-records.js';
import type { ReadHistory } from './session-history.js';

/** A turn: what the user said, and everything until the user spoke again. */
export interface ConversationTurn {
  /** From 1 on. */
  readonly turn: number;
  /** What the user said, as text. */
  readonly content: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly items: AgentInputItem[];
}

/** Tokens of model requests. */
export interface RunTokens {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** How often a tool was called in a turn. */
export interface ToolUsage {
  readonly tool: string;
  readonly turn: number;
  readonly count: number;
}

/** A turn, and where it is in the log. */
export interface PlacedTurn extends ConversationTurn {
  /** The event with which it begins. */
  readonly event: LoggedEvent;
  readonly isFirst: boolean;
}

/** The turns of a history. Items before the first message of a user belong to none. */
export function turnsOf({ entries }: Pick<ReadHistory, 'entries'>): PlacedTurn[] {
  const turns: PlacedTurn[] = [];
  for (const [index, entry] of entries.entries()) {
    const { item, event } = entry;
    if (!isOfUser(item)) turns.at(-1)?.items.push(item);
    else {
      const { timestamp } = event;
      turns.push({
        turn: turns.length + 1,
        content: joinInputTexts(item),
        timestamp,
        items: [item],
        event,
        isFirst: index === 0,
      });
    }
  }
  return turns;
}

/** What the events of each turn used: the first entry is what was used before the first turn. */
export function usageByTurn({ events, entries }: Pick<ReadHistory, 'events' | 'entries'>): RunTokens[] {
  const begins = new Set<LoggedEvent>(entries.filter(({ item }) => isOfUser(item)).map(({ event }: Entry) => event));
  const turns: RunTokens[] = [NO_TOKENS];
  for (const event of events) {
    if (begins.has(event)) turns.push(NO_TOKENS);
    for (const usage of usageRecordsOf(event)) {
      turns[turns.length - 1] = plus(turns.at(-1) ?? NO_TOKENS, usage);
    }
  }
  return turns;
}

/** How often tools were called, in the order of the conversation. */
export function toolUsageOf(turns: readonly ConversationTurn[]): ToolUsage[] {
  return turns.flatMap(({ turn, items }) => {
    const counts = new Map<string, number>();
    for (const tool of items.flatMap(toolOf)) counts.set(tool, (counts.get(tool) ?? 0) + 1);
    return [...counts].map(([tool, count]) => ({ tool, turn, count }));
  });
}

export const NO_TOKENS: RunTokens = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 };

export function plus(one: RunTokens, other: RunTokens): RunTokens {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  };
}

function isOfUser(item: AgentInputItem): item is Extract<AgentInputItem, { role: 'user' }> {
  return 'role' in item && item.role === 'user';
}

/** Items are kept as they were given, whatever their content holds. */
function joinInputTexts({ content }: Extract<AgentInputItem, { role: 'user' }>): string {
  if (typeof content === 'string') return content;
  const entries: readonly ((typeof content)[number] | null)[] = Array.isArray(content) ? content : [];
  return entries.flatMap((entry) => (entry?.type === 'input_text' ? [entry.text] : [])).join('\n');
}

function toolOf(item: AgentInputItem): string[] {
  switch (item.type) {
    case 'function_call':
    case 'hosted_tool_call':
      return [item.name];
    case 'computer_call':
    case 'shell_call':
    case 'apply_patch_call':
    case 'tool_search_call':
      return [item.type.slice(0, -'_call'.length)];
    case 'program':
      return [item.type];
    default:
      return [];
  }
}
