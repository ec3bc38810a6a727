import type { FileUIPart, ProviderMetadata, ReasoningUIPart, TextUIPart } from 'ai';
import { fileContent, fileName, fileUrl, inWords } from '../../agents/messages/file-content.js';
import type { Part } from '../../sessions/domain/event.js';
import { defined } from './sdk-fields.js';

const DATA_URL = /^data:([^,]*),(.*)$/s;

/** A text, thought or file of a page as a part of an event. */
export function contentOf(part: TextUIPart | ReasoningUIPart | FileUIPart): Part {
  if (part.type === 'file') return fileContentOf(part);
  const signature = signatureIn(part.providerMetadata);
  const signed = signature !== undefined && { thoughtSignature: signature };
  return { text: part.text, ...(part.type === 'reasoning' && { thought: true }), ...signed };
}

/** A part of an event as a text, thought or file of a page. */
export function uiPartOf(part: Part): TextUIPart | ReasoningUIPart | FileUIPart | undefined {
  const { text, thought, thoughtSignature, inlineData, fileData } = part;
  if (typeof text === 'string') {
    if (text === '' && thought !== true) return undefined;
    const signed = typeof thoughtSignature === 'string' ? { providerMetadata: signatureFor(thoughtSignature) } : {};
    return { type: thought === true ? 'reasoning' : 'text', text, ...signed };
  }
  const mediaType = (inlineData ?? fileData)?.mimeType ?? 'application/octet-stream';
  const content = fileContent(part);
  if (content)
    return { type: 'file', mediaType, url: fileUrl(mediaType, content), ...defined({ filename: fileName(part) }) };
  if (!part.executableCode && !part.codeExecutionResult) return undefined;
  return { type: 'text', text: inWords({ type: 'code', part }) };
}

function fileContentOf({ url, mediaType, filename }: FileUIPart): Part {
  const name = defined({ displayName: filename });
  const [, head = '', body = ''] = DATA_URL.exec(url) ?? [];
  if (!url.startsWith('data:')) return { fileData: { mimeType: mediaType, fileUri: url, ...name } };
  const data = head.endsWith(';base64') ? body : Buffer.from(decoded(body)).toString('base64');
  return { inlineData: { mimeType: mediaType, data, ...name } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The signature of a thought, by which its vendor lets a model go on. */
function signatureIn(metadata: ProviderMetadata | undefined): string | undefined {
  const signature = metadata?.anthropic?.signature ?? metadata?.google?.thoughtSignature;
  return typeof signature === 'string' ? signature : undefined;
}

/** Under the names of all providers that need it; each reads its own. */
function signatureFor(signature: string): ProviderMetadata {
  return { anthropic: { signature }, google: { thoughtSignature: signature } };
}
