import type { FileUIPart, ProviderMetadata, ReasoningUIPart, TextUIPart } from 'ai';
import {
  fileContent,
  fileName,
  fileUrl,
  imageDetail as imageDetailOf,
  inWords,
} from '../../agents/messages/file-content.js';
import { fileType, givenFile, keeperOf } from '../../agents/messages/given-files.js';
import type { Part } from '../../sessions/domain/content.js';
import { defined } from '../../sessions/domain/json-value.js';

/** A text, thought or file of a page as a part of an event. */
export function contentOf(part: TextUIPart | ReasoningUIPart | FileUIPart): Part {
  if (part.type === 'file') {
    const { url, mediaType: mimeType, filename: name, providerMetadata } = part;
    const detail = providerMetadata?.openai?.imageDetail;
    return givenFile(url, { mimeType, name, ...(typeof detail === 'string' && { detail }) });
  }
  const signature = signatureIn(part.providerMetadata);
  const signed = signature !== undefined && { thoughtSignature: signature };
  return { text: part.text, ...(part.type === 'reasoning' && { thought: true }), ...signed };
}

/** A part of an event as a text, thought or file of a page. */
export function uiPartOf(part: Part): TextUIPart | ReasoningUIPart | FileUIPart | undefined {
  const { text, thought, thoughtSignature } = part;
  if (typeof text === 'string') {
    if (text === '' && thought !== true) return undefined;
    const signed = typeof thoughtSignature === 'string' ? { providerMetadata: signatureFor(thoughtSignature) } : {};
    return { type: thought === true ? 'reasoning' : 'text', text, ...signed };
  }
  const mediaType = fileType(part);
  // The SDK would try to load the file that only its vendor has.
  if (mediaType !== undefined && keeperOf(part))
    return { type: 'text', text: inWords({ type: 'file', mimeType: mediaType, part }) };
  const content = fileContent(part);
  if (content && mediaType !== undefined) {
    const imageDetail = imageDetailOf(part);
    const providerMetadata = imageDetail === undefined ? undefined : { openai: { imageDetail } };
    const details = defined({ filename: fileName(part), providerMetadata });
    return { type: 'file', mediaType, url: fileUrl(mediaType, content), ...details };
  }
  if (!part.executableCode && !part.codeExecutionResult) return undefined;
  return { type: 'text', text: inWords({ type: 'code', part }) };
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
