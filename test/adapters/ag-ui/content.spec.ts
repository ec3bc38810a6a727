import type { Message } from '@ag-ui/core';
import { MessageSchema } from '@ag-ui/core/schemas';
import { toAgUiMessages } from '../../../src/adapters/ag-ui/event-messages.js';
import { newContent } from '../../../src/adapters/ag-ui/input-content.js';
import type { Part } from '../../../src/index.js';

type User = Extract<Message, { role: 'user' }>;
type Content = Exclude<User['content'], string>;

const storedOf = (content: unknown): Part[] =>
  newContent([{ id: 'm1', role: 'user', content } as User], () => 'tool').parts ?? [];

/** The messages that a client gets of what it sent. */
function readBack(...messages: Message[]): Message[] {
  const content = newContent(messages as User[], () => 'draw');
  const read = toAgUiMessages({ id: 'm1', author: 'user', content });
  return read.map((message) => MessageSchema.parse(message) as Message);
}

const result = (message: Partial<Message>) => ({ id: 'm1', role: 'tool', toolCallId: 'c1', ...message }) as Message;

describe('Parts of messages of AG-UI', () => {
  it.each<[string, Content[number], Part]>([
    ['text with metadata', { type: 'text', id: 'p1', text: 'Hi', metadata: { a: 1 } }, { text: 'Hi' }],
    [
      'an image',
      { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ],
    [
      'a document with a name',
      {
        type: 'document',
        source: { type: 'data', value: 'AAAA', mimeType: 'application/pdf' },
        metadata: { filename: 'a.pdf', pages: 3 },
      },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA', displayName: 'a.pdf' } },
    ],
    [
      'a URL',
      { type: 'video', source: { type: 'url', value: 'https://x.y/v', mimeType: 'video/webm' } },
      { fileData: { fileUri: 'https://x.y/v', mimeType: 'video/webm' } },
    ],
    [
      'a file that a vendor keeps',
      { type: 'image', source: { type: 'file', value: 'file-1', provider: 'openai', mimeType: 'image/png' } },
      { fileData: { fileUri: 'openai:file-1', mimeType: 'image/png' } },
    ],
  ])('are parts of an event, and come back as they were: %s', (_what, part, expected) => {
    expect(storedOf([part])).toEqual([expect.objectContaining(expected)]);
    expect(readBack({ id: 'm1', role: 'user', content: [{ type: 'text', text: 'Look:' }, part] })).toEqual([
      { id: 'm1', role: 'user', content: [{ type: 'text', text: 'Look:' }, part] },
    ]);
  });

  it('of clients before 1.0 are files, too', () => {
    expect(
      storedOf([
        { type: 'binary', mimeType: 'image/png', data: 'AAAA', filename: 'a.png' },
        { type: 'binary', mimeType: 'image/png', url: 'https://x.y/cat' },
        { type: 'binary', mimeType: 'image/png', id: 'file-1' },
      ]),
    ).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
      { fileData: { fileUri: 'https://x.y/cat', mimeType: 'image/png' } },
      { fileData: { fileUri: 'openai:file-1', mimeType: 'image/png' } },
    ]);
  });

  it('without anything that can be read are refused', () => {
    for (const part of [{ type: 'binary' }, { type: 'image' }, { type: 'image', source: {} }, { text: 'x' }, null])
      expect(() => storedOf([part])).toThrow('messages[0].content[0]: must be a text, or have a source with a value');
  });

  it('of a result keep its files and its error', () => {
    const file = { type: 'image' as const, source: { type: 'data' as const, value: 'AAAA', mimeType: 'image/png' } };
    const drawn = result({ content: [{ type: 'text', text: 'Here:' }, file] });
    expect(readBack(drawn)).toEqual([drawn]);
    expect(readBack(result({ content: 'half', error: 'BOOM' }))).toMatchObject([{ error: 'BOOM' }]);
    const response = { error: 'BOOM' };
    const functionResponse = { id: 'c1', name: 'draw', response };
    expect(
      toAgUiMessages({ id: 'e1', author: 'support', content: { role: 'user', parts: [{ functionResponse }] } }),
    ).toMatchObject([{ role: 'tool', toolCallId: 'c1', error: 'BOOM' }]);
  });
});
