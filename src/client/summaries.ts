import { sessionOf } from './paths.js';
import { ProblemError } from './problem-error.js';
import type { RemoteKey, RemoteSummary, SummaryListRequest, SummaryRequest } from './remote-types.js';
import type { Requests } from './requests.js';

/** As long as a server may ask a model by default, and wait for whoever asks one already. */
const LONGEST_WAIT_MS = 150_000;

/** Summaries over the routes of `SummarizerRestModule`. */
export class RemoteSummaries {
  constructor(private readonly requests: Requests) {}

  async get(key: RemoteKey): Promise<RemoteSummary | undefined> {
    try {
      return (await this.requests.json('GET', summaryOf(key), { isRepeatable: true })) as RemoteSummary;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'SUMMARY_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async create({ force, timeoutMs = LONGEST_WAIT_MS, ...key }: SummaryRequest): Promise<RemoteSummary | undefined> {
    const body = await this.requests.json('POST', summaryOf(key), { body: { force }, timeoutMs });
    return body as RemoteSummary | undefined;
  }

  async list({ afterSeq, limit, ...key }: SummaryListRequest): Promise<RemoteSummary[]> {
    const options = { query: { afterSeq, limit }, isRepeatable: true };
    const page = await this.requests.json('GET', `${sessionOf(key)}/summaries`, options);
    return (page as { summaries: RemoteSummary[] }).summaries;
  }
}

function summaryOf(key: RemoteKey): string {
  return `${sessionOf(key)}/summary`;
}
