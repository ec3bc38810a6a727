import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Content } from '@google/genai';
import { type ModelMessage, modelMessageSchema } from 'ai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { toMessages } from '../../src/agents/index.js';
import type { EventInput } from '../../src/index.js';

const SIGNATURE = 'c2lnbmF0dXJl';

/** Every kind of part, in every role that may have it. */
const EVENTS: EventInput[] = [
  {
    author: 'user',
    content: {
      role: 'user',
      parts: [
        { text: 'What is this?' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { inlineData: { mimeType: 'application/pdf', data: 'AAAA', displayName: 'bill.pdf' } },
        { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
        { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
        { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/cat.jpg' } },
        { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/cat.mp4' } },
        { inlineData: {} },
      ],
    },
  },
  {
    author: 'support',
    content: {
      role: 'model',
      parts: [
        { text: 'They want to know', thought: true, thoughtSignature: SIGNATURE },
        { text: 'unsigned', thought: true },
        { text: 'Let me look', thoughtSignature: SIGNATURE },
        { functionCall: { id: 'c1', name: 'look', args: { at: 1 } }, thoughtSignature: SIGNATURE },
        { functionCall: { name: 'count' } },
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      ],
    },
  },
  {
    author: 'support',
    content: {
      role: 'user',
      parts: [
        { functionResponse: { name: 'count', response: [1, 'two', null] } },
        { functionResponse: { id: 'c1', name: 'look', response: { error: 'too dark' } } },
      ],
    },
  },
  { author: 'support', content: { role: 'model', parts: [{ text: 'A cat.' }] } },
];

const CODE = '```python\nprint(1)\n```';
const OUTPUT = 'Output of the code:\n```\n1\n```';

// Assigning to the types of the vendors is a test too: the type check of this file fails if they refuse a message.
describe('Messages', () => {
  it('are messages of the OpenAI SDK', () => {
    const messages: ChatCompletionMessageParam[] = toMessages(EVENTS, { format: 'openai' });
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'bill.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_data: 'data:text/csv;base64,YSxi', filename: 'file' } },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } },
          { type: 'text', text: '[a file of type video/mp4]' },
          { type: 'text', text: '[a file of type application/octet-stream]' },
        ],
      },
      {
        role: 'assistant',
        content: `Let me look\n${CODE}\n${OUTPUT}\n[a file of type image/png]`,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 'call-2', type: 'function', function: { name: 'count', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"error":"too dark"}' },
      { role: 'tool', tool_call_id: 'call-2', content: '[1,"two",null]' },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('are messages of the Anthropic SDK', () => {
    const messages: MessageParam[] = toMessages(EVENTS, { format: 'anthropic' });
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
            title: 'bill.pdf',
          },
          { type: 'text', text: '[a file of type audio/wav]' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.jpg' } },
          { type: 'text', text: '[a file of type video/mp4]' },
          { type: 'text', text: '[a file of type application/octet-stream]' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'They want to know', signature: SIGNATURE },
          { type: 'text', text: 'Let me look' },
          { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } },
          { type: 'tool_use', id: 'call-2', name: 'count', input: {} },
          { type: 'text', text: CODE },
          { type: 'text', text: OUTPUT },
          { type: 'text', text: '[a file of type image/png]' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '{"error":"too dark"}', is_error: true },
          { type: 'tool_result', tool_use_id: 'call-2', content: '[1,"two",null]' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] },
    ]);
  });

  it('are contents of the Google Gen AI SDK, with the parts of the log', () => {
    const contents: Content[] = toMessages(EVENTS, { format: 'google' });
    expect(contents).toEqual([
      EVENTS[0]?.content,
      {
        role: 'model',
        parts: [
          { text: 'They want to know', thought: true, thoughtSignature: SIGNATURE },
          { text: 'Let me look', thoughtSignature: SIGNATURE },
          { functionCall: { id: 'c1', name: 'look', args: { at: 1 } }, thoughtSignature: SIGNATURE },
          { functionCall: { name: 'count', args: {} } },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'look', response: { error: 'too dark' } } },
          { functionResponse: { name: 'count', response: { result: [1, 'two', null] } } },
        ],
      },
      EVENTS[3]?.content,
    ]);
  });

  it('are messages of the AI SDK, for its schema too', () => {
    const messages: ModelMessage[] = toMessages(EVENTS, { format: 'ai-sdk' });
    const providerOptions = { anthropic: { signature: SIGNATURE }, google: { thoughtSignature: SIGNATURE } };
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', data: 'AAAA', mediaType: 'image/png' },
          { type: 'file', data: 'AAAA', mediaType: 'application/pdf', filename: 'bill.pdf' },
          { type: 'file', data: 'AAAA', mediaType: 'audio/wav' },
          { type: 'file', data: 'YSxi', mediaType: 'text/csv' },
          { type: 'file', data: 'https://example.com/cat.jpg', mediaType: 'image/jpeg' },
          { type: 'file', data: 'gs://bucket/cat.mp4', mediaType: 'video/mp4' },
          { type: 'text', text: '[a file of type application/octet-stream]' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'They want to know', providerOptions },
          { type: 'text', text: 'Let me look', providerOptions },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 }, providerOptions },
          { type: 'tool-call', toolCallId: 'call-2', toolName: 'count', input: {} },
          { type: 'text', text: CODE },
          { type: 'text', text: OUTPUT },
          { type: 'file', data: 'AAAA', mediaType: 'image/png' },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'look',
            output: { type: 'error-json', value: { error: 'too dark' } },
          },
          {
            type: 'tool-result',
            toolCallId: 'call-2',
            toolName: 'count',
            output: { type: 'json', value: [1, 'two', null] },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] },
    ]);
    for (const message of messages) expect(modelMessageSchema.parse(message)).toEqual(message);
  });
});
