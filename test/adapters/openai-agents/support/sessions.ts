import type { AgentInputItem } from '@openai/agents-core';
import { AgentsSession, type AgentsSessionOptions } from '../../../../src/adapters/openai-agents/index.js';
import { InMemorySessionStorage, SessionService } from '../../../../src/index.js';
import type { SessionStorage } from '../../../../src/storage.js';
import type { TestStore } from '../../../support/stores.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };

/** A session of the SDK and its service, over a store in memory unless another one is given. */
export function openSession(
  options: Partial<AgentsSessionOptions> = {},
  storage: SessionStorage = new InMemorySessionStorage(),
) {
  const sessions = new SessionService({ storage });
  return { sessions, storage, session: new AgentsSession({ sessions, ...KEY, ...options }) };
}

export function said(text: string): Extract<AgentInputItem, { role: 'user' }> {
  return { role: 'user', content: [{ type: 'input_text', text }] };
}

export function answered(text: string): AgentInputItem {
  return { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
}

export function called(callId: string, args: object = {}): Extract<AgentInputItem, { type: 'function_call' }> {
  return { type: 'function_call', callId, name: 'lookup', status: 'completed', arguments: JSON.stringify(args) };
}

/** The text of each item, or its type. */
export function textsOf(items: readonly AgentInputItem[]): string[] {
  return items.map((item) => {
    if (!('role' in item)) return item.type ?? '';
    const { content } = item;
    if (typeof content === 'string') return content;
    return content.map((entry) => ('text' in entry ? entry.text : entry.type)).join(' ');
  });
}

/** Opens sessions over a store for the tests of a suite, which it closes after each. */
export function sessionsOn(store: TestStore) {
  const destroyers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const destroy of destroyers.splice(0)) await destroy();
  });
  return {
    async open(options: Partial<AgentsSessionOptions> = {}) {
      // Each look is a millisecond later, so that what is created in turn has an order, however fast the store is.
      let time = Date.now();
      const { storage, destroy } = await store.open({ clock: { now: () => ++time } });
      destroyers.push(destroy);
      return openSession(options, storage);
    },
  };
}
