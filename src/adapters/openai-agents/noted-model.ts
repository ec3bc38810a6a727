import type { AgentInputItem, Model, ModelRequest, ModelResponse, ModelRetryAdviceRequest } from '@openai/agents-core';

/** What a model was asked, and what it answered. */
export interface AskedRequest {
  readonly request: ModelRequest;
  /** The items of the answer. */
  readonly output: readonly unknown[];
  readonly durationMs: number;
}

/** A model that says what it was asked as soon as it has answered. What fails has no answer. */
export class NotedModel implements Model {
  constructor(
    private readonly model: Model,
    private readonly note: (asked: AskedRequest) => void,
  ) {}

  get supportsPromptModelSelection(): boolean {
    return this.model.supportsPromptModelSelection ?? false;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const asked = begun(request);
    const response = await this.model.getResponse(request);
    this.note(asked(response.output));
    return response;
  }

  async *getStreamedResponse(request: ModelRequest): ReturnType<Model['getStreamedResponse']> {
    const asked = begun(request);
    for await (const event of this.model.getStreamedResponse(request)) {
      if (event.type === 'response_done') this.note(asked(event.response.output));
      yield event;
    }
  }

  getRetryAdvice(args: ModelRetryAdviceRequest): ReturnType<NonNullable<Model['getRetryAdvice']>> {
    return this.model.getRetryAdvice?.(args);
  }
}

/** The request as it is now: runs go on with the same list of items. */
function begun(request: ModelRequest): (output: readonly unknown[]) => AskedRequest {
  const startedAt = performance.now();
  const asked = { ...request, input: itemsIn(request) };
  return (output) => ({ request: asked, output: [...output], durationMs: Math.round(performance.now() - startedAt) });
}

function itemsIn({ input }: ModelRequest): AgentInputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : [...input];
}
