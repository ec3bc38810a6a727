import type { Content } from '../../../src/index.js';

/** What no way to an agent takes for a message. */
export const EMPTY_MESSAGES: readonly unknown[] = [
  '',
  ' \n',
  {},
  { text: 'hi' },
  { role: 'user', content: 'hi' },
  { role: 'user', content: [{ type: 'text', text: 'hi' }] },
  { parts: [] },
  { parts: 'hi' },
  { parts: [{}] },
  { parts: ['hi'] },
  { parts: [{ text: '' }, { text: ' ' }] },
  { parts: [{ txt: 'hi' }] },
  { role: 'assistant', parts: [{ text: 'hi' }] },
  { role: 'model', parts: [{ text: 'hi' }] },
  { role: 'system', parts: [{ text: 'hi' }] },
  { role: 5, parts: [{ text: 'hi' }] },
  [{ text: 'hi' }],
  5,
];

/** What all ways to an agent take. */
export const FULL_MESSAGES: readonly (Content | string)[] = [
  'hi',
  { parts: [{ text: 'hi' }] },
  { role: 'user', parts: [{ text: '' }, { text: 'hi' }] },
  { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
  { parts: [{ fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } }] },
  { parts: [{ functionResponse: { id: 'c1', name: 'pick', response: { picked: 1 } } }] },
];
