import { CHARACTERS_PER_TOKEN, TOKENS_OF_A_FILE } from '../../sessions/domain/view/token-estimate.js';
import type { ConversationMessage, ConversationPart } from './conversation.js';

/** Estimates the tokens of a message. */
export type TokenEstimate = (message: ConversationMessage) => number;

/** Four characters of text or JSON are a token, and a file is a thousand. */
export const estimatedTokens: TokenEstimate = ({ parts }) => {
  const all = parts.flatMap((part): readonly ConversationPart[] =>
    part.type === 'result' ? [part, ...(part.parts ?? [])] : [part],
  );
  const tokens = all.map((part) =>
    part.type === 'file' ? TOKENS_OF_A_FILE : countPartCharacters(part) / CHARACTERS_PER_TOKEN,
  );
  return Math.ceil(tokens.reduce((sum, each) => sum + each, 0));
};

function countPartCharacters(part: Exclude<ConversationPart, { readonly type: 'file' }>): number {
  switch (part.type) {
    case 'text':
    case 'thought':
      return part.text.length;
    case 'call':
      return part.name.length + JSON.stringify(part.args).length;
    case 'result':
      return part.name.length + JSON.stringify(part.response).length;
    case 'code':
      return JSON.stringify(part.part).length;
  }
}

/** Messages that are dropped together: a message with its tool results. */
interface Step {
  readonly messages: readonly ConversationMessage[];
  readonly begins?: ConversationMessage['begins'];
  readonly tokens: number;
}

/**
 * Drops the oldest messages until the others fit: whole turns, then steps of the last turn. The summary, the message that
 * began the last turn, and the last step stay, even if they do not fit.
 */
export function withinBudget(
  messages: readonly ConversationMessage[],
  budget: number,
  estimate: TokenEstimate,
): ConversationMessage[] {
  const steps = groupIntoSteps(messages, estimate);
  let excess = steps.reduce((sum, { tokens }) => sum + tokens, 0) - budget;
  const dropped = new Set<Step>();
  for (const group of [...earlierTurns(steps), ...lastSteps(steps)]) {
    if (excess <= 0) break;
    for (const step of group) {
      dropped.add(step);
      excess -= step.tokens;
    }
  }
  return steps.flatMap((step) => (dropped.has(step) ? [] : step.messages));
}

function groupIntoSteps(messages: readonly ConversationMessage[], estimate: TokenEstimate): Step[] {
  return messages.flatMap((message, index) => {
    if (message.role === 'tool') return [];
    const next = messages[index + 1];
    const together = next?.role === 'tool' ? [message, next] : [message];
    const tokens = together.reduce((sum, each) => sum + estimate(each), 0);
    return [{ messages: together, begins: message.begins, tokens }];
  });
}

/** The turns before the last, from the oldest, without the summary. */
function earlierTurns(steps: readonly Step[]): Step[][] {
  const turns: Step[][] = [];
  for (const step of steps.slice(0, lastTurn(steps))) {
    if (step.begins === 'summary') continue;
    const turn = turns.at(-1);
    if (step.begins !== 'turn' && turn) turn.push(step);
    else turns.push([step]);
  }
  return turns;
}

/** The steps of the last turn that may be dropped, from the oldest. */
function lastSteps(steps: readonly Step[]): Step[][] {
  return steps.slice(lastTurn(steps), -1).flatMap((step) => (step.begins ? [] : [[step]]));
}

/** Where the last turn begins. Neighbouring messages of the user begin it together. */
function lastTurn(steps: readonly Step[]): number {
  let place = steps.findLastIndex(({ begins }) => begins === 'turn');
  while (place > 0 && steps[place - 1]?.begins === 'turn') place--;
  return Math.max(place, 0);
}
