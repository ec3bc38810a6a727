import { loadPackage } from '../../config/load-package.js';
import type { ModelAddress } from '../../config/summarizer-settings.js';
import { AiSdkSummaryModel, loadAiSdk } from './ai-sdk-summary-model.js';
import { type SummaryModel, SummaryModelError } from './summary-model.js';

/** The model of a server with the `chat/completions` API of OpenAI, by `@ai-sdk/openai-compatible`. */
export function modelAtAddress(address: ModelAddress): SummaryModel {
  let opened: Promise<SummaryModel> | undefined;
  return {
    name: address.model,
    summarize: async (request, options) => (await (opened ??= openedModel(address))).summarize(request, options),
  };
}

/** Loads what the model needs, so that a missing package fails at the start. */
export async function loadModelPackages() {
  const [{ createOpenAICompatible }] = await Promise.all([
    loadPackage(() => import('@ai-sdk/openai-compatible'), 'A model at an address (SUMMARIZER_MODEL_URL)'),
    loadAiSdk(),
  ]);
  return createOpenAICompatible;
}

async function openedModel({ baseUrl, model, apiKey }: ModelAddress): Promise<SummaryModel> {
  const createProvider = await loadModelPackages();
  const { origin, pathname, searchParams } = new URL(baseUrl);
  const provider = createProvider({
    name: 'summaries',
    baseURL: origin + pathname,
    queryParams: Object.fromEntries(searchParams),
    ...(apiKey !== undefined && { apiKey }),
    fetch: fetchOnce,
  });
  return new AiSdkSummaryModel(provider(model));
}

const MAX_BYTES = 1_048_576;

/** The conversation and the key go to one host. A response that is longer than a summary can be does not fill the memory. */
const fetchOnce: typeof fetch = async (url, init) => {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  let left = MAX_BYTES;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) throw new SummaryModelError('BAD_ANSWER', `The answer has more than ${MAX_BYTES} bytes.`);
      controller.enqueue(chunk);
    },
  });
  return response.body ? new Response(response.body.pipeThrough(limit), response) : response;
};
