import { inWords } from '../../adapter.js';
import type { ConversationPart } from '../../agents/index.js';

/** What a part says, for messages that have texts only. */
export function saidText(part: ConversationPart): string[] {
  if (part.type === 'text') return part.text === '' ? [] : [part.text];
  return part.type === 'file' || part.type === 'code' ? [inWords(part)] : [];
}
