import type { SummaryOutlook } from '../summarizer/summary-outlook.js';
import { sessionPath, summaryPath } from './paths.js';
import { ProblemError } from './problem-error.js';
import type { RemoteSummary, SummaryListRequest, SummaryOfRequest, SummaryRequest } from './remote-types.js';
import type { Requests } from './requests.js';
import { SearchClient } from './search-client.js';

/** The server's default time limit of a model call, plus time to wait for a running one. */
const SUMMARY_TIMEOUT_MS = 150_000;

/** The part of the client for the routes of `SummarizerRestModule`. */
export abstract class SummariesClient extends SearchClient {
  readonly #requests: Requests;

  protected constructor(requests: Requests) {
    super(requests);
    this.#requests = requests;
  }

  /**
   * Returns the summary in force, or `undefined` if there is none. With `branch`: the one that readers of this branch get.
   * @example const summary = await client.getSummary({ appName: 'shop', userId: 'ann', sessionId });
   */
  async getSummary({ branch, ...key }: SummaryOfRequest): Promise<RemoteSummary | undefined> {
    try {
      return await this.#requests.json<RemoteSummary>('GET', summaryPath(key), {
        query: { branch },
        isRepeatable: true,
      });
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'SUMMARY_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /**
   * Summarises the session now if a summary is due or `force` is set. Returns `undefined` if there was nothing to do.
   * @example const summary = await client.createSummary({ ...key, force: true });
   */
  async createSummary(request: SummaryRequest): Promise<RemoteSummary | undefined> {
    const { force, branch, timeoutMs = SUMMARY_TIMEOUT_MS, ...key } = request;
    return this.#requests.json('POST', summaryPath(key), { body: { force, branch }, timeoutMs });
  }

  /**
   * Says how far each threshold is, and what a summary would cover if it was made now, of the whole conversation or of a branch.
   * @example const { thresholds, wouldCover } = await client.getSummaryOutlook(key);
   */
  async getSummaryOutlook({ branch, ...key }: SummaryOfRequest): Promise<SummaryOutlook> {
    return this.#requests.json('GET', `${sessionPath(key)}/summary/outlook`, { query: { branch }, isRepeatable: true });
  }

  /**
   * Lists the summaries in the log, oldest first. Page with `afterSeq`.
   * @example const summaries = await client.listSummaries({ ...key, limit: 20 });
   */
  async listSummaries({ afterSeq, limit, branch, ...key }: SummaryListRequest): Promise<RemoteSummary[]> {
    const options = { query: { afterSeq, limit, branch }, isRepeatable: true };
    const path = `${sessionPath(key)}/summaries`;
    const { summaries } = await this.#requests.json<{ summaries: RemoteSummary[] }>('GET', path, options);
    return summaries;
  }
}
