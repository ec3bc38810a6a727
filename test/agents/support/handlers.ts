import type { EventInput, EventLike } from '../../../src/index.js';
import { allFields } from '../../../src/sessions/domain/event/event-inspection.js';
import type { AgentContext, RunHandler, AgentRun } from '../../../src/agents/index.js';

export function text(said: string): EventInput {
  return { content: { role: 'model', parts: [{ text: said }] } };
}

export function partial(said: string): EventInput {
  return { ...text(said), partial: true };
}

export function call(id: string, name = 'weather'): EventInput {
  return { content: { role: 'model', parts: [{ functionCall: { id, name, args: {} } }] } };
}

export function response(id: string, name = 'weather'): EventInput {
  return { content: { role: 'user', parts: [{ functionResponse: { id, name, response: { ok: true } } }] } };
}

/** Says `echo: ` and the messages. */
export const echo: RunHandler = async function* (context) {
  yield text(`echo: ${context.messages.map(wordsOf).join(', ')}`);
};

function wordsOf({ parts = [] }: { parts?: { text?: string }[] }): string {
  return parts.map((part) => part.text ?? '').join('');
}

/** The log in short: `user hi`, `agent ?c1` for a call, `agent !c1` for a response, `agent - STOPPED` for an interruption. */
export function inShort(events: readonly EventLike[]): string[] {
  return events.map(({ author, content, actions, errorCode, turnComplete }) => {
    const parts = (content?.parts ?? []).map(({ text: said, functionCall, functionResponse }) =>
      functionCall ? `?${functionCall.id ?? ''}` : functionResponse ? `!${functionResponse.id ?? ''}` : (said ?? ''),
    );
    const { queued } = (actions ?? {}) as { queued?: { handedOver?: unknown } };
    const control = queued?.handedOver
      ? 'handed over'
      : ['queued', 'stop', 'withdrawn', 'discarded', 'rewind'].find(
          (name) => actions && allFields(actions)[name] !== undefined,
        );
    const end = errorCode === undefined ? turnComplete && parts.length === 0 && 'end' : `- ${errorCode}`;
    return [author, control, ...parts, end].filter(Boolean).join(' ');
  });
}

/** A handler that waits in the middle until the test lets it go on. */
export class HeldHandler {
  #release: () => void = () => undefined;
  #started: () => void = () => undefined;
  readonly started = new Promise<void>((resolve) => (this.#started = resolve));
  readonly #released = new Promise<void>((resolve) => (this.#release = resolve));
  context: AgentContext | undefined;

  constructor(
    private readonly before: readonly EventInput[] = [],
    private readonly after: readonly EventInput[] = [text('done')],
  ) {}

  readonly handler: RunHandler = (context) => this.#run(context);

  release(): void {
    this.#release();
  }

  async *#run(context: AgentContext): AsyncGenerator<EventInput, void, void> {
    this.context = context;
    for (const event of this.before) yield event;
    this.#started();
    await this.#released;
    for (const event of this.after) yield event;
  }
}

export async function eventsOf(run: AgentRun): Promise<EventInput[]> {
  const events: EventInput[] = [];
  for await (const event of run) events.push(event);
  return events;
}

/** The error of a run whose handler threw this. */
export function failureBy(cause: object): object {
  return { code: 'AGENT_FAILED', cause: expect.objectContaining(cause) };
}
