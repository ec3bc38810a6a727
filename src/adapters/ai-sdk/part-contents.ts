import type { FileUIPart, ProviderMetadata, ReasoningUIPart, TextUIPart } from 'ai';
import { defined, fileIn, givenFile, inWords } from '../../adapter.js';
import type { Part } from '../../index.js';

/** A text, thought or file of a page as a part of an event. */
export function toContentPart(part: TextUIPart | ReasoningUIPart | FileUIPart): Part {
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
  const file = fileIn(part);
  // The SDK would try to load the file that only its vendor has.
  if (file?.keeper) return { type: 'text', text: inWords({ type: 'file', mimeType: file.mimeType, part }) };
  if (file?.url !== undefined) {
    const { mimeType: mediaType, url, name: filename, detail: imageDetail } = file;
    const providerMetadata = imageDetail === undefined ? undefined : { openai: { imageDetail } };
    return { type: 'file', mediaType, url, ...defined({ filename, providerMetadata }) };
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
