import { sessionOf } from './paths.js';
import { ProblemError } from './problem-error.js';
import type { RemoteKey, RemoteSummary, SummaryListRequest, SummaryRequest } from './remote-types.js';
import type { Requests } from './requests.js';
import { SharedStateClient } from './shared-state-client.js';

/** As long as a server may ask a model by default, and wait for whoever asks one already. */
const LONGEST_WAIT_MS = 150_000;

/** The part of the client that speaks to the routes of `SummarizerRestModule`. */
export abstract class SummariesClient extends SharedStateClient {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    super(requests);
    this.#requests = requests;
  }

  /**
   * The summary that readers of a session see, if there is one.
   * @example const summary = await client.getSummary({ appName: 'shop', userId: 'ann', sessionId });
   */
  async getSummary(key: RemoteKey): Promise<RemoteSummary | undefined> {
    try {
      return (await this.#requests.json('GET', summaryOf(key), { isRepeatable: true })) as RemoteSummary;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'SUMMARY_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /**
   * Summarises a session now, if that is due or `force` says so; `undefined` where there was nothing to do.
   * @example const summary = await client.createSummary({ ...key, force: true });
   */
  async createSummary(request: SummaryRequest): Promise<RemoteSummary | undefined> {
    const { force, timeoutMs = LONGEST_WAIT_MS, ...key } = request;
    const body = await this.#requests.json('POST', summaryOf(key), { body: { force }, timeoutMs });
    return body as RemoteSummary | undefined;
  }

  /**
   * The summaries that the log keeps, oldest first; those after a full page are asked for by `afterSeq`.
   * @example const summaries = await client.listSummaries({ ...key, limit: 20 });
   */
  async listSummaries({ afterSeq, limit, ...key }: SummaryListRequest): Promise<RemoteSummary[]> {
    const options = { query: { afterSeq, limit }, isRepeatable: true };
    const page = await this.#requests.json('GET', `${sessionOf(key)}/summaries`, options);
    return (page as { summaries: RemoteSummary[] }).summaries;
  }
}

function summaryOf(key: RemoteKey): string {
  return `${sessionOf(key)}/summary`;
}
