import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from '@google/adk';

/** A step of the script: responses, or what makes them from the request. */
export type Step = LlmResponse | readonly LlmResponse[] | ((request: LlmRequest) => LlmResponse | Promise<LlmResponse>);

/** A model that answers by a script, and keeps what it was asked. */
export class ScriptedLlm extends BaseLlm {
  /** The contents of each request, as they were then. */
  readonly asked: LlmRequest['contents'][] = [];
  readonly instructions: string[] = [];
  readonly #steps: Step[];

  constructor(...steps: readonly Step[]) {
    super({ model: 'scripted' });
    this.#steps = [...steps];
  }

  override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    this.asked.push(structuredClone(request.contents));
    const instruction = request.config?.systemInstruction;
    this.instructions.push(typeof instruction === 'string' ? instruction : JSON.stringify(instruction ?? ''));
    const step = this.#steps.shift();
    if (step === undefined) throw new Error('The script has ended');
    const answer = typeof step === 'function' ? await step(request) : step;
    yield* Array.isArray(answer) ? (answer as readonly LlmResponse[]) : [answer as LlmResponse];
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('The scripted model has no live connection'));
  }

  /** The texts that the last request held, with their roles. */
  get lastTexts(): string[] {
    const contents = this.asked.at(-1) ?? [];
    return contents.flatMap(({ role, parts = [] }) => parts.flatMap(({ text }) => (text ? [`${role}: ${text}`] : [])));
  }
}

export function says(text: string): LlmResponse {
  return { content: { role: 'model', parts: [{ text }] } };
}

export function calls(name: string, args: Record<string, unknown>, id?: string): LlmResponse {
  return { content: { role: 'model', parts: [{ functionCall: { name, args, ...(id !== undefined && { id }) } }] } };
}

export function message(text: string) {
  return { role: 'user', parts: [{ text }] };
}
