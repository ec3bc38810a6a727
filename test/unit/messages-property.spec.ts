import fc from 'fast-check';
import { type ConversationMessage, type MessagesOfFormat, toMessages } from '../../src/agents/index.js';
import type { EventInput, Part } from '../../src/index.js';

/** What models do and people say, in any order, also such as no vendor would accept: answers of nobody, calls that hang. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('says' as const), author: fc.constantFrom('user', 'ann', 'bob') }),
  },
  fc.record({
    kind: fc.constant('calls' as const),
    author: fc.constantFrom('ann', 'bob'),
    ids: fc.array(fc.constantFrom('a', 'b', 'c', undefined), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('answers' as const),
    author: fc.constantFrom('ann', 'bob', 'user'),
    ids: fc.array(fc.constantFrom('a', 'b', 'c', 'nobody', undefined), { minLength: 1, maxLength: 3 }),
    isMixed: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('summary' as const, 'rewind' as const, 'partial' as const, 'empty' as const) }),
);

/** A conversation whose texts all differ, and the texts that a model has to read. */
function conversationOf(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]): {
  readonly events: EventInput[];
  readonly texts: string[];
} {
  const texts: string[] = [];
  const textPart = (place: number): Part => {
    texts.push(`<${place}>`);
    return { text: `<${place}>` };
  };
  const events = steps.map((each, place): EventInput => {
    switch (each.kind) {
      case 'says': {
        const role = each.author === 'user' ? 'user' : 'model';
        return { author: each.author, content: { role, parts: [textPart(place), { text: 'hm', thought: true }] } };
      }
      case 'calls': {
        const calls = each.ids.map((id): Part => ({
          functionCall: { ...(id && { id }), name: 'tool', args: { place } },
        }));
        return { author: each.author, content: { role: 'model', parts: [textPart(place), ...calls] } };
      }
      case 'answers': {
        const answers = each.ids.map((id): Part => ({
          functionResponse: { ...(id && { id }), name: 'tool', response: { place } },
        }));
        const parts = each.isMixed ? [...answers, textPart(place)] : answers;
        return { author: each.author, content: { role: 'user', parts } };
      }
      case 'summary': {
        const content = { role: 'user', parts: [textPart(place)] };
        return { author: 'system', content, actions: { compaction: { fromSeq: 1, toSeq: place } } };
      }
      case 'rewind':
        return { author: 'system', actions: { rewind: { toSeq: 0 } } };
      case 'partial':
        return { author: 'ann', partial: true, content: { role: 'model', parts: [{ text: 'par' }] } };
      case 'empty':
        return { author: 'system', actions: { stateDelta: { step: 1 } } };
    }
  });
  return { events, texts };
}

/** What the APIs refuse, each in its own words. */
const assertAccepted: { readonly [F in keyof MessagesOfFormat]: (messages: MessagesOfFormat[F]) => void } = {
  openai(messages) {
    const open: string[] = [];
    const used = new Set<string>();
    for (const message of messages) {
      if (message.role === 'tool') {
        expect(open.shift()).toBe(message.tool_call_id);
        continue;
      }
      expect(open).toEqual([]);
      if (message.role !== 'assistant') continue;
      expect(message.content ?? message.tool_calls).toBeTruthy();
      for (const { id } of message.tool_calls ?? []) {
        expect(used).not.toContain(id);
        used.add(id);
        open.push(id);
      }
    }
    expect(open).toEqual([]);
  },
  anthropic(messages) {
    const used = new Set<string>();
    for (const [place, { role, content }] of messages.entries()) {
      expect(role).toBe(place % 2 === 0 ? 'user' : 'assistant');
      expect(content).not.toEqual([]);
      const before = messages[place - 1]?.content ?? [];
      const called = before.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
      const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
      expect(results).toEqual(called);
      expect(content.slice(0, called.length).every(({ type }) => type === 'tool_result')).toBe(true);
      for (const id of called) expect(used).not.toContain(id);
      for (const id of called) used.add(id);
    }
    expect(messages.at(-1)?.content.some(({ type }) => type === 'tool_use') ?? false).toBe(false);
  },
  google(contents) {
    for (const [place, { role, parts }] of contents.entries()) {
      expect(role).toBe(place % 2 === 0 ? 'user' : 'model');
      expect(parts).not.toEqual([]);
      const before = contents[place - 1]?.parts ?? [];
      const called = before.flatMap(({ functionCall }) => (functionCall ? [functionCall.name] : []));
      expect(parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.name] : []))).toEqual(
        called,
      );
    }
    expect(contents.at(-1)?.parts.some(({ functionCall }) => functionCall) ?? false).toBe(false);
  },
  'ai-sdk'(messages) {
    let open: string[] = [];
    for (const { role, content } of messages) {
      expect(content).not.toEqual([]);
      const answered = role === 'tool' ? content.map(({ toolCallId }) => toolCallId) : [];
      expect(answered).toEqual(open);
      open =
        role === 'assistant' ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])) : [];
    }
    expect(open).toEqual([]);
  },
};

const FORMATS = ['openai', 'anthropic', 'google', 'ai-sdk'] as const;
const textsIn = (messages: unknown): string[] => JSON.stringify(messages).match(/<\d+>/g) ?? [];
const estimateTokens = ({ parts }: ConversationMessage): number => parts.length;
const runs = { numRuns: 200 };

describe.each(FORMATS)('Messages for %s', (format) => {
  const accept = assertAccepted[format] as (messages: unknown) => void;

  it.each(['ann', undefined])('have each text once, and are never refused: agent %s', (agent) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        const { events, texts } = conversationOf(steps);
        const messages = toMessages(events, { format, agent });
        expect(textsIn(messages)).toEqual(texts);
        accept(messages);
      }),
      runs,
    );
  });

  it('within a budget are never refused, and keep summaries and the last message of the user', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), fc.nat(12), (steps, tokenBudget) => {
        const { events } = conversationOf(steps);
        const all = textsIn(toMessages(events, { format }));
        const messages = toMessages(events, { format, tokenBudget, estimateTokens });
        accept(messages);
        const kept = textsIn(messages);
        expect(all.filter((text) => kept.includes(text))).toEqual(kept);
        expect(textsIn(toMessages(events, { format, tokenBudget: 1_000, estimateTokens }))).toEqual(all);
        const asked = steps.findLastIndex(
          (each) => (each.kind === 'says' || (each.kind === 'answers' && each.isMixed)) && each.author === 'user',
        );
        if (asked !== -1) expect(kept).toContain(`<${asked}>`);
        for (const [place, { kind }] of steps.entries()) if (kind === 'summary') expect(kept).toContain(`<${place}>`);
      }),
      runs,
    );
  });
});
