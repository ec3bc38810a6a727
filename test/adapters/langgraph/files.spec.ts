import {
  AIMessage,
  type ContentBlock,
  HumanMessage,
  type MessageContentComplex,
  ToolMessage,
} from '@langchain/core/messages';
import { SessionChatHistory } from '../../../src/adapters/langgraph/index.js';
import { toMessages } from '../../../src/agents/index.js';
import type { LoggedEvent, Part } from '../../../src/index.js';
import { CONFIG, KEY, USER, echoGraph, openSaver } from './support/threads.js';

const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0=';
const image = { inlineData: { mimeType: 'image/png', data: PNG } };
const pdf = { inlineData: { mimeType: 'application/pdf', data: PDF } };
const audio = { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } };
const linked = { fileData: { fileUri: 'https://x.y/cat.png', mimeType: 'image/png' } };
const kept = (fileUri: string, more: object = {}) => ({ fileData: { fileUri, ...more } });

/** Blocks of users, as LangChain and the vendors that it passes them to write them, and what every reader sees. */
const BLOCKS: readonly (readonly [string, MessageContentComplex | ContentBlock, Part])[] = [
  ['image_url with a data URL', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }, image],
  ['image_url as a text', { type: 'image_url', image_url: `data:image/png;base64,${PNG}` }, image],
  ['image_url with an https URL', { type: 'image_url', image_url: { url: 'https://x.y/cat.png' } }, linked],
  [
    'image_url with detail',
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
    { inlineData: { ...image.inlineData, detail: 'low' } },
  ],
  [
    'image_url that does not tell its type',
    { type: 'image_url', image_url: { url: 'https://x.y/cat?size=2' } },
    { fileData: { fileUri: 'https://x.y/cat?size=2', mimeType: 'image/png' } },
  ],
  ['input_audio', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }, audio],
  [
    'file of OpenAI',
    { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' } },
    { inlineData: { ...pdf.inlineData, displayName: 'a.pdf' } },
  ],
  ['file of OpenAI by its id', { type: 'file', file: { file_id: 'file-1' } }, kept('openai:file-1')],
  [
    'input_image',
    { type: 'input_image', image_url: 'https://x.y/cat.png', detail: 'auto' },
    { fileData: { ...linked.fileData, detail: 'auto' } },
  ],
  [
    'input_file',
    { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' },
    { inlineData: { ...pdf.inlineData, displayName: 'a.pdf' } },
  ],
  ['image of Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }, image],
  ['image of Anthropic by URL', { type: 'image', source: { type: 'url', url: 'https://x.y/cat.png' } }, linked],
  [
    'image of Anthropic by its id',
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    kept('anthropic:file_1', { mimeType: 'image/png' }),
  ],
  [
    'document of Anthropic',
    { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
    { inlineData: { ...pdf.inlineData, displayName: 'a.pdf' } },
  ],
  [
    'document of Anthropic by URL',
    { type: 'document', source: { type: 'url', url: 'https://x.y/a' } },
    kept('https://x.y/a', { mimeType: 'application/pdf' }),
  ],
  [
    'document of text of Anthropic',
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Terms' } },
    { text: 'Terms' },
  ],
  ['image, standard', { type: 'image', mimeType: 'image/png', data: PNG }, image],
  [
    'image, standard, of bytes',
    { type: 'image', mimeType: 'image/png', data: new Uint8Array(Buffer.from(PNG, 'base64')) },
    image,
  ],
  ['image, standard, by URL', { type: 'image', url: 'https://x.y/cat.png' }, linked],
  ['image, standard, by its id', { type: 'image', fileId: 'file-1' }, kept('openai:file-1', { mimeType: 'image/png' })],
  ['audio, standard', { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }, audio],
  [
    'video, standard',
    { type: 'video', url: 'https://x.y/cat.mp4' },
    kept('https://x.y/cat.mp4', { mimeType: 'video/mp4' }),
  ],
  [
    'file, standard',
    { type: 'file', mimeType: 'application/pdf', data: PDF, metadata: { filename: 'a.pdf' } },
    { inlineData: { ...pdf.inlineData, displayName: 'a.pdf' } },
  ],
  ['text-plain, standard', { type: 'text-plain', text: 'Terms', title: 'T' }, { text: 'Terms' }],
  ['image of LangChain 0.3', { type: 'image', source_type: 'base64', mime_type: 'image/png', data: PNG }, image],
  ['image of LangChain 0.3 by URL', { type: 'image', source_type: 'url', url: 'https://x.y/cat.png' }, linked],
  ['file of LangChain 0.3 by its id', { type: 'file', source_type: 'id', id: 'file-1' }, kept('openai:file-1')],
  ['file of text of LangChain 0.3', { type: 'file', source_type: 'text', text: 'Terms' }, { text: 'Terms' }],
  ['image of LangChain for Python', { type: 'image', base64: PNG, mime_type: 'image/png' }, image],
  ['inlineData of Google', { type: 'inlineData', inlineData: { mimeType: 'image/png', data: PNG } }, image],
  [
    'fileData of Google',
    { type: 'fileData', fileData: { mimeType: 'image/png', fileUri: 'gs://b/cat' } },
    kept('gs://b/cat', { mimeType: 'image/png' }),
  ],
  ['media of Google', { type: 'media', mimeType: 'image/png', data: PNG }, image],
  [
    'image of Bedrock',
    { type: 'image', image: { format: 'png', source: { bytes: new Uint8Array(Buffer.from(PNG, 'base64')) } } },
    image,
  ],
  [
    'document of Bedrock',
    {
      type: 'document',
      document: { format: 'pdf', name: 'a', source: { bytes: new Uint8Array(Buffer.from(PDF, 'base64')) } },
    },
    { inlineData: { ...pdf.inlineData, displayName: 'a' } },
  ],
];

const isByUser = ({ author }: LoggedEvent) => author === 'user';

/** What LangChain itself reads in a block, if it reads it: its place or bytes, and its type. */
function standardOf(block: ContentBlock): unknown {
  const [read = {}] = new HumanMessage({ content: [block] }).contentBlocks as unknown as Record<string, unknown>[];
  const { data, url, fileId, mimeType } = read;
  const bytes = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data;
  return { content: bytes ?? url ?? fileId, mimeType };
}

describe('A file of a user', () => {
  it.each(BLOCKS)('is a part of the event, and comes back as it was: %s', async (_kind, block, part) => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const said = new HumanMessage({ content: [{ type: 'text', text: 'Look:' }, block as ContentBlock] });
    await history.addMessages([said, new AIMessage('I see.')]);

    const [event] = (await sessions.listEvents(KEY)).events;
    expect(event).toMatchObject({ author: 'user' });
    expect(event?.content?.parts).toEqual([{ text: 'Look:' }, part]);
    const read = await history.getMessages();
    expect(read.map((message) => message.toDict())).toEqual(
      [said, new AIMessage('I see.')].map((each) => each.toDict()),
    );

    const { content, mimeType } = standardOf(block as ContentBlock) as { content?: string; mimeType?: string };
    const { inlineData, fileData } = part;
    if (content !== undefined && part.text === undefined) {
      expect([inlineData?.data, fileData?.fileUri, fileData?.fileUri?.split(':')[1]]).toContain(content);
      if (mimeType !== undefined) expect((inlineData ?? fileData)?.mimeType).toBe(mimeType);
    }
  });

  it.each(BLOCKS)('reaches other readers from a thread of LangGraph, too: %s', async (_kind, block, part) => {
    const { sessions, saver } = openSaver();
    const messages = [new HumanMessage({ id: 'h1', content: [block as ContentBlock] })];
    await echoGraph(saver).invoke({ messages }, CONFIG);
    const event = (await sessions.getSession(KEY))?.events.find(isByUser);
    expect(event?.content?.parts).toEqual([part]);
    const [asked] = await new SessionChatHistory({ sessions, ...KEY }).getMessages();
    expect(asked?.toDict()).toEqual(messages[0]?.toDict());
  });

  it('is in its event once, so that it may be almost as long as an event', async () => {
    const { sessions, saver } = openSaver();
    const data = Buffer.alloc(600_000, 7).toString('base64');
    const messages = [
      new HumanMessage({ content: [{ type: 'image_url', image_url: `data:image/png;base64,${data}` }] }),
    ];
    await echoGraph(saver).invoke({ messages }, CONFIG);
    const event = (await sessions.getSession(KEY))?.events.find(isByUser);
    expect(JSON.stringify(event).length).toBeLessThan(1.1 * data.length);
    const [asked] = await new SessionChatHistory({ sessions, ...KEY }).getMessages();
    expect(asked?.content).toEqual(messages[0]?.content);
  });

  it('is said in words if no event can hold it, and comes back to LangChain', async () => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const said = new HumanMessage({ name: 'Ann', content: [{ type: 'hologram', place: 'here' }] });
    await history.addMessages([said]);
    const view = (await sessions.getSession(KEY))?.events ?? [];
    expect(toMessages(view, { format: 'openai' })).toEqual([{ role: 'user', content: '[a block of type hologram]' }]);
    expect((await history.getMessages()).map((each) => each.toDict())).toEqual([said.toDict()]);
  });

  it('of others comes as a standard block, which models of LangChain read', async () => {
    const { sessions } = openSaver();
    await sessions.createSession(KEY);
    const parts = [
      { text: 'Look:' },
      { inlineData: { ...pdf.inlineData, displayName: 'a.pdf' } },
      { inlineData: { ...image.inlineData, detail: 'low' } },
      linked,
      kept('openai:file-1', { mimeType: 'image/png' }),
      { executableCode: { language: 'PYTHON', code: '1' } },
    ];
    await sessions.appendEvent({
      session: { ...USER, id: KEY.sessionId },
      event: { author: 'user', content: { parts } },
    });
    const [message] = await new SessionChatHistory({ sessions, ...KEY }).getMessages();
    expect(message?.response_metadata).toEqual({ output_version: 'v1' });
    expect(message?.contentBlocks).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'file', mimeType: 'application/pdf', data: PDF, metadata: { filename: 'a.pdf' } },
      { type: 'image', mimeType: 'image/png', data: PNG, metadata: { detail: 'low' } },
      { type: 'image', url: 'https://x.y/cat.png', mimeType: 'image/png' },
      { type: 'image', fileId: 'file-1' },
      { type: 'text', text: '```python\n1\n```' },
    ]);
  });

  it('that a client forges is nothing but text and files', async () => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    await history.addMessages([new HumanMessage({ content: [BLOCKS[0]?.[1] as ContentBlock] })]);
    const [real] = (await sessions.listEvents(KEY)).events;
    const session = { ...USER, id: KEY.sessionId };
    const own = { customMetadata: { langgraph: { kind: 'own', ids: ['forged'] } } };
    const { customMetadata } = real ?? {};
    await sessions.appendEvents({
      session,
      events: [
        {
          id: 'forged',
          author: 'user',
          content: { parts: [{ text: 'Hi' }] },
          ...(customMetadata && { customMetadata }),
        },
        { author: 'user', content: { parts: [{ text: 'Ho' }] }, ...own },
      ],
    });
    expect((await history.getMessages()).map(({ content }) => content)).toEqual([[BLOCKS[0]?.[1]], 'Hi', 'Ho']);
  });
});

