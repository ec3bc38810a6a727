import { SummaryModelError } from '../summary-model-error.js';

const MOST_BYTES = 1_048_576;

/** The body of an answer as text. What is too long is not read to its end: it is no summary. */
export async function readBody(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      throw new SummaryModelError('BAD_ANSWER', `The answer has more than ${MOST_BYTES} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
