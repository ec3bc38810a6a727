import { Injectable } from '@nestjs/common';
import { type Agent, type AgentContext, AgentHandler, AgentsModule, agentLoop } from '../../src/agents/index.js';
import { SessionsClient } from '../../src/client/index.js';
import { type InspectorModuleOptions, SessionsInspectorModule } from '../../src/inspector/index.js';
import { ScriptedModel } from '../../src/testing/index.js';
import { RestApp } from '../rest/rest-app.js';

export const SUPPORT = { appName: 'support', userId: 'ann' };
export const SUPPORT_KEY = { ...SUPPORT, sessionId: 'first' };

const TOOLS = [{ name: 'order', description: 'Says where an order is.', parameters: { type: 'object' } }];
const MODELS = ['gemini-2.5-flash', 'gemini-2.5-pro'];

/** Answers by a script, and looks up an order when it is asked for one. Every question has tokens, half of them from a cache. */
@Injectable()
@AgentHandler('support')
export class SupportAgent implements Agent {
  #asked = 0;

  run(context: AgentContext): ReturnType<Agent['run']> {
    const words = context.message.parts?.[0]?.text ?? '';
    const calls = /order/.test(words) ? [{ calls: [{ name: 'order', args: { id: 4711 } }] }] : [];
    const model = new ScriptedModel([...calls, `You said: ${words}`]);
    const instructions = /in German/.test(words) ? 'Sei kurz.' : 'Be brief, and never guess.';
    return agentLoop({
      model: (asking) => {
        const request = asking.request({ instructions, tools: TOOLS, format: 'openai' });
        const answer = model.ask(request.messages);
        const promptTokenCount = 400 + 60 * request.events.length;
        return request.answered({
          ...answer,
          modelVersion: MODELS[this.#asked++ % MODELS.length],
          usageMetadata: {
            promptTokenCount,
            cachedContentTokenCount: promptTokenCount / 2,
            candidatesTokenCount: 40,
          },
        });
      },
      tools: { order: () => ({ status: 'packed' }) },
    })(context);
  }
}

/** An app with an agent that says what its model was given, and the inspector. */
export async function startSupport(
  options: Parameters<typeof RestApp.start>[1] = {},
  inspector: InspectorModuleOptions = { actions: true },
): Promise<{ readonly app: RestApp; readonly client: SessionsClient }> {
  const app = await RestApp.start('Express', {
    agents: true,
    ...options,
    imports: [
      ...(options?.imports ?? []),
      AgentsModule.forFeature([SupportAgent]),
      SessionsInspectorModule.forRoot(inspector),
    ],
  });
  return { app, client: new SessionsClient({ url: app.url }) };
}

/** Talks to the agent through the routes of the app. */
export async function talk(client: SessionsClient, ...messages: readonly string[]): Promise<void> {
  for (const newMessage of messages) await client.runAgent({ ...SUPPORT_KEY, newMessage });
}
