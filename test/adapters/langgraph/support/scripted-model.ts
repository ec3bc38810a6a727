import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';

/** An answer, or an error. */
export type Answer = AIMessage | Error;

/** Tools as a vendor of models gets them. */
type ToolCallOptions = BaseChatModel['ParsedCallOptions'] & { tools?: unknown[] };

/** A model that gives answers in their order, and notes what it was really given. */
export class ScriptedModel extends BaseChatModel<ToolCallOptions> {
  readonly prompts: string[] = [];
  readonly #answers: Answer[];

  constructor(...answers: readonly Answer[]) {
    super({});
    this.#answers = [...answers];
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools: tools.map((tool) => convertToOpenAITool(tool as never)) });
  }

  override invocationParams({ tools }: ToolCallOptions): object {
    return { model: 'scripted-1', tools };
  }

  override getLsParams(options: ToolCallOptions) {
    return { ...super.getLsParams(options), ls_model_name: 'scripted-1' };
  }

  override async _generate(messages: BaseMessage[], options: ToolCallOptions): Promise<ChatResult> {
    const message = this.#answer(messages, options);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: ToolCallOptions,
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, tool_calls: calls = [], ...answer } = this.#answer(messages, options);
    for (const letter of text) {
      const message = new AIMessageChunk({ content: letter, ...(answer.id !== undefined && { id: answer.id }) });
      yield new ChatGenerationChunk({ text: letter, message });
      await run?.handleLLMNewToken(letter);
    }
    const chunks = calls.map(({ id, name, args }, index) => ({
      id: id ?? '',
      name,
      args: JSON.stringify(args),
      index,
    }));
    if (chunks.length > 0)
      yield new ChatGenerationChunk({
        text: '',
        message: new AIMessageChunk({ content: '', tool_call_chunks: chunks }),
      });
  }

  #answer(messages: readonly BaseMessage[], { tools = [] }: ToolCallOptions): AIMessage {
    this.prompts.push(promptOf(messages, tools));
    const answer = this.#answers.shift();
    if (answer instanceof AIMessage) return answer;
    throw answer ?? new Error('There is no other answer');
  }
}

/** All that a model gets, as text. */
export function promptOf(messages: readonly BaseMessage[], tools: readonly unknown[]): string {
  // What a message was made of is among its fields, too.
  return JSON.stringify({ messages: messages.map((message) => ({ ...message, lc_kwargs: undefined })), tools });
}

export function saysIt(text: string): AIMessage {
  const usage_metadata = {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    input_token_details: { cache_read: 4 },
  };
  return new AIMessage({ content: text, usage_metadata });
}

export function callsClock(id: string): AIMessage {
  return new AIMessage({ content: '', tool_calls: [{ id, name: 'clock', args: {} }] });
}
