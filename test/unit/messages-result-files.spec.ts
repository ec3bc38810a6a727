import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Content } from '@google/genai';
import { type ModelMessage, modelMessageSchema } from 'ai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { toMessages } from '../../src/agents/index.js';
import type { EventInput } from '../../src/index.js';

const PNG = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const PDF = { inlineData: { mimeType: 'application/pdf', data: 'AAAA', displayName: 'bill.pdf' } };
const LINK = { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/cat.jpg' } };
const VIDEO = { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/cat.mp4' } };
const KEPT = { fileData: { mimeType: 'image/png', fileUri: 'openai:file-1' } };

/** A tool gave `parts` with its response, and another one only a response. */
function eventsWith(parts: unknown, response: unknown = { seen: 2 }, author = 'support'): EventInput[] {
  const calls = [
    { functionCall: { id: 'c1', name: 'look', args: {} } },
    { functionCall: { id: 'c2', name: 'count', args: {} } },
  ];
  return [
    { author: 'user', content: { role: 'user', parts: [{ text: 'Look!' }] } },
    { author, content: { role: 'model', parts: calls } },
    {
      author,
      content: {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'look', response, parts } },
          { functionResponse: { id: 'c2', name: 'count', response: 'two' } },
        ],
      },
    },
    { author, content: { role: 'model', parts: [{ text: 'A cat.' }] } },
  ];
}

const ALL = [PNG, PDF, LINK, VIDEO, KEPT];

describe('Files of the result of a tool', () => {
  it('follow the results in a message of the user for OpenAI, which takes only text in results', () => {
    const messages: ChatCompletionMessageParam[] = toMessages(eventsWith(ALL), { format: 'openai' });
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: '{"seen":2}' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of the tool look (c1):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'bill.pdf' } },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } },
          { type: 'text', text: '[a file of type video/mp4]' },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('are blocks of the result for Anthropic', () => {
    const messages: MessageParam[] = toMessages(eventsWith(ALL), { format: 'anthropic' });
    expect(messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        content: [
          { type: 'text', text: '{"seen":2}' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
            title: 'bill.pdf',
          },
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.jpg' } },
          { type: 'text', text: '[a file of type video/mp4]' },
          { type: 'text', text: '[a file of type image/png]' },
        ],
      },
      { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
    ]);
  });

  it('are in words for Anthropic if the tool failed: such results take text only', () => {
    const messages = toMessages(eventsWith([PNG], { error: 'too dark' }), { format: 'anthropic' });
    expect(messages[2]?.content[0]).toEqual({
      type: 'tool_result',
      tool_use_id: 'c1',
      content: [
        { type: 'text', text: '{"error":"too dark"}' },
        { type: 'text', text: '[a file of type image/png]' },
      ],
      is_error: true,
    });
  });

  it('are parts of the response for Gemini, and what it cannot read follows in words', () => {
    const contents: Content[] = toMessages(eventsWith(ALL), { format: 'google' });
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'look', response: { seen: 2 }, parts: [PNG, PDF, LINK, VIDEO] } },
      { text: '[a file of type image/png]' },
      { functionResponse: { id: 'c2', name: 'count', response: { result: 'two' } } },
    ]);
  });

  it('are content of the output for the AI SDK', () => {
    const messages: ModelMessage[] = toMessages(eventsWith(ALL), { format: 'ai-sdk' });
    expect(messages[2]?.content).toEqual([
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'look',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: '{"seen":2}' },
            { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
            { type: 'file-data', data: 'AAAA', mediaType: 'application/pdf', filename: 'bill.pdf' },
            { type: 'image-url', url: 'https://example.com/cat.jpg' },
            { type: 'file-url', url: 'gs://bucket/cat.mp4' },
            { type: 'text', text: '[a file of type image/png]' },
          ],
        },
      },
      { type: 'tool-result', toolCallId: 'c2', toolName: 'count', output: { type: 'text', value: 'two' } },
    ]);
    for (const message of messages) expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
  });

  it('are told to other agents', () => {
    const messages = toMessages(eventsWith([PNG, { text: 'Two cats' }], {}, 'looker'), {
      format: 'openai',
      agent: 'writer',
    });
    expect(JSON.stringify(messages)).toContain('data:image/png;base64,AAAA');
    expect(JSON.stringify(messages)).toContain('Two cats');
  });

  it('count for the budget', () => {
    const first: EventInput[] = [
      { author: 'user', content: { role: 'user', parts: [{ text: 'First' }] } },
      { author: 'support', content: { role: 'model', parts: [{ text: 'Yes?' }] } },
    ];
    const messages = toMessages([...first, ...eventsWith([PNG])], { format: 'openai', tokenBudget: 500 });
    expect(messages[0]).toEqual({ role: 'user', content: 'Look!' });
  });

  it.each([undefined, null, [], 'cat.png', [null, 7, {}]])('are none in %j', (parts) => {
    for (const format of ['openai', 'anthropic', 'google', 'ai-sdk'] as const) {
      expect(toMessages(eventsWith(parts), { format })).toEqual(toMessages(eventsWith(undefined), { format }));
    }
  });
});
