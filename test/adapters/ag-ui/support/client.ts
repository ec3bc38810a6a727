import { HttpAgent, type HttpAgentConfig, transformHttpEventStream, runHttpRequest } from '@ag-ui/client';
import { type Event, EventType, type RunAgentInput } from '@ag-ui/core';
import { EventSchemas } from '@ag-ui/core/schemas';

/** An event as it came, with its id in the stream. */
export interface Received {
  readonly event: Event;
  readonly id: string | undefined;
}

/** The client of AG-UI, with `connect`, which users add like this. Checks each event that it gets against the schemas. */
export class TestAgent extends HttpAgent {
  readonly received: Received[] = [];

  constructor(
    readonly base: string,
    config: Partial<HttpAgentConfig> = {},
  ) {
    super({ url: `${base}/run`, ...config });
    const { fetch: own } = this;
    this.fetch = async (url, init) => this.#checked(await own(url, init));
  }

  protected override connect(input: RunAgentInput): ReturnType<HttpAgent['run']> {
    this.abortController = new AbortController();
    const request = () => this.fetch(`${this.base}/connect?live=false`, this.requestInit(input));
    return transformHttpEventStream(runHttpRequest(request));
  }

  /** Adds a message of the user. */
  say(content: string, id: string): this {
    this.addMessage({ id, role: 'user', content });
    return this;
  }

  get types(): string[] {
    return this.received.map(({ event }) => event.type);
  }

  /** What was said in text messages, by their ids. */
  get texts(): Record<string, string> {
    return textsIn(this.received);
  }

  #checked(response: Response): Response {
    const [own, theirs] = response.body?.tee() ?? [];
    if (own && response.ok) void readAll(own, this.received).catch(() => undefined);
    return new Response(theirs ?? null, response);
  }
}

export function textsIn(received: readonly Received[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { event } of received)
    if (event.type === EventType.TEXT_MESSAGE_CONTENT)
      texts[event.messageId] = (texts[event.messageId] ?? '') + event.delta;
  return texts;
}

/** Reads a stream, and checks each event. */
export async function readAll(
  body: ReadableStream<Uint8Array>,
  received: Received[],
  isEnough: () => boolean = () => false,
): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      const event: unknown = JSON.parse(data);
      received.push({ event: EventSchemas.parse(event), id: /^id: (.*)$/m.exec(block)?.[1] });
    }
    if (isEnough()) return;
  }
}

/** A page that follows a thread as it lives. */
export class Follower {
  readonly received: Received[] = [];
  readonly #leaving = new AbortController();

  /** @param base of the routes, as for {@link TestAgent} */
  static async open(base: string, headers: Record<string, string> = {}): Promise<Follower> {
    const follower = new Follower();
    const response = await fetch(`${base}/connect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', user: 'ann', ...headers },
      body: JSON.stringify({ threadId: 't1', runId: 'page' }),
      signal: follower.#leaving.signal,
    });
    if (response.body) void readAll(response.body, follower.received).catch(() => undefined);
    return follower;
  }

  count(type: EventType): number {
    return this.received.filter(({ event }) => event.type === type).length;
  }

  leave(): void {
    this.#leaving.abort();
  }
}
