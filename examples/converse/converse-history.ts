// An adapter of one's own: the messages of Amazon Bedrock's Converse API in sessions. It imports only public names.
import type { EventInput, LoggedEvent, Part, SessionKey, SessionService } from 'nestjs-agent-sessions';
import {
  checkedSessionKey,
  createUnlessThere,
  fileIn,
  givenFile,
  inCommits,
  inWords,
  isPlainObject,
  pairMessages,
  readMessage,
  toolErrorText,
  visibleEvent,
} from 'nestjs-agent-sessions/adapter';
import type { ConversationPart } from 'nestjs-agent-sessions/agents';

/** A block of a message, as `@aws-sdk/client-bedrock-runtime` has it. */
export interface ConverseBlock {
  readonly text?: string;
  readonly image?: { readonly format: string; readonly source: { readonly bytes: Uint8Array } };
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: unknown };
  readonly toolResult?: {
    readonly toolUseId: string;
    readonly content: readonly { readonly text?: string; readonly json?: unknown }[];
    readonly status?: 'success' | 'error';
  };
}

/** What `ConverseCommand` takes in `messages`, and returns in `output.message`. */
export interface ConverseMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ConverseBlock[];
}

/** Keeps a conversation with the Converse API in a session, which everything else can read. */
export class ConverseHistory {
  readonly #key: SessionKey;

  constructor(
    private readonly sessions: SessionService,
    key: SessionKey,
  ) {
    this.#key = checkedSessionKey(key);
  }

  /** Appends messages. Those of a few kilobytes are one commit. */
  async add(messages: readonly ConverseMessage[]): Promise<void> {
    await createUnlessThere(this.sessions, this.#key);
    const { appName, userId, sessionId: id } = this.#key;
    for (const events of inCommits(messages.map(eventOf))) {
      await this.sessions.appendEvents({ session: { appName, userId, id }, events });
    }
  }

  /** The whole conversation, whoever wrote it. Calls have results, and roles alternate, as Bedrock demands. */
  async messages(): Promise<ConverseMessage[]> {
    const session = await this.sessions.getSession(this.#key);
    return messagesOf(session?.events ?? []);
  }
}

function eventOf({ role, content }: ConverseMessage): EventInput {
  const isAnswer = content.some(({ toolResult }) => toolResult);
  const parts = content.flatMap(partOf);
  // Clients write as users, so a tool's result belongs to the agent.
  if (role === 'user') return { author: isAnswer ? 'agent' : 'user', content: { role: 'user', parts } };
  return { author: 'agent', content: { role: 'model', parts } };
}

function partOf({ text, image, toolUse, toolResult }: ConverseBlock): Part[] {
  if (text !== undefined) return [{ text }];
  if (image) {
    const source = Buffer.from(image.source.bytes).toString('base64');
    return [givenFile(source, { kind: 'image', format: image.format })];
  }
  if (toolUse) {
    const { toolUseId: id, name, input } = toolUse;
    return [{ functionCall: { id, name, args: isPlainObject(input) ? input : {} } }];
  }
  if (!toolResult) return [];
  const { toolUseId: id, content, status } = toolResult;
  const [json] = content.flatMap((each) => (isPlainObject(each.json) ? [each.json] : []));
  const said = content.map((each) => each.text ?? '').join('');
  const response = status === 'error' ? { error: said } : (json ?? { result: said });
  return [{ functionResponse: { id, response } }];
}

function messagesOf(events: readonly LoggedEvent[]): ConverseMessage[] {
  const said = events.flatMap((event) => visibleEvent(event) ?? []).map(readMessage);
  const joined: { role: ConverseMessage['role']; content: ConverseBlock[] }[] = [];
  for (const { message } of pairMessages(said)) {
    const role = message.role === 'model' ? 'assistant' : 'user';
    const content = message.parts.flatMap(blockOf);
    const last = joined.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) joined.push({ role, content });
  }
  return joined;
}

function blockOf(part: ConversationPart): ConverseBlock[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'thought':
      // Only the model that had it can go on with it.
      return [];
    case 'call':
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.args } }];
    case 'result': {
      const error = toolErrorText(part.response);
      const content = [error === undefined ? { json: part.response } : { text: error }];
      const status = error === undefined ? {} : { status: 'error' as const };
      return [{ toolResult: { toolUseId: part.id, content, ...status } }];
    }
    case 'file': {
      const file = fileIn(part.part);
      const [kind, format] = part.mimeType.split('/');
      const isImage = file?.data !== undefined && kind === 'image' && format !== undefined;
      return isImage
        ? [{ image: { format, source: { bytes: Buffer.from(file.data ?? '', 'base64') } } }]
        : [{ text: inWords(part) }];
    }
    case 'code':
      return [{ text: inWords(part) }];
  }
}
