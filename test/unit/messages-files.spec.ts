import fc from 'fast-check';
import { type MessageFormat, toMessages } from '../../src/agents/index.js';
import type { Part } from '../../src/index.js';

const NAMED = '[a file of type image/png]';
const kept = (fileUri: string): Part => ({ fileData: { fileUri, mimeType: 'image/png' } });
const says = (part: Part) => [{ author: 'user', content: { role: 'user', parts: [part] } }];
const contentOf = (part: Part, format: MessageFormat): unknown => {
  const [message] = toMessages(says(part), { format });
  return message && ('parts' in message ? message.parts : message.content);
};

describe('A file in messages for models', () => {
  it.each<[string, Part, Record<MessageFormat, unknown>]>([
    [
      'that OpenAI keeps, is one for OpenAI only',
      kept('openai:file-1'),
      {
        openai: [{ type: 'file', file: { file_id: 'file-1' } }],
        anthropic: [{ type: 'text', text: NAMED }],
        google: [{ text: NAMED }],
        'ai-sdk': [{ type: 'text', text: NAMED }],
      },
    ],
    [
      'that Anthropic keeps, is one for Anthropic only',
      kept('anthropic:file_1'),
      {
        openai: NAMED,
        anthropic: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
        google: [{ text: NAMED }],
        'ai-sdk': [{ type: 'text', text: NAMED }],
      },
    ],
    [
      'with a URL that names its type, is of this type',
      { fileData: { fileUri: 'https://x.y/cat.webp?v=1' } },
      {
        openai: [{ type: 'image_url', image_url: { url: 'https://x.y/cat.webp?v=1' } }],
        anthropic: [{ type: 'image', source: { type: 'url', url: 'https://x.y/cat.webp?v=1' } }],
        google: [{ fileData: { fileUri: 'https://x.y/cat.webp?v=1', mimeType: 'image/webp' } }],
        'ai-sdk': [{ type: 'file', data: 'https://x.y/cat.webp?v=1', mediaType: 'image/webp' }],
      },
    ],
    [
      'with a detail, has it where models know it',
      { inlineData: { mimeType: 'image/png', data: 'AAAA', detail: 'low' } },
      {
        openai: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }],
        anthropic: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        google: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
        'ai-sdk': [
          {
            type: 'file',
            data: 'AAAA',
            mediaType: 'image/png',
            providerOptions: { openai: { imageDetail: 'low' } },
          },
        ],
      },
    ],
    [
      'of text, is a document of text for Anthropic',
      { inlineData: { mimeType: 'text/markdown', data: Buffer.from('# Hi').toString('base64'), displayName: 'a.md' } },
      {
        openai: [{ type: 'file', file: { file_data: 'data:text/markdown;base64,IyBIaQ==', filename: 'a.md' } }],
        anthropic: [
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# Hi' }, title: 'a.md' },
        ],
        google: [{ inlineData: { mimeType: 'text/markdown', data: 'IyBIaQ==', displayName: 'a.md' } }],
        'ai-sdk': [{ type: 'file', data: 'IyBIaQ==', mediaType: 'text/markdown', filename: 'a.md' }],
      },
    ],
  ])('%s', (_what, part, expected) => {
    for (const format of Object.keys(expected) as MessageFormat[])
      expect([format, contentOf(part, format)]).toEqual([format, expected[format]]);
  });
});

it('A response with an error of null is a success', () => {
  const parts = [{ functionCall: { id: 'c1', name: 'find' } }];
  const events = [
    { author: 'support', content: { role: 'model', parts } },
    {
      author: 'support',
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'find', response: { data: 1, error: null } } }],
      },
    },
  ];
  expect(toMessages(events, { format: 'anthropic' }).at(-1)?.content).toEqual([
    { type: 'tool_result', tool_use_id: 'c1', content: '{"data":1,"error":null}' },
  ]);
  expect(toMessages(events, { format: 'ai-sdk' }).at(-1)?.content).toMatchObject([{ output: { type: 'json' } }]);
});

it('What the system says is for the model, not by it', () => {
  const events = [{ author: 'system', content: { role: 'system', parts: [{ text: 'Be kind.' }] } }];
  expect(toMessages(events, { format: 'openai' })).toEqual([{ role: 'user', content: 'Be kind.' }]);
});

it('A file of text is read from base64 of any kind, as Node reads it', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'AYQbz09+/-_= \n.ä') });
  fc.assert(
    fc.property(fc.oneof(digits, fc.base64String()), (data) => {
      const part = { inlineData: { mimeType: 'text/plain', data } };
      const text = Buffer.from(data, 'base64').toString();
      const source = { type: 'text', media_type: 'text/plain', data: text };
      expect(contentOf(part, 'anthropic')).toEqual([{ type: 'document', source }]);
    }),
  );
});