describe('Thoughts of a model', () => {
  const THOUGHTS: readonly (readonly [string, ContentBlock, Part[]])[] = [
    [
      'Anthropic',
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      [{ text: 'Hm', thought: true, thoughtSignature: 'sig' }],
    ],
    ['the standard', { type: 'reasoning', reasoning: 'Hm' }, [{ text: 'Hm', thought: true }]],
    ['OpenAI', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] }, [{ text: 'Hm', thought: true }]],
    [
      'Bedrock',
      { type: 'reasoning_content', reasoningText: { text: 'Hm', signature: 'sig' } },
      [{ text: 'Hm', thought: true, thoughtSignature: 'sig' }],
    ],
    ['Google', { type: 'text', text: 'Hm', thought: true }, [{ text: 'Hm', thought: true }]],
    ['what cannot be read', { type: 'redacted_thinking', data: 'x' }, []],
  ];

  it.each(THOUGHTS)('are thoughts of the event, and come back as they were: %s', async (_vendor, block, parts) => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const said = new AIMessage({ content: [block, { type: 'text', text: 'Yes.' }] });
    await history.addMessages([said]);
    expect((await sessions.listEvents(KEY)).events[0]?.content?.parts).toEqual([...parts, { text: 'Yes.' }]);
    expect((await history.getMessages()).map((each) => each.toDict())).toEqual([said.toDict()]);
  });

  it('are found beside the content, too', async () => {
    const { sessions } = openSaver();
    const said = new AIMessage({ content: 'Yes.', additional_kwargs: { reasoning_content: 'Hm' } });
    await new SessionChatHistory({ sessions, ...KEY }).addMessages([said]);
    expect((await sessions.listEvents(KEY)).events[0]?.content?.parts).toEqual([
      { text: 'Hm', thought: true },
      { text: 'Yes.' },
    ]);
  });
});

describe('A file of a tool', () => {
  it('follows its response, and comes back in its message', async () => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const asked = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'draw', args: {} }] });
    const block = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    const drawn = new ToolMessage({
      tool_call_id: 'c1',
      name: 'draw',
      content: [{ type: 'text', text: 'Here:' }, block],
    });
    await history.addMessages([new HumanMessage('Draw'), asked, drawn, new AIMessage('Done.')]);
    const event = (await sessions.listEvents(KEY)).events[2];
    expect(event?.content?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'draw', response: { result: 'Here:' } } },
      image,
    ]);
    const read = await history.getMessages();
    expect(read.slice(1).map((each) => each.toDict())).toEqual(
      [asked, drawn, new AIMessage('Done.')].map((each) => each.toDict()),
    );
  });
});
